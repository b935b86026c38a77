using System.Runtime.CompilerServices;
using Snapper.Simulation.Rules;
using Snapper.Storage.Log;
using Snapper.Storage.Memory;

namespace Snapper.Simulation.Storage;

/// <summary>A process' view of the log behind a <see cref="StorageLink"/>. The bytes are the real records of the real encoder.</summary>
internal sealed class SimulatedLog(StorageLink link, SimulatedStorage storage, LogRules rules, StorageRules onStorage) : IIdentifiedLog
{
    public string Kind => "simulated";

    public string Id { get; private set; } = "";

    public long AcknowledgedNext => link.AcknowledgedNext;

    public Task<LogStanding?> Look(CancellationToken cancellation) =>
        link.Opening(() => new MemoryTransactionLog(storage.Kept).Look(CancellationToken.None).Result, cancellation);

    public async Task<LogOpening> Open(CancellationToken cancellation)
    {
        var (id, changes, opening) = await link.Opening(
            () =>
            {
                storage.LastOpener = link.Sender;
                return (storage.Kept.Id, storage.Kept.Changes, new MemoryTransactionLog(storage.Kept).Open(CancellationToken.None).Result);
            },
            cancellation);
        Id = id;
        (link.Epoch, link.AcknowledgedNext, link.Changes) = (opening.Epoch, opening.NextSequence, changes);
        return opening;
    }

    public async Task<AppendResult> Append(long epoch, long firstSequence, int count, ReadOnlyMemory<byte> group, CancellationToken cancellation)
    {
        // The sender may reuse its buffer while a late copy of the call is still under way.
        var bytes = group.ToArray();
        var sent = onStorage.Sent();
        var result = await Fenced(
            epoch,
            log =>
            {
                var appended = log.Append(epoch, firstSequence, count, bytes, CancellationToken.None).Result;
                if (appended.Status == AppendStatus.Appended && !storage.IsLost)
                {
                    rules.Appended(epoch, firstSequence, count, bytes);
                }

                return Confirmed(appended, epoch, sent);
            },
            cancellation);
        if (result.Status is AppendStatus.Appended or AppendStatus.AlreadyThere)
        {
            link.AcknowledgedNext = Math.Max(AcknowledgedNext, firstSequence + count);
        }

        return result;
    }

    public Task<AppendResult> CheckEpoch(long epoch, CancellationToken cancellation)
    {
        var sent = onStorage.Sent();
        return Fenced(epoch, log => Confirmed(log.CheckEpoch(epoch, CancellationToken.None).Result, epoch, sent), cancellation);
    }

    public async IAsyncEnumerable<LogGroup> Read(long fromSequence, [EnumeratorCancellation] CancellationToken cancellation)
    {
        // Copied where they are kept: what is damaged there later was read whole.
        var groups = await link.Read(
            server => Array.ConvertAll(server.GroupsFrom(fromSequence), group => group with { Records = group.Records.ToArray() }), cancellation);
        foreach (var group in groups)
        {
            yield return group;
        }
    }

    public Task<AppendResult> Trim(long epoch, long keepFrom, LogWatermarks watermarks, CancellationToken cancellation) =>
        link.Counted(
            Checked(
                epoch,
                log =>
                {
                    var result = log.Trim(epoch, keepFrom, watermarks, CancellationToken.None).Result;
                    onStorage.Trimmed();
                    return result;
                }),
            cancellation);

    public ValueTask DisposeAsync() => ValueTask.CompletedTask;

    private AppendResult Confirmed(AppendResult result, long epoch, long sent)
    {
        if (result.Status is AppendStatus.Appended or AppendStatus.AlreadyThere && !storage.IsLost)
        {
            onStorage.Confirmed(epoch, sent);
        }

        return result;
    }

    private Task<AppendResult> Fenced(long epoch, Func<MemoryTransactionLog, AppendResult> work, CancellationToken cancellation) => link.Fenced(Checked(epoch, work), cancellation);

    private Func<AppendResult> Checked(long epoch, Func<MemoryTransactionLog, AppendResult> work)
    {
        var (acknowledged, changes) = (AcknowledgedNext, link.Changes);
        return () => storage.Lost(epoch, acknowledged, changes) ?? work(new MemoryTransactionLog(storage.Kept));
    }
}
