using Snapper.Protocol.Identity;
using Snapper.Storage.Checkpoints;
using Snapper.Storage.Log;
using Snapper.Storage.Log.Records;
using Snapper.Storage.States;

namespace Snapper.Storage.Memory;

/// <summary>States and outcomes in memory, <b>not durable</b>. Every call completes before it returns.</summary>
/// <param name="storage">The storage of the log.</param>
/// <param name="time">Clock of the outcome window.</param>
/// <param name="options">The outcome window.</param>
public sealed class MemoryStateStore(MemoryStorage storage, TimeProvider time, StateStoreOptions options) : IStateStore, IActorListing, IOutcomeArchive
{
    private readonly MemoryGuard? _guard;
    private readonly OutcomeClock _clock = new(time, options);

    /// <summary>A worker's states for a rescuer, for which its log was fenced.</summary>
    internal MemoryStateStore(MemoryStorage storage, TimeProvider time, StateStoreOptions options, MemoryGuard guard)
        : this(storage, time, options) => _guard = guard;

    /// <inheritdoc/>
    public Task<StoredState?> Load(ActorKey actor, CancellationToken cancellation)
    {
        lock (storage.Gate)
        {
            return storage.DamagedPlaces.Contains(actor)
                ? Task.FromException<StoredState?>(DamageAt(actor))
                : Task.FromResult(storage.States.GetValueOrDefault(actor));
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
    public Task<AppendResult> Checkpoint(long epoch, IReadOnlyList<StateCheckpoint> checkpoints, CancellationToken cancellation)
    {
        lock (storage.Gate)
        {
            if (storage.Fence(epoch, _guard) is { } fenced)
            {
                return Task.FromResult(fenced);
            }

            // First all checks, then all effects: a checkpoint that shows a loss stops the worker, it should not go half way.
            CheckpointRule.Validate(checkpoints);
            foreach (var checkpoint in checkpoints)
            {
                if (storage.DamagedPlaces.Contains(checkpoint.Actor))
                {
                    return Task.FromException<AppendResult>(DamageAt(checkpoint.Actor));
                }

                if (CheckpointRule.Missing(checkpoint, storage.States.GetValueOrDefault(checkpoint.Actor)?.Version ?? 0) is { } missing)
                {
                    return Task.FromResult(new AppendResult(AppendStatus.Behind, missing));
                }
            }

            foreach (var checkpoint in checkpoints)
            {
                var stored = storage.States.GetValueOrDefault(checkpoint.Actor);
                if ((stored?.Version ?? 0) < checkpoint.To)
                {
                    storage.States[checkpoint.Actor] = CheckpointRule.Apply(stored, checkpoint);
                }
            }

            storage.Changes++;
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

            var (minute, passed) = Clock(epoch).Now;
            storage.CopiedPassedMs = passed;
            foreach (var outcome in outcomes)
            {
                storage.Outcomes[outcome.RequestId] = (outcome, minute);
            }

            storage.Copied++;
            storage.Changes++;
            return Task.FromResult(new AppendResult(AppendStatus.Appended));
        }
    }

    /// <inheritdoc/>
    public Task<AppendResult> DropOutcomes(long epoch, CancellationToken cancellation)
    {
        lock (storage.Gate)
        {
            if (storage.Fence(epoch, _guard) is { } fenced)
            {
                return Task.FromResult(fenced);
            }

            Drop(Clock(epoch));
            return Task.FromResult(new AppendResult(AppendStatus.Appended));
        }
    }

    /// <inheritdoc/>
    public Task<OutcomeRecord?> FindOutcome(string requestId, CancellationToken cancellation)
    {
        lock (storage.Gate)
        {
            return Task.FromResult<OutcomeRecord?>(storage.Outcomes.GetValueOrDefault(requestId).Outcome);
        }
    }

    /// <inheritdoc/>
    public Task<ArchiveStanding> Look(CancellationToken cancellation)
    {
        lock (storage.Gate)
        {
            return Task.FromResult(new ArchiveStanding(storage.Outcomes.Count > 0, storage.Copied));
        }
    }

    /// <inheritdoc/>
    public Task Clear(ArchiveStanding seen, CancellationToken cancellation)
    {
        lock (storage.Gate)
        {
            if (storage.Copied == seen.Copied)
            {
                storage.Outcomes.Clear();
            }

            return Task.CompletedTask;
        }
    }

    /// <inheritdoc/>
    public ValueTask DisposeAsync() => ValueTask.CompletedTask;

    private static CorruptLogException DamageAt(ActorKey actor) =>
        new($"The place of actor {actor} is not that of a state.");

    private OutcomeClock Clock(long epoch)
    {
        if (!_clock.HasBegun(epoch))
        {
            _clock.Begin(epoch, storage.Outcomes.Count == 0 ? 0 : storage.Outcomes.Values.Max(static copy => copy.Minute), storage.CopiedPassedMs);
            Drop(_clock);
        }

        return _clock;
    }

    private void Drop(OutcomeClock clock)
    {
        var oldest = clock.Oldest;
        foreach (var (id, copy) in storage.Outcomes)
        {
            if (copy.Minute < oldest)
            {
                storage.Outcomes.Remove(id);
            }
        }
    }
}
