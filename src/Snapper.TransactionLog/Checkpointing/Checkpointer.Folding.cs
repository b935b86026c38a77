using Snapper.Protocol;

namespace Snapper.TransactionLog.Checkpointing;

/// <summary>One fold: states, outcomes, trim, in this order (L8), and what follows when it fails.</summary>
public sealed partial class Checkpointer
{
    /// <summary>
    /// Folds everything heard of before the call, and trims. Never throws for a store or log that fails: see
    /// <see cref="LastError"/>; what was not folded stays pending.
    /// </summary>
    public async Task FoldNow()
    {
        // One at a time; a second call waits and then folds what has come since.
        var mine = new TaskCompletionSource();
        Task before;
        lock (_gate)
        {
            before = _running;
            _running = mine.Task;
        }

        await before;
        try
        {
            await FoldOnce();
        }
        finally
        {
            mine.SetResult();
        }
    }

    private async Task FoldOnce()
    {
        UnfoldedChanges.Snapshot taken;
        lock (_gate)
        {
            if (_disposed || Stopped is not null || _changes.LastSequence < _foldedBelow)
            {
                return;
            }

            taken = _changes.Take();
        }

        Transitions.Note(Transition.FoldStarted);
        AppendResult result;
        try
        {
            result = await FoldAndTrim(taken);
        }
        catch (Exception error)
        {
            // Kept in LastError and tried again; a checkpoint that is late costs memory and recovery time, nothing else.
            result = new AppendResult(AppendStatus.Refused, $"{error.GetType().Name}: {error.Message}");
        }

        if (result.Status == AppendStatus.Appended)
        {
            Succeeded(taken);
        }
        else
        {
            Failed(taken, result);
        }
    }

    private async Task<AppendResult> FoldAndTrim(UnfoldedChanges.Snapshot taken)
    {
        var chunk = new List<StateFold>();
        var chunkBytes = 0;
        var most = taken.Actors.Count > 1 && _options.Rare?.Happens(RarePoint.FoldedOneByOne) == true ? 0 : _options.ChunkBytes;
        foreach (var (actor, pending) in taken.Actors)
        {
            chunk.Add(pending.ToFold(actor));
            chunkBytes += pending.Bytes;
            if (chunkBytes >= most)
            {
                var folded = await _store.Fold(_epoch, chunk, _disposal.Token);
                if (folded.Status != AppendStatus.Appended)
                {
                    return folded;
                }

                Transitions.Note(Transition.FoldedInPart);
                chunk.Clear();
                chunkBytes = 0;
            }
        }

        if (chunk.Count > 0 && !Planted.Is(PlantedFault.TrimBeforeFold))
        {
            var folded = await _store.Fold(_epoch, chunk, _disposal.Token);
            if (folded.Status != AppendStatus.Appended)
            {
                return folded;
            }
        }

        if (taken.Outcomes.Count > 0 && !Planted.Is(PlantedFault.OutcomesNotCopied))
        {
            var saved = await _store.SaveOutcomes(_epoch, taken.Outcomes, _disposal.Token);
            if (saved.Status != AppendStatus.Appended)
            {
                return saved;
            }

            Transitions.Note(Transition.OutcomesCopied);
        }

        if (_options.Rare?.Happens(RarePoint.NotTrimmed) == true)
        {
            return new AppendResult(AppendStatus.Appended); // the log keeps more than it needs until the next trim
        }

        var trimmed = await _log.Trim(_epoch, taken.KeepFrom, taken.Watermarks, _disposal.Token);
        if (trimmed.Status == AppendStatus.Appended)
        {
            Transitions.Note(Transition.Trimmed);
        }

        return trimmed;
    }

    private void Succeeded(UnfoldedChanges.Snapshot taken)
    {
        bool arm;
        lock (_gate)
        {
            Checkpoints++;
            FoldedActors += taken.Actors.Count;
            SavedOutcomes += taken.Outcomes.Count;
            LastError = null;
            _changes.Forget(taken);
            _foldedBelow = taken.LastSequence + 1;
            Volatile.Write(ref _trimmedBelow, taken.KeepFrom);
            arm = _changes.LastSequence > taken.LastSequence && TakeArm();
        }

        if (arm)
        {
            Arm(_options.Interval);
        }
    }

    private void Failed(UnfoldedChanges.Snapshot taken, AppendResult result)
    {
        var stopped = result.Status is AppendStatus.Fenced or AppendStatus.Gap;
        Transitions.Note(stopped, Transition.FoldFenced, Transition.FoldFailed);
        bool arm;
        lock (_gate)
        {
            LastError = $"{result.Status}: {result.Detail}";
            _changes.PutBack(taken);
            if (stopped)
            {
                Stopped = result.Status;
            }

            arm = TakeArm();
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
