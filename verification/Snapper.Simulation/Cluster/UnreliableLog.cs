using System.Runtime.CompilerServices;
using Snapper.Protocol.Identity;
using Snapper.Simulation.Rules;
using Snapper.Storage.Log;
using Snapper.Storage.Log.Records;
using Snapper.Storage.Memory;
using Snapper.Storage.States;

namespace Snapper.Simulation.Cluster;

/// <summary>Whose log a process speaks to: each step has a name of its own there.</summary>
/// <param name="Open">...</param>
/// <param name="Append">...</param>
/// <param name="Check">...</param>
/// <param name="Read">...</param>
/// <param name="Trim">...</param>
/// <param name="Checkpoint">...</param>
/// <param name="Outcomes">...</param>
internal sealed record LogSteps(StoreStep Open, StoreStep Append, StoreStep Check, StoreStep Read, StoreStep Trim, StoreStep Checkpoint, StoreStep Outcomes)
{
    /// <summary>The process' own.</summary>
    public static LogSteps Own { get; } =
        new(StoreStep.LogOpen, StoreStep.LogAppend, StoreStep.LogCheck, StoreStep.LogRead, StoreStep.LogTrim, StoreStep.StateCheckpoint, StoreStep.OutcomesSave);

    /// <summary>That of a worker that it has fenced.</summary>
    public static LogSteps Rescued { get; } =
        new(StoreStep.Fence, StoreStep.RescueAppend, StoreStep.LogCheck, StoreStep.RescueRead, StoreStep.RescueTrim, StoreStep.RescueFold, StoreStep.RescueOutcomes);

    /// <summary>The master's.</summary>
    public static LogSteps Master { get; } =
        new(StoreStep.MasterTake, StoreStep.MasterAppend, StoreStep.LogCheck, StoreStep.MasterRead, StoreStep.MasterTrim, StoreStep.StateCheckpoint, StoreStep.OutcomesSave);
}

/// <summary>A log behind a road.</summary>
/// <param name="road">The road.</param>
/// <param name="log">The log in memory, whose calls complete at once.</param>
/// <param name="steps">What its calls are.</param>
/// <param name="worker">Whose log it is, as <see cref="ClusterLogRules"/> names it.</param>
/// <param name="isFull">It takes nothing now.</param>
internal sealed class UnreliableLog(StoreLink road, ITransactionLog log, LogSteps steps, int worker, Func<bool> isFull) : ITransactionLog
{
    public string Kind => log.Kind;

    public Task<LogOpening> Open(CancellationToken cancellation) =>
        road.Send(steps.Open, () => log.Open(CancellationToken.None).Result, cancellation);

    public Task<AppendResult> Append(long epoch, long firstSequence, int count, ReadOnlyMemory<byte> group, CancellationToken cancellation)
    {
        var bytes = group.ToArray(); // the sender may use its buffer again while a late copy of the call is under way
        return road.Send(
            steps.Append,
            () => isFull() ? new AppendResult(AppendStatus.Refused, "simulated: no room") : Append(epoch, firstSequence, count, bytes),
            cancellation);
    }

    private AppendResult Append(long epoch, long firstSequence, int count, byte[] group)
    {
        var result = log.Append(epoch, firstSequence, count, group, CancellationToken.None).Result;
        if (result.Status == AppendStatus.Appended)
        {
            road.Rules.Appended(worker, firstSequence, count, group);
        }

        return result;
    }

    public Task<AppendResult> CheckEpoch(long epoch, CancellationToken cancellation) =>
        road.Send(steps.Check, () => log.CheckEpoch(epoch, CancellationToken.None).Result, cancellation);

    public async IAsyncEnumerable<LogGroup> Read(long fromSequence, [EnumeratorCancellation] CancellationToken cancellation)
    {
        foreach (var group in await road.Send(steps.Read, () => All(Readable().Read(fromSequence, CancellationToken.None)), cancellation))
        {
            yield return group;
        }
    }

    public Task<AppendResult> Trim(long epoch, long keepFrom, LogWatermarks watermarks, CancellationToken cancellation) =>
        road.Send(steps.Trim, () => log.Trim(epoch, keepFrom, watermarks, CancellationToken.None).Result, cancellation);

    public ValueTask DisposeAsync() => ValueTask.CompletedTask;

    private ITransactionLog Readable() => road.Read(log, server => new MemoryTransactionLog(
        worker == ClusterLogRules.Master ? server.MasterLog() : server.Log(worker)));

    private static List<LogGroup> All(IAsyncEnumerable<LogGroup> groups)
    {
        var all = new List<LogGroup>();
        var reader = groups.GetAsyncEnumerator();
        while (reader.MoveNextAsync().AsTask().Result)
        {
            all.Add(reader.Current);
        }

        return all;
    }
}

/// <summary>A state store behind a road.</summary>
/// <param name="road">The road.</param>
/// <param name="store">The store in memory, whose calls complete at once.</param>
/// <param name="steps">What its calls are.</param>
/// <param name="worker">The worker whose copied outcomes are there.</param>
internal sealed class UnreliableStates(StoreLink road, IStateStore store, LogSteps steps, int worker) : IStateStore, IOutcomeArchive
{
    public Task<StoredState?> Load(ActorKey actor, CancellationToken cancellation) =>
        road.Send(
            StoreStep.StateLoad,
            () => Readable().Load(actor, CancellationToken.None).GetAwaiter().GetResult(),
            cancellation);

    public Task<AppendResult> Checkpoint(long epoch, IReadOnlyList<StateCheckpoint> checkpoints, CancellationToken cancellation)
    {
        var copy = checkpoints.ToArray();
        return road.Send(
            steps.Checkpoint,
            () => store.Checkpoint(epoch, copy, CancellationToken.None).GetAwaiter().GetResult(),
            cancellation);
    }

    public Task<AppendResult> SaveOutcomes(long epoch, IReadOnlyList<OutcomeRecord> outcomes, CancellationToken cancellation)
    {
        var copy = outcomes.ToArray();
        return road.Send(
            steps.Outcomes,
            () => store.SaveOutcomes(epoch, copy, CancellationToken.None).Result,
            cancellation);
    }

    public Task<AppendResult> DropOutcomes(long epoch, CancellationToken cancellation) =>
        road.Send(steps.Outcomes, () => store.DropOutcomes(epoch, CancellationToken.None).Result, cancellation);

    public Task<ArchiveStanding> Look(CancellationToken cancellation) =>
        road.Send(
            StoreStep.OutcomeFind,
            () => ((IOutcomeArchive)Readable()).Look(CancellationToken.None).Result,
            cancellation);

    public Task Clear(ArchiveStanding seen, CancellationToken cancellation) => road.Send(
        steps.Outcomes,
        () =>
        {
            ((IOutcomeArchive)store).Clear(seen, CancellationToken.None).GetAwaiter().GetResult();
            return true;
        },
        cancellation);

    public Task<OutcomeRecord?> FindOutcome(string requestId, CancellationToken cancellation) =>
        road.Send(
            StoreStep.OutcomeFind,
            () => Readable().FindOutcome(requestId, CancellationToken.None).Result,
            cancellation);

    public ValueTask DisposeAsync() => ValueTask.CompletedTask;

    private IStateStore Readable() =>
        road.Read(store, server => new MemoryStateStore(server.Log(worker), TimeProvider.System, new StateStoreOptions()));
}
