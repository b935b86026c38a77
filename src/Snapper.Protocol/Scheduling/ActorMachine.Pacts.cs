using Snapper.Protocol.Batches;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;

namespace Snapper.Protocol.Scheduling;

/// <summary>Batches and the turns of PACTs.</summary>
public sealed partial class ActorMachine
{
    // Entries of batches that are not final, in (bid, tid) order; those before the cursor have had their turn.
    private readonly List<PactScheduleEntry> _visits = [];
    private readonly List<PlacedBatch> _batches = [];
    private int _cursor;
    private BatchId _lastPlaced;

    private void OnSubBatch(SubBatch subBatch, OutputBuffer outputs)
    {
        // A sub-batch can overtake its predecessor when two coordinators form them: arrival order is not the order.
        // What is final has executed here, even if this actor has left memory since.
        if (subBatch.Previous > _lastPlaced && !subBatch.FollowsFinal)
        {
            (_parked ??= []).Add(subBatch);
            NoteBehind(subBatch.Bid, outputs);
            return;
        }

        Place(subBatch, outputs);
        while (_parked is not null && TakeParked() is { } next)
        {
            Place(next, outputs);
        }

        Advance(outputs);
    }

    private void Place(SubBatch subBatch, OutputBuffer outputs)
    {
        if (subBatch.Bid <= _lastPlaced)
        {
            throw new ProtocolViolationException($"{Key}: batch {subBatch.Bid} arrives behind batch {_lastPlaced}.");
        }

        var batch = new PlacedBatch(subBatch);
        _batches.Add(batch);
        _lastPlaced = subBatch.Bid;
        for (var i = 0; i < subBatch.Count; i++)
        {
            var visit = new PactScheduleEntry(subBatch[i], batch);
            if (_removedEarly is not null && _removedEarly.Remove(new Victim(visit.Tid, subBatch.Bid)))
            {
                visit.Removed = true;
                visit.IsOver = true;
            }

            _visits.Add(visit);
        }

        if (_removedEarly is { Count: 0 })
        {
            _removedEarly = null;
        }

        NoteBehind(subBatch.Bid, outputs);
        if (_early is not null)
        {
            DeliverEarly(outputs);
        }
    }

    private bool EnterPact(IActorCall call, OutputBuffer outputs)
    {
        var at = IndexOf(call.Tid);
        if (at < 0)
        {
            if (IsAhead(call.Bid) && call.IsAlive)
            {
                (_early ??= []).Add(new EarlyMessage(call.Tid, call.Bid, false, 0, call));
                return false;
            }

            Refuse(call, AbortReason.Undone, outputs);
            return false;
        }

        var visit = _visits[at];
        if (visit.IsOver || visit.Removed || !call.IsAlive)
        {
            Refuse(call, AbortReason.Undone, outputs);
            return false;
        }

        if (visit.Calls >= visit.DeclaredCalls)
        {
            Refuse(call, AbortReason.Undeclared, outputs);
            return false;
        }

        visit.Calls++;
        if (visit.Started)
        {
            return Admit(visit, call);
        }

        visit.Keep(call);
        return false;
    }

    private void OnEnded(TransactionId tid, BatchId bid, bool committed, int finalCalls, OutputBuffer outputs)
    {
        var at = IndexOf(tid);
        if (at < 0)
        {
            if (IsAhead(bid))
            {
                (_early ??= []).Add(new EarlyMessage(tid, bid, committed, finalCalls, null));
            }

            return; // else removed by an undo: its end counts for nothing
        }

        var visit = _visits[at];
        if (visit.Removed)
        {
            return;
        }

        if (committed)
        {
            visit.End(finalCalls);
        }
        else
        {
            // A3: each actor puts back the before-image and passes the turn. The touch stays: if what it read is undone,
            // its abort was decided on undone state (A5).
            if (visit.Wrote)
            {
                _state = visit.BeforeImage;
                visit.DropWrites();
            }

            RefuseAll(visit, AbortReason.Application, outputs);
            visit.IsOver = true;
            visit.End(0);
        }

        Advance(outputs);
    }

    /// <summary>Ends turns that are over and starts those whose time has come.</summary>
    private void Advance(OutputBuffer outputs)
    {
        if (_frozen)
        {
            return; // A5: starts nothing until UndoDone
        }

        while (_cursor < _visits.Count)
        {
            var visit = _visits[_cursor];
            if (!visit.Started)
            {
                // H1: a batch starts when every ACT placed before it has ended.
                if (_acts is not null && HasActAheadOf(visit.Batch.Bid))
                {
                    StartActs(outputs);
                    return;
                }

                visit.Started = true;
                Start(visit, outputs);
            }

            // What was removed or aborted passes its turn even if its user code has not come back (A8).
            if (!visit.IsOver && (!visit.TurnIsOver || visit.IsRunning))
            {
                return;
            }

            visit.IsOver = true;
            _cursor++;
            if (--visit.Batch.Unfinished == 0)
            {
                Complete(visit.Batch, outputs);
            }
        }

        StartActs(outputs);
    }

    private void Start(PactScheduleEntry visit, OutputBuffer outputs)
    {
        if (visit.Ticket is not null && !visit.Removed && !visit.Ended)
        {
            DemandLoaded();
            visit.IsRootStarted = true;
            ref var message = ref outputs.Add(OutputKind.InvokeRoot);
            message.Body = visit.TakeTicket();
            message.Tid = visit.Tid;
            message.Bid = visit.Batch.Bid;
            message.Flag = visit.Marked;
        }

        if (visit.WaitingCalls > 0 && visit.NextWaiting() is { } call)
        {
            Invoke(call, outputs);
        }
    }

    private void Complete(PlacedBatch batch, OutputBuffer outputs)
    {
        batch.Executed = true;
        batch.VersionBefore = _version;
        batch.Version = 0;
        batch.EndState = null;
        if (Changed(batch))
        {
            batch.Version = ++_version;
            batch.EndState = _state;
        }

        SendCompletion(batch, outputs);
        if (_acts is not null)
        {
            // An ACT whose place is right behind this batch runs before the next batch does.
            StartActs(outputs);
        }
    }

    private bool Changed(PlacedBatch batch)
    {
        for (var i = _cursor - 1; i >= 0; i--)
        {
            var visit = _visits[i];
            if (!ReferenceEquals(visit.Batch, batch))
            {
                break;
            }

            if (visit.Wrote && !visit.Removed)
            {
                return true;
            }
        }

        return false;
    }

    private void SendCompletion(PlacedBatch batch, OutputBuffer outputs)
    {
        ref var message = ref outputs.ToCommit(MessageKind.SubBatchCompleted, TransactionId.None, batch.Bid);
        message.Actor = Key;
        message.Count = batch.Slot;
        message.Value = _undoNumber;
        var change = batch.Version == 0 ? null : new Change(Key, batch.Version, batch.EndState!);
        message.Body = change;
        Trace?.Completed(Key, batch.Bid, change);
    }

    private int IndexOf(TransactionId tid)
    {
        int low = 0, high = _visits.Count - 1;
        while (low <= high)
        {
            var middle = (low + high) >> 1;
            var order = _visits[middle].Tid.CompareTo(tid);
            if (order == 0)
            {
                return middle;
            }

            if (order < 0)
            {
                low = middle + 1;
            }
            else
            {
                high = middle - 1;
            }
        }

        return -1;
    }

    /// <summary>The transactions of a batch that replaced the state here; for a change that turns out too large to be kept.</summary>
    public IReadOnlyList<TransactionId> WritersOf(BatchId bid)
    {
        var writers = new List<TransactionId>();
        foreach (var visit in _visits)
        {
            if (visit.Batch.Bid == bid && visit.Wrote && !visit.Removed)
            {
                writers.Add(visit.Tid);
            }
        }

        return writers;
    }

    /// <summary>What is final can no longer be undone: its before-images go.</summary>
    /// <param name="final">Every batch up to this one is final; others may be.</param>
    public void ForgetFinal(BatchId final)
    {
        if (final > _final)
        {
            _final = final;
            if (_early is not null)
            {
                ForgetEarly();
            }
        }

        if (_batches.Count == 0 || !IsFinal(_batches[0]))
        {
            return;
        }

        var batches = 0;
        var visits = 0;
        while (batches < _batches.Count && IsFinal(_batches[batches]))
        {
            if (!_batches[batches].Executed)
            {
                throw new ProtocolViolationException($"{Key}: batch {_batches[batches].Bid} is final and has not executed here.");
            }

            visits += _batches[batches].Count;
            batches++;
        }

        _batches.RemoveRange(0, batches);
        _visits.RemoveRange(0, visits);
        _cursor -= visits;
    }

    // By its number, too: one whose transactions were all removed may have been final before it had a place.
    private bool IsFinal(PlacedBatch batch) => batch.SubBatch is null || batch.Bid <= _final;
}
