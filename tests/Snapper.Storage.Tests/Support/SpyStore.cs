using Snapper.Protocol.Identity;
using Snapper.Storage.Log;
using Snapper.Storage.Log.Records;
using Snapper.Storage.States;

namespace Snapper.Storage.Tests.Support;

/// <summary>Remembers checkpoints, and fails as planned.</summary>
internal sealed class SpyStore(IStateStore inner) : IStateStore
{
    public List<StateCheckpoint> Checkpoints { get; } = [];

    /// <summary>How many actors came in each call.</summary>
    public List<int> Calls { get; } = [];

    public Queue<Exception> Failures { get; } = new();

    /// <summary>Ids of actors whose place is damaged.</summary>
    public HashSet<string> Damaged { get; } = [];

    public int Refusals { get; set; }

    public int FailingSaves { get; set; }

    public TaskCompletionSource? Hold { get; set; }

    public Task<StoredState?> Load(ActorKey actor, CancellationToken cancellation) => inner.Load(actor, cancellation);

    public async Task<AppendResult> Checkpoint(long epoch, IReadOnlyList<StateCheckpoint> checkpoints, CancellationToken cancellation)
    {
        Calls.Add(checkpoints.Count);
        if (Hold is not null)
        {
            await Hold.Task;
        }

        if (Failures.TryDequeue(out var failure))
        {
            throw failure;
        }

        if (checkpoints.Select(one => one.Actor).FirstOrDefault(actor => Damaged.Contains(actor.Id)) is { } damaged)
        {
            throw new CorruptLogException($"key {damaged} has another type");
        }

        if (Refusals > 0)
        {
            Refusals--;
            return new AppendResult(AppendStatus.Refused, "planned");
        }

        Checkpoints.AddRange(checkpoints);
        return await inner.Checkpoint(epoch, checkpoints, cancellation);
    }

    public Task<AppendResult> SaveOutcomes(long epoch, IReadOnlyList<OutcomeRecord> outcomes, CancellationToken cancellation) =>
        FailingSaves-- > 0 ? throw new IOException("planned") : inner.SaveOutcomes(epoch, outcomes, cancellation);

    public Task<AppendResult> DropOutcomes(long epoch, CancellationToken cancellation) => inner.DropOutcomes(epoch, cancellation);

    public Task<OutcomeRecord?> FindOutcome(string requestId, CancellationToken cancellation) => inner.FindOutcome(requestId, cancellation);

    public ValueTask DisposeAsync() => inner.DisposeAsync();
}
