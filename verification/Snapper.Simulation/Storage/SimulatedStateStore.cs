using Snapper.Protocol.Identity;
using Snapper.Simulation.Core;
using Snapper.Simulation.Rules;
using Snapper.Storage.Log;
using Snapper.Storage.Log.Records;
using Snapper.Storage.Memory;
using Snapper.Storage.States;

namespace Snapper.Simulation.Storage;

/// <summary>A process' view of the stored states behind a <see cref="StorageLink"/>.</summary>
internal sealed class SimulatedStateStore(StorageLink link, SimulatedStorage storage, VirtualTime time, StorageRules rules) : IStateStore
{
    private (MemoryStorage Of, MemoryStateStore Store)? _store;

    /// <summary>Of what the server keeps now; it may have come back with something else.</summary>
    private MemoryStateStore Store => (_store is { } store && store.Of == storage.Kept ? store : _store = (storage.Kept, new(storage.Kept, time, new StateStoreOptions()))).Value.Store;

    private MemoryStateStore StoreOf(MemoryStorage server) =>
        server == storage.Kept ? Store : new MemoryStateStore(server, time, new StateStoreOptions());

    public async Task<StoredState?> Load(ActorKey actor, CancellationToken cancellation)
    {
        var load = await link.Read(
            server => StoreOf(server).Load(actor, CancellationToken.None), cancellation).ConfigureAwait(false);
        return load.GetAwaiter().GetResult(); // or throws, what the server found there
    }

    public async Task<AppendResult> Checkpoint(
        long epoch, IReadOnlyList<StateCheckpoint> checkpoints, CancellationToken cancellation)
    {
        var copy = checkpoints.ToArray();
        var changes = link.Changes;
        Exception? damage = null;
        var checkpointed = await link.Counted(
            () =>
            {
                var result = storage.Lost(epoch, 0, changes) is { } lost ? Task.FromResult(lost)
                    : Store.Checkpoint(epoch, copy, CancellationToken.None);
                if (result.Exception is { } found)
                {
                    damage = found.InnerException;
                    return new AppendResult(AppendStatus.Refused);
                }

                rules.Checkpointed(copy);
                return result.Result;
            },
            cancellation);
        return damage is null ? checkpointed : throw damage;
    }

    public Task<AppendResult> SaveOutcomes(long epoch, IReadOnlyList<OutcomeRecord> outcomes, CancellationToken cancellation)
    {
        var copy = outcomes.ToArray();
        var changes = link.Changes;
        return link.Counted(() => storage.Lost(epoch, 0, changes) ?? Store.SaveOutcomes(epoch, copy, CancellationToken.None).Result, cancellation);
    }

    public Task<AppendResult> DropOutcomes(long epoch, CancellationToken cancellation)
    {
        var changes = link.Changes;
        return link.Fenced(() => storage.Lost(epoch, 0, changes) ?? Store.DropOutcomes(epoch, CancellationToken.None).Result, cancellation);
    }

    public Task<OutcomeRecord?> FindOutcome(string requestId, CancellationToken cancellation) =>
        link.Read(server => StoreOf(server).FindOutcome(requestId, CancellationToken.None).Result, cancellation);

    public ValueTask DisposeAsync() => ValueTask.CompletedTask;
}
