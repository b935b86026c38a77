using Snapper.Protocol.Batches;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;

namespace Snapper.Protocol.Scheduling;

/// <summary>ACTs: places between batches (H1, H2), locks (W1), end (H4).</summary>
public sealed partial class ActorMachine
{
    private readonly List<TransactionId> _blockers = [];
    private List<ActScheduleEntry>? _acts;
    private LockTable? _locks;

    /// <summary>Asks for the lock that a call needs before it reads or writes.</summary>
    /// <param name="call">The call.</param>
    /// <param name="mode">The lock.</param>
    /// <param name="blocker">At Die: the transaction that holds the lock, or waits for it ahead; else none.</param>
    /// <param name="outputs">Receives the effects.</param>
    /// <returns>Granted: go on. Waiting: an output grants or the transaction ends. Die: the transaction is to abort (W1).</returns>
    public LockAnswer AskLock(IActorCall call, LockMode mode, out TransactionId blocker, OutputBuffer outputs)
    {
        blocker = TransactionId.None;
        var visit = (ActScheduleEntry)Demand(call);
        _locks ??= new LockTable(Key, Trace);
        var isUpgrade = visit.Held == LockMode.Shared && mode == LockMode.Exclusive;
        var answer = _locks.Ask(visit, mode, call, _blockers);
        Trace?.Asked(Key, call, mode, answer);
        switch (answer)
        {
            case LockAnswer.Waiting:
                outputs.ToCommit(MessageKind.ActWaits, visit.Tid, BatchId.None).Body = _blockers.ToArray();
                break;
            case LockAnswer.Die:
                blocker = _blockers[0];
                break;
        }

        if (isUpgrade && answer != LockAnswer.Die)
        {
            TellOvertaken(visit, outputs);
        }

        return answer;
    }

    /// <summary>H5: an upgrade goes ahead of the queue, and starts another lock wait of everyone in it.</summary>
    private void TellOvertaken(ActScheduleEntry upgraded, OutputBuffer outputs)
    {
        _locks!.Overtaken(upgraded, _blockers);
        if (_blockers.Count == 0)
        {
            return;
        }

        TransactionId[] holder = [upgraded.Tid];
        foreach (var waiter in _blockers)
        {
            outputs.ToCommit(MessageKind.ActWaits, waiter, BatchId.None).Body = holder;
        }
    }

    private bool EnterAct(IActorCall call, OutputBuffer outputs)
    {
        if (!call.IsAlive)
        {
            Refuse(call, AbortReason.Conflict, outputs); // W3: a late call
            return false;
        }

        var visit = FindAct(call.Tid);
        if (visit is null)
        {
            visit = TakePlace(call, outputs);
        }
        else if (visit.Collected)
        {
            throw new ProtocolViolationException($"{Key}: ACT {call.Tid} calls after it has finished.");
        }

        if (visit.Started)
        {
            return Admit(visit, call);
        }

        visit.Keep(call);
        return false;
    }

    /// <summary>
    /// H1: the first visit takes a place, later visits use the same one: at the tail, or, when a batch stands behind the ACT
    /// elsewhere already, ahead of that batch's entries here if none of them has begun.
    /// </summary>
    private ActScheduleEntry TakePlace(IActorCall call, OutputBuffer outputs)
    {
        var ahead = _batches.Count > 0 ? _batches[^1].SubBatch : null;
        var behind = BatchId.None;
        if (call.Ceil != BatchId.None && ahead?.Bid >= call.Ceil && FindPlaceBelow(call.Ceil) is var at and >= 0)
        {
            // At the tail floor would meet ceil and the ACT would die (H5). What has not begun here can wait behind it, as
            // it does elsewhere: H1 asks only that what is ahead has executed and what is behind starts afterwards.
            behind = _visits[at].Batch.Bid;
            ahead = at > 0 ? _visits[at - 1].Batch.SubBatch : null;
            _visits[at].Started = false;
        }

        var isFree = behind == BatchId.None ? _cursor == _visits.Count : _cursor < _visits.Count && _visits[_cursor].Batch.Bid >= behind;
        var visit = new ActScheduleEntry(call.Tid, call.Age, ahead?.Bid ?? BatchId.None, call) { Started = isFree && !_frozen };
        (_acts ??= new(1)).Add(visit);
        if (behind != BatchId.None)
        {
            NoteBehind(visit, behind, outputs);
        }

        if (ahead is not null)
        {
            ref var message = ref outputs.ToCommit(MessageKind.ActVisited, call.Tid, ahead.Bid);
            message.Actor = Key;
            message.Body = ahead;
        }

        if (_parked is not null)
        {
            foreach (var parked in _parked)
            {
                NoteBehind(visit, parked.Bid, outputs);
            }
        }

        return visit;
    }

    /// <summary>Index of the first entry at or above a batch if neither it nor anything after it has begun; -1: something has.</summary>
    private int FindPlaceBelow(BatchId ceil)
    {
        var at = _visits.Count;
        while (at > 0 && _visits[at - 1].Batch.Bid >= ceil)
        {
            at--;
            var visit = _visits[at];
            if (visit.Touched || visit.IsOver || visit.IsRootStarted)
            {
                return -1;
            }
        }

        return at < _visits.Count ? at : -1;
    }

    private void OnActCollect(TransactionId tid, bool committed, OutputBuffer outputs)
    {
        // Unknown: its only call was refused because the attempt had died, or an undo has removed it; then nobody waits.
        var visit = FindAct(tid);
        Change? change = null;
        if (visit is not null)
        {
            visit.Collected = true;
            if (committed && visit.Wrote)
            {
                visit.Version = ++_version;
                change = new Change(Key, visit.Version, _state!);
            }
        }

        ref var message = ref outputs.ToCommit(MessageKind.ActChanges, tid, visit?.Ahead ?? BatchId.None);
        message.Actor = Key;
        message.Body = change;
    }

    private void OnActEnd(TransactionId tid, bool committed, OutputBuffer outputs)
    {
        var visit = FindAct(tid);
        if (visit is null)
        {
            return; // it never came in, or an undo has removed it
        }

        RemoveAct(visit, committed, AbortReason.Conflict, outputs);

        // Also in the middle of an undo: holding a lock starts nothing, and whoever reads now is a victim if more is put back.
        _locks?.GrantNext(outputs);
        Advance(outputs);
    }

    private void RemoveAct(ActScheduleEntry visit, bool committed, AbortReason reason, OutputBuffer outputs)
    {
        if (!committed && visit.Wrote)
        {
            _state = visit.BeforeImage; // strict locking: nobody has touched it since
            TakeVersionBack(visit);
        }

        RefuseAll(visit, reason, outputs);
        visit.IsOver = true;
        _locks?.Release(visit);
        _acts!.Remove(visit);
        if (_acts.Count == 0)
        {
            _acts = null;
            if (_locks is { IsEmpty: false })
            {
                throw new ProtocolViolationException($"{Key}: locks are held by nobody.");
            }

            _locks = null;
        }
    }

    private void TakeVersionBack(ActScheduleEntry visit)
    {
        if (visit.Version == 0)
        {
            return;
        }

        if (visit.Version != _version)
        {
            throw new ProtocolViolationException($"{Key}: ACT {visit.Tid} gives back version {visit.Version}, the newest is {_version}.");
        }

        _version--;
        visit.Version = 0;
    }

    private void StartActs(OutputBuffer outputs)
    {
        if (_acts is null || _frozen)
        {
            return;
        }

        // Everything before the cursor has executed: so has what lies ahead of these places.
        var nextBid = _cursor < _visits.Count ? _visits[_cursor].Batch.Bid : new BatchId(long.MaxValue);
        for (var i = 0; i < _acts.Count; i++)
        {
            var visit = _acts[i];
            if (!visit.Started && visit.Ahead < nextBid)
            {
                visit.Started = true;
                if (visit.NextWaiting() is { } call)
                {
                    Invoke(call, outputs);
                }
            }
        }
    }

    private bool HasActAheadOf(BatchId bid)
    {
        foreach (var visit in _acts!)
        {
            if (visit.Ahead < bid)
            {
                return true;
            }
        }

        return false;
    }

    private void NoteBehind(BatchId bid, OutputBuffer outputs)
    {
        if (_acts is null)
        {
            return;
        }

        foreach (var visit in _acts)
        {
            NoteBehind(visit, bid, outputs);
        }
    }

    private void NoteBehind(ActScheduleEntry visit, BatchId bid, OutputBuffer outputs)
    {
        if (visit.Behind != BatchId.None && visit.Behind <= bid)
        {
            return;
        }

        visit.Behind = bid;
        if (visit.First.Ceil == BatchId.None || bid < visit.First.Ceil)
        {
            visit.First.Ceil = bid;
        }

        outputs.ToCommit(MessageKind.ActOvertaken, visit.Tid, bid).Actor = Key;
    }

    private ActScheduleEntry? FindAct(TransactionId tid)
    {
        if (_acts is not null)
        {
            foreach (var visit in _acts)
            {
                if (visit.Tid == tid)
                {
                    return visit;
                }
            }
        }

        return null;
    }
}
