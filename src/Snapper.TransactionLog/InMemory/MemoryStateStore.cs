using Snapper.Protocol;
using Snapper.Protocol.Identity;
using Snapper.TransactionLog.Records;

namespace Snapper.TransactionLog.InMemory;

/// <summary>States and outcomes in memory, <b>not durable</b>. Every call completes before it returns.</summary>
/// <param name="storage">The storage of the log.</param>
/// <param name="time">Clock of the outcome window.</param>
/// <param name="options">The outcome window.</param>
public sealed class MemoryStateStore(MemoryStorage storage, TimeProvider time, StateStoreOptions options) : IStateStore, IActorListing
{
    private readonly MemoryGuard? _guard;

    /// <summary>A worker's states for a rescuer, for which its log was fenced.</summary>
    internal MemoryStateStore(MemoryStorage storage, TimeProvider time, StateStoreOptions options, MemoryGuard guard)
        : this(storage, time, options) => _guard = guard;

    /// <inheritdoc/>
    public Task<StoredState?> Load(ActorKey actor, CancellationToken cancellation)
    {
        lock (storage.Gate)
        {
            return Task.FromResult(storage.States.GetValueOrDefault(actor));
        }
    }

    /// <inheritdoc/>
    public Task<IReadOnlyList<StoredActor>> List(ActorListQuery query, CancellationToken cancellation)
    {
        lock (storage.Gate)
        {
            var found = new FirstIds(query);
            foreach (var actor in storage.States.Keys)
            {
                found.Offer(actor);
            }

            return Task.FromResult<IReadOnlyList<StoredActor>>(
                [.. found.Ids.Select(id => (Id: id, Stored: storage.States[new ActorKey(query.Type, id)])).Select(one => new StoredActor(one.Id, one.Stored.Version, one.Stored.Fields.Count > 0))]);
        }
    }

    /// <inheritdoc/>
    public Task<AppendResult> Fold(long epoch, IReadOnlyList<StateFold> folds, CancellationToken cancellation)
    {
        lock (storage.Gate)
        {
            if (storage.Fence(epoch, _guard) is { } fenced)
            {
                return Task.FromResult(fenced);
            }

            // First all checks, then all effects: a fold that shows a loss stops the worker, it should not go half way.
            StateFolding.Validate(folds);
            foreach (var fold in folds)
            {
                if (StateFolding.Missing(fold, storage.States.GetValueOrDefault(fold.Actor)?.Version ?? 0) is { } missing)
                {
                    return Task.FromResult(new AppendResult(AppendStatus.Gap, missing));
                }
            }

            foreach (var fold in folds)
            {
                var stored = storage.States.GetValueOrDefault(fold.Actor);
                if ((stored?.Version ?? 0) < fold.To || Planted.Is(PlantedFault.FoldWithoutVersions))
                {
                    storage.States[fold.Actor] = StateFolding.Apply(stored, fold);
                }
                else
                {
                    Transitions.Note(Transition.FoldRepeated);
                }
            }

            return Task.FromResult(new AppendResult(AppendStatus.Appended));
        }
    }

    /// <inheritdoc/>
    public Task<AppendResult> SaveOutcomes(long epoch, IReadOnlyList<OutcomeRecord> outcomes, CancellationToken cancellation)
    {
        lock (storage.Gate)
        {
            if (storage.Fence(epoch, _guard) is { } fenced)
            {
                return Task.FromResult(fenced);
            }

            var now = time.GetUtcNow().ToUnixTimeMilliseconds();
            foreach (var (id, outcome) in storage.Outcomes)
            {
                if (!options.IsInWindow(outcome, now))
                {
                    storage.Outcomes.Remove(id);
                }
            }

            foreach (var outcome in outcomes)
            {
                storage.Outcomes[outcome.RequestId] = outcome;
            }

            return Task.FromResult(new AppendResult(AppendStatus.Appended));
        }
    }

    /// <inheritdoc/>
    public Task<OutcomeRecord?> FindOutcome(string requestId, CancellationToken cancellation)
    {
        var now = time.GetUtcNow().ToUnixTimeMilliseconds();
        lock (storage.Gate)
        {
            var found = storage.Outcomes.GetValueOrDefault(requestId);
            return Task.FromResult(found is not null && options.IsInWindow(found, now) ? found : null);
        }
    }

    /// <inheritdoc/>
    public ValueTask DisposeAsync() => ValueTask.CompletedTask;
}
