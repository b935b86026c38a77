using Snapper.Protocol.Batches;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;

namespace Snapper.Protocol.Scheduling;

/// <summary>The actor's part of an undo (A5, A7, A8).</summary>
public sealed partial class ActorMachine
{
    private void OnUndo(UndoOrder order, OutputBuffer outputs)
    {
        _frozen = true;
        List<Victim>? victims = null;
        foreach (var tid in order.Tids)
        {
            if (tid.IsAct)
            {
                var act = FindAct(tid);
                if (act is not null)
                {
                    UndoAct(act, outputs);
                }
            }
        }

        // The earliest removed writer decides what is put back; those after it that touched the actor are victims.
        var restoreAt = -1;
        foreach (var removed in order.Removed)
        {
            if (removed.Tid.IsAct)
            {
                continue;
            }

            var at = IndexOf(removed.Tid);
            if (at < 0)
            {
                NoteRemovedEarly(removed);
                continue;
            }

            if (_visits[at].Removed)
            {
                continue; // by an earlier round
            }

            var visit = _visits[at];
            if (visit.Wrote && (restoreAt < 0 || at < restoreAt))
            {
                restoreAt = at;
            }

            Remove(at, outputs);
        }

        if (restoreAt >= 0)
        {
            Restore(restoreAt, ref victims);
        }

        _locks?.GrantNext(outputs);
        RecountVersions();
        ref var message = ref outputs.ToCommit(MessageKind.UndoAcknowledged, TransactionId.None, BatchId.None);
        message.Actor = Key;
        message.Body = victims;
    }

    private void OnUndoDone(long number, OutputBuffer outputs)
    {
        if (!_frozen)
        {
            throw new ProtocolViolationException($"{Key}: undo {number} ended that never began.");
        }

        _frozen = false;
        _undoNumber = number;

        // A5: touched actors send their completions again, numbered higher, with their changes anew.
        foreach (var batch in _batches)
        {
            if (batch.Executed)
            {
                SendCompletion(batch, outputs);
            }
        }

        Advance(outputs);
    }

    private void UndoAct(ActScheduleEntry act, OutputBuffer outputs)
    {
        // What a restore dropped is not put back again: the drop cleared the before-image.
        RemoveAct(act, committed: false, AbortReason.Undone, outputs);
    }

    private void Remove(int at, OutputBuffer outputs)
    {
        var visit = _visits[at];
        visit.Removed = true;
        visit.IsOver = true;
        RefuseAll(visit, AbortReason.Undone, outputs);
    }

    /// <summary>
    /// An undo can overtake the sub-batch it is about, when two coordinators form batches (A2). It names this actor's
    /// transactions alone.
    /// </summary>
    private void NoteRemovedEarly(Victim removed)
    {
        if (removed.Bid > _lastPlaced)
        {
            (_removedEarly ??= []).Add(removed);
        }
    }

    private void Restore(int at, ref List<Victim>? victims)
    {
        _state = _visits[at].BeforeImage;
        _visits[at].DropWrites();
        for (var i = at + 1; i < _visits.Count; i++)
        {
            var later = _visits[i];
            if (later.Touched)
            {
                if (!later.Removed)
                {
                    (victims ??= []).Add(new Victim(later.Tid, later.Batch.Bid));
                }

                // A5: a restore drops the touches of that tid and everything after it.
                later.DropWrites();
            }
        }

        if (_acts is not null)
        {
            foreach (var act in _acts)
            {
                // Whoever was let in may have read; a live ACT stands behind everything that has executed.
                if (act.Touched)
                {
                    (victims ??= []).Add(new Victim(act.Tid, BatchId.None));
                    act.DropWrites();
                }
            }
        }
    }

    /// <summary>Gives versions and end states anew to the batches that are not final, in order (L7).</summary>
    private void RecountVersions()
    {
        var at = 0;
        PlacedBatch? lastChanged = null;
        var recount = false;
        foreach (var batch in _batches)
        {
            if (!batch.Executed)
            {
                break;
            }

            if (!recount)
            {
                _version = batch.VersionBefore;
                recount = true;
            }

            // The end state of an earlier batch is the before-image of the next write that still counts.
            var changed = false;
            for (; at < _cursor && ReferenceEquals(_visits[at].Batch, batch); at++)
            {
                var visit = _visits[at];
                if (visit.Wrote && !visit.Removed)
                {
                    if (lastChanged is not null)
                    {
                        lastChanged.EndState = visit.BeforeImage;
                        lastChanged = null;
                    }

                    changed = true;
                }
            }

            batch.VersionBefore = _version;
            batch.Version = changed ? ++_version : 0;
            batch.EndState = null;
            if (changed)
            {
                lastChanged = batch;
            }
        }

        if (lastChanged is not null)
        {
            lastChanged.EndState = EndStateOf(at);
        }

        if (recount)
        {
            RecountActs();
        }
    }

    private object EndStateOf(int next)
    {
        // Entries behind the last executed batch may have written already: their before-image is that batch's end.
        for (var i = next; i < _visits.Count; i++)
        {
            if (_visits[i].Wrote && !_visits[i].Removed)
            {
                return _visits[i].BeforeImage!;
            }
        }

        if (_acts is not null)
        {
            foreach (var act in _acts)
            {
                if (act.Wrote)
                {
                    return act.BeforeImage!;
                }
            }
        }

        return _state!;
    }

    private void RecountActs()
    {
        if (_acts is null)
        {
            return;
        }

        foreach (var act in _acts)
        {
            if (act.Version != 0)
            {
                // An ACT that has sent its change and is no victim stands behind batches that nothing was taken from.
                act.Version = act.Wrote ? ++_version : 0;
            }
        }
    }
}
