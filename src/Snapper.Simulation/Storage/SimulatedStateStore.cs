using Snapper.Protocol.Identity;
using Snapper.Simulation.Core;
using Snapper.Simulation.Rules;
using Snapper.TransactionLog;
using Snapper.TransactionLog.InMemory;
using Snapper.TransactionLog.Records;

namespace Snapper.Simulation.Storage;

/// <summary>A process' view of the stored states behind a <see cref="StorageLink"/>.</summary>
internal sealed class SimulatedStateStore(StorageLink link, SimulatedStorage storage, VirtualTime time, StorageRules rules) : IStateStore
{
    private MemoryStateStore Store => new(storage.Kept, time, new StateStoreOptions());

    public Task<StoredState?> Load(ActorKey actor, CancellationToken cancellation) =>
        link.Read(() => Store.Load(actor, CancellationToken.None).Result, cancellation);

    public Task<AppendResult> Fold(long epoch, IReadOnlyList<StateFold> folds, CancellationToken cancellation)
    {
        var copy = folds.ToArray();
        return link.Fenced(
            () =>
            {
                var result = storage.Lost(epoch, 0) ?? Store.Fold(epoch, copy, CancellationToken.None).Result;
                rules.Folded(copy);
                return result;
            },
            cancellation);
    }

    public Task<AppendResult> SaveOutcomes(long epoch, IReadOnlyList<OutcomeRecord> outcomes, CancellationToken cancellation)
    {
        var copy = outcomes.ToArray();
        return link.Fenced(() => storage.Lost(epoch, 0) ?? Store.SaveOutcomes(epoch, copy, CancellationToken.None).Result, cancellation);
    }

    public Task<OutcomeRecord?> FindOutcome(string requestId, CancellationToken cancellation) =>
        link.Read(() => Store.FindOutcome(requestId, CancellationToken.None).Result, cancellation);

    public ValueTask DisposeAsync() => ValueTask.CompletedTask;
}
