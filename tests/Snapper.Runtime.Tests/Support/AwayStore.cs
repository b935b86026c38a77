using Snapper.Protocol.Identity;
using Snapper.Storage.Log;
using Snapper.Storage.Log.Records;
using Snapper.Storage.States;

namespace Snapper.Runtime.Tests.Support;

/// <summary>A store in which no outcome can be looked for, or no state either.</summary>
internal sealed class AwayStore(IStateStore inner) : IStateStore
{
    public volatile bool IsAway = true;
    private volatile bool _hasNoStates;
    private int _failedLoads;

    public bool HasNoStates { set => _hasNoStates = value; }

    public int FailedLoads => _failedLoads;

    public Task<StoredState?> Load(ActorKey actor, CancellationToken cancellation)
    {
        if (!_hasNoStates)
        {
            return inner.Load(actor, cancellation);
        }

        Interlocked.Increment(ref _failedLoads);
        return Task.FromException<StoredState?>(new IOException("planned"));
    }

    public Task<AppendResult> Checkpoint(long epoch, IReadOnlyList<StateCheckpoint> checkpoints, CancellationToken cancellation) => inner.Checkpoint(epoch, checkpoints, cancellation);

    public Task<AppendResult> SaveOutcomes(long epoch, IReadOnlyList<OutcomeRecord> outcomes, CancellationToken cancellation) => inner.SaveOutcomes(epoch, outcomes, cancellation);

    public Task<AppendResult> DropOutcomes(long epoch, CancellationToken cancellation) => inner.DropOutcomes(epoch, cancellation);

    public Task<OutcomeRecord?> FindOutcome(string requestId, CancellationToken cancellation) =>
        IsAway ? throw new IOException("planned") : inner.FindOutcome(requestId, cancellation);

    public ValueTask DisposeAsync() => inner.DisposeAsync();
}
