using Snapper.Protocol.Identity;
using Snapper.Simulation.Rules;
using Snapper.Storage.Log;
using Snapper.Storage.Log.Records;
using Snapper.Storage.States;

namespace Snapper.Simulation.Storage;

/// <summary>The real states and outcomes beside a file log, with the rules looked at in what is answered.</summary>
internal sealed class WatchedStateStore(IStateStore store, FilesView view, StorageRules rules) : IStateStore
{
    public Task<StoredState?> Load(ActorKey actor, CancellationToken cancellation) => store.Load(actor, cancellation);

    public async Task<AppendResult> Checkpoint(long epoch, IReadOnlyList<StateCheckpoint> checkpoints, CancellationToken cancellation)
    {
        var copy = checkpoints.ToArray();
        var result = await store.Checkpoint(epoch, checkpoints, cancellation);
        if (result.Status == AppendStatus.Appended && !view.IsLost)
        {
            view.Checkpointed(copy);
            rules.Checkpointed(copy);
        }

        return result;
    }

    public async Task<AppendResult> SaveOutcomes(long epoch, IReadOnlyList<OutcomeRecord> outcomes, CancellationToken cancellation)
    {
        var copy = outcomes.ToArray();
        var result = await store.SaveOutcomes(epoch, outcomes, cancellation);
        if (result.Status == AppendStatus.Appended && !view.IsLost)
        {
            view.Copied(copy);
        }

        return result;
    }

    public Task<AppendResult> DropOutcomes(long epoch, CancellationToken cancellation) => store.DropOutcomes(epoch, cancellation);

    public Task<OutcomeRecord?> FindOutcome(string requestId, CancellationToken cancellation) => store.FindOutcome(requestId, cancellation);

    public ValueTask DisposeAsync() => store.DisposeAsync();
}
