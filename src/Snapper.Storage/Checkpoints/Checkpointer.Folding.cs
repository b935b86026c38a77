using Snapper.Protocol.Identity;
using Snapper.Storage.Log;
using Snapper.Storage.Log.Records;
using Snapper.Storage.States;

namespace Snapper.Storage.Checkpoints;

/// <summary>One checkpoint: states, outcomes, trim, in this order (L8), and what follows when it fails.</summary>
public sealed partial class Checkpointer
{
    /// <summary>
    /// Checkpoints everything heard of before the call, and trims, without rests. Never throws for a store or log that fails: see
    /// <see cref="LastError"/>; what was not checkpointed stays pending.
    /// </summary>
    public Task CheckpointNow() => OneAtATime(() => CheckpointOnce(null), isUrgent: true);

    /// <summary>
    /// Checkpoints what was heard of some actors before the call, and copies out all outcomes; the log is not trimmed for it. What a hand-over needs (M5).
    /// </summary>
    /// <param name="which">The actors. Called under this checkpointer's lock: it must be quick and ask nothing of it.</param>
    /// <param name="isUrgent">Callers wait for it: no rests, in this checkpoint nor in one before it.</param>
    /// <returns>False: it failed, see <see cref="LastError"/>, or no checkpoint happens any more; what was not checkpointed stays pending.</returns>
    public Task<bool> CheckpointOf(Func<ActorKey, bool> which, bool isUrgent) => OneAtATime(() => CheckpointOnce(which), isUrgent);

    /// <summary>Drops copied outcomes whose window has ended. Never throws for a store that fails: the next call drops them.</summary>
    public Task DropOutcomes() => OneAtATime(Drop, isUrgent: false);

    /// <summary>A second call waits and then checkpoints what has come since.</summary>
    private async Task<bool> OneAtATime(Func<Task<bool>> step, bool isUrgent)
    {
        var mine = new TaskCompletionSource();
        Task before;
        lock (_gate)
        {
            before = _running;
            _running = mine.Task;
        }

        if (isUrgent)
        {
            _pace.BeginWait();
        }

        await before;
        try
        {
            return await step();
        }
        finally
        {
            if (isUrgent)
            {
                _pace.EndWait();
            }

            mine.SetResult();
        }
    }

    private async Task<bool> CheckpointOnce(Func<ActorKey, bool>? which)
    {
        DirtyActors.Snapshot taken;
        bool isLarge;
        lock (_gate)
        {
            if (_disposed || Stopped is not null)
            {
                return false;
            }

            if (_changes.LastSequence < _foldedBelow && !_changes.HasUnversioned)
            {
                return true;
            }

            isLarge = _changes.Bytes >= _options.UnfoldedBytesMax;
            taken = which is null ? _changes.Take() : _changes.Take(which);
        }

        AppendResult result;
        string? damage = null;
        try
        {
            result = await Checkpoint(taken, which, isLarge);
            if (result.Status == AppendStatus.Appended && which is null)
            {
                result = await Trim(taken);
            }
        }
        catch (Exception error)
        {
            // Kept in LastError and tried again; a checkpoint that is late costs memory and recovery time, nothing else.
            result = new AppendResult(AppendStatus.Refused, $"{error.GetType().Name}: {error.Message}");
            damage = (error as CorruptLogException)?.Message;
        }

        if (damage is not null && damage != _damage)
        {
            OnDamaged?.Invoke(damage);
        }

        _damage = damage ?? _damage;
        if (result.Status == AppendStatus.Appended)
        {
            Succeeded(taken, isAll: which is null);
            return true;
        }

        Failed(taken, result);
        return false;
    }

    private async Task<AppendResult> Checkpoint(DirtyActors.Snapshot taken, Func<ActorKey, bool>? which, bool isLarge)
    {
        Dictionary<ActorKey, CorruptLogException> damaged = [];
        var chunk = new List<StateCheckpoint>();
        var chunkBytes = 0;
        var isOneByOne = taken.Actors.Count > 1 && _options.SchedulingPolicy.FoldedOneByOne();
        var (most, mostPaced) = isOneByOne ? (0, 1) : (_options.ChunkBytes, _options.PacedActors);
        foreach (var (actor, pending) in taken.Actors)
        {
            chunk.Add(pending.ToCheckpoint(actor));
            chunkBytes += pending.Bytes;
            var isPaced = chunk.Count >= mostPaced && !isLarge && !_pace.IsUrgent;
            if (chunkBytes >= most || isPaced)
            {
                var began = _time.GetTimestamp();
                var checkpointed = await DamagedPlaces.Checkpoint(_store, _epoch, chunk, damaged, _disposal.Token);
                if (checkpointed.Status != AppendStatus.Appended)
                {
                    return checkpointed;
                }

                chunk.Clear();
                chunkBytes = 0;
                if (isPaced)
                {
                    await _pace.Rest(began, _disposal.Token);
                    isLarge = UnfoldedBytes >= _options.UnfoldedBytesMax; // more has gathered than memory and recovery should have to hold
                }
            }
        }

        if (chunk.Count > 0)
        {
            var checkpointed = await DamagedPlaces.Checkpoint(_store, _epoch, chunk, damaged, _disposal.Token);
            if (checkpointed.Status != AppendStatus.Appended)
            {
                return checkpointed;
            }
        }

        if (taken.Outcomes.Count > 0)
        {
            var saved = await _store.SaveOutcomes(_epoch, taken.Outcomes, _disposal.Token);
            if (saved.Status != AppendStatus.Appended)
            {
                return saved;
            }
        }

        var given = await GiveVersions(taken, which, damaged);
        if (given.Status == AppendStatus.Behind)
        {
            return given;
        }

        if (damaged.Count > 0)
        {
            ForgetAllBut(damaged, taken);
            throw damaged.Values.First();
        }

        return given;
    }

    /// <summary>
    /// Where the place of an actor is good again, and what was before is checkpointed, its committed changes that have
    /// no version get theirs. They are checkpointed when the markers are durable: a repetition would count once more.
    /// </summary>
    /// <returns>
    /// <see cref="AppendStatus.Behind"/>: less is stored of one than the log has, and what the log has is stored again
    /// by a recovery only; <see cref="AppendStatus.Refused"/>: of some actors alone, one still waits for its marker.
    /// </returns>
    private async Task<AppendResult> GiveVersions(
        DirtyActors.Snapshot taken, Func<ActorKey, bool>? which, Dictionary<ActorKey, CorruptLogException> damaged)
    {
        List<ActorKey> unversioned;
        lock (_gate)
        {
            unversioned = _changes.HasUnversioned ? _changes.Unversioned(which) : [];
        }

        Dictionary<ActorKey, long> stored = [];
        foreach (var actor in unversioned)
        {
            if (damaged.ContainsKey(actor))
            {
                continue;
            }

            try
            {
                var version = (await _store.Load(actor, _disposal.Token))?.Version ?? 0;
                if (CheckpointRule.Lost(actor, version, _lastVersions) is { } lost)
                {
                    return new AppendResult(AppendStatus.Behind, lost);
                }

                stored.Add(actor, version);
            }
            catch (CorruptLogException damage)
            {
                damaged.Add(actor, damage);
            }
        }

        if (stored.Count == 0)
        {
            return new AppendResult(AppendStatus.Appended);
        }

        var waits = stored.Keys.First();
        List<LogRecord> markers;
        lock (_gate)
        {
            foreach (var actor in stored.Keys)
            {
                CheckpointedActors += taken.Actors.Remove(actor) ? 1 : 0; // what comes now does not follow it (M5)
            }

            markers = _changes.Give(stored);
        }

        foreach (var marker in markers)
        {
            OnVersionsGiven?.Invoke(marker);
        }

        return which is null
            ? new AppendResult(AppendStatus.Appended)
            : new AppendResult(AppendStatus.Refused, $"A committed change of {waits} is about to get its version.");
    }

    /// <summary>The checkpoint has failed, and only for these; the rest of it is stored, its outcomes too.</summary>
    private void ForgetAllBut(Dictionary<ActorKey, CorruptLogException> damaged, DirtyActors.Snapshot taken)
    {
        lock (_gate)
        {
            foreach (var actor in taken.Actors.Keys)
            {
                if (!damaged.ContainsKey(actor))
                {
                    taken.Actors.Remove(actor);
                    CheckpointedActors++;
                }
            }

            SavedOutcomes += taken.Outcomes.Count;
            taken.Outcomes.Clear();
        }
    }

    private async Task<AppendResult> Trim(DirtyActors.Snapshot taken)
    {
        if (_options.SchedulingPolicy.NotTrimmed())
        {
            return new AppendResult(AppendStatus.Appended); // the log keeps more than it needs until the next trim
        }

        return await _log.Trim(_epoch, taken.KeepFrom, taken.Watermarks, _disposal.Token);
    }

    private async Task<bool> Drop()
    {
        lock (_gate)
        {
            if (_disposed || Stopped is not null)
            {
                return false;
            }
        }

        try
        {
            return (await _store.DropOutcomes(_epoch, _disposal.Token)).Status == AppendStatus.Appended; // a fence is the writer's, and the next checkpoint's, to find
        }
        catch (Exception error)
        {
            lock (_gate)
            {
                LastError = $"{error.GetType().Name}: {error.Message}";
            }

            return false;
        }
    }

    private void Succeeded(DirtyActors.Snapshot taken, bool isAll)
    {
        bool arm;
        lock (_gate)
        {
            Checkpoints++;
            CheckpointedActors += taken.Actors.Count;
            SavedOutcomes += taken.Outcomes.Count;
            _changes.Forget(taken);
            if (!isAll)
            {
                return; // the timer stands as it was, and so does what keeps the others from being checkpointed
            }

            LastError = null;
            _failingSince = null;
            _foldedBelow = taken.LastSequence + 1;
            Volatile.Write(ref _trimmedBelow, taken.KeepFrom);
            arm = _changes.LastSequence > taken.LastSequence && TakeArm();
        }

        if (arm)
        {
            Arm(_options.Interval);
        }
    }

    private void Failed(DirtyActors.Snapshot taken, AppendResult result)
    {
        var stopped = result.Status is AppendStatus.Fenced or AppendStatus.Gap or AppendStatus.Behind;
        bool arm;
        TimeSpan? failing = null;
        lock (_gate)
        {
            var now = _time.GetTimestamp();
            if (_failingSince is null || _time.GetElapsedTime(_failingSaid, now) >= CheckpointerOptions.FailingMax)
            {
                _failingSaid = now;
                failing = _time.GetElapsedTime(_failingSince ?? now, now);
            }

            _failingSince ??= now;
            Failures++;
            LastError = $"{result.Status}: {result.Detail}";
            _changes.PutBack(taken);
            if (stopped)
            {
                Stopped = result.Status;
            }

            arm = TakeArm();
        }

        if (failing is { } since && !stopped)
        {
            OnFailing?.Invoke(since, result.Detail);
        }

        if (stopped)
        {
            OnStopped?.Invoke(result.Status, result.Detail);
        }
        else if (arm)
        {
            Arm(_options.Interval);
        }
    }
}
