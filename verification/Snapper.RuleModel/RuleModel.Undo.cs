namespace Snapper.RuleModel;

/// <summary>PACTs that throw after a turn passed, on one worker: one undo manager, messages to actors (A4-A8).</summary>
internal sealed partial class RuleModel
{
    private readonly ulong[] _undoPending = new ulong[A];
    private readonly ulong[] _removedAt = new ulong[A];
    private readonly bool[] _undoKnown = new bool[A];
    private readonly bool[] _frozen = new bool[A];
    private readonly bool[] _undoDonePending = new bool[A];
    private bool _undoRuns;
    private bool _isVictimRound;
    private int _undoLowest;
    private ulong _undone;
    private ulong _unpoisoned;
    private ulong _throwing;

    private void ResetUndo()
    {
        Array.Clear(_undoPending);
        Array.Clear(_removedAt);
        Array.Clear(_undoKnown);
        Array.Clear(_frozen);
        Array.Clear(_undoDonePending);
        _undoRuns = false;
        _isVictimRound = false;
        _undone = 0;
        _unpoisoned = 0;
        _throwing = 0;
    }

    /// <summary>A4: it decides nobody's outcome; it runs again with the mark, and with it all that saw what it did.</summary>
    private void PactThrows(int attempt, int actor)
    {
        _failed[attempt] = true;
        Say($"{Name(attempt)} throws.");
        _marked[_client[attempt]] = true;
        if (_workers > 1 && _byDependency)
        {
            TakeFrom(_batchOf[attempt], _owner[actor]);
            return;
        }

        if (_workers > 1)
        {
            LoseBatchesFrom(_batchOf[attempt]);
            return;
        }

        _throwing |= Bit(attempt);
        StartUndo();
    }

    private void StartUndo()
    {
        if (_undoRuns || _throwing == 0)
        {
            return;
        }

        _undoRuns = true;
        _undoLowest = int.MaxValue;
        _undone = 0;
        var first = _throwing & (0 - _throwing);
        _throwing &= ~first;
        AddVictims(first);
    }

    private void AddVictims(ulong victims)
    {
        for (victims &= ~_undone; victims != 0; victims &= victims - 1)
        {
            var victim = Lowest(victims);
            if (_isAct[victim])
            {
                AddActVictim(victim);
                continue;
            }

            if (Has(_finalAt[_batchOf[victim]], 0))
            {
                Fail(ModelVerdict.BrokenInvariant, $"{Name(victim)} is final, and must be undone (L2).");
                return;
            }

            if (_removed[victim])
            {
                continue;
            }

            _undone |= Bit(victim);
            _removed[victim] = true;
            _undoLowest = Math.Min(_undoLowest, _order[_batchOf[victim] * W]);
            _throwing &= ~Bit(victim);
            var told = Is(ModelVariant.UndoGoesToTouchedActorsOnly) ? _touched[victim] : ScriptOf(victim).Declared;
            SendUndo(victim, told);
        }
    }

    private void AddActVictim(int victim)
    {
        if (_committed[victim])
        {
            Fail(ModelVerdict.BrokenInvariant, $"{Name(victim)} is queued, and must be undone (H3).");
            return;
        }

        if (_dead[victim] || Is(ModelVariant.ActVictimsForgotten))
        {
            return;
        }

        // A5: its root poisons its branches and says so before the undo is done.
        _undone |= Bit(victim);
        _unpoisoned |= Bit(victim);
        SendUndo(victim, _visited[victim]);
    }

    private void SendUndo(int attempt, int actors)
    {
        for (; actors != 0; actors &= actors - 1)
        {
            var actor = Lowest((ulong)actors);
            if (Has(_removedAt[actor], attempt))
            {
                continue;
            }

            _undoPending[actor] |= Bit(attempt);
            if (!Is(ModelVariant.CompletionsAreNotForgotten) && !Is(ModelVariant.CompletionsCarryNoUndo))
            {
                // The coordinator forgets what this actor has reported of batches that are not final; reports on their way are too old.
                for (var live = _liveBatches; live != 0; live &= live - 1)
                {
                    var batch = Lowest(live);
                    _completionIn[batch] &= ~(1 << actor);
                    _completionStale[batch] |= _completionFlying[batch] & (1 << actor);
                }
            }
        }
    }

    private void OfferUndo()
    {
        if (!_undoPossible || _workers > 1)
        {
            return;
        }

        var isOut = false;
        for (var actor = 0; actor < _actors; actor++)
        {
            if (_undoDonePending[actor])
            {
                Offer(Kind.UndoDoneArrives, actor);
            }
            else if (_undoPending[actor] != 0)
            {
                Offer(Kind.UndoArrives, actor);
            }

            isOut |= _undoPending[actor] != 0;
        }

        for (var open = _unpoisoned; open != 0; open &= open - 1)
        {
            Offer(Kind.InvalidateBranches, Lowest(open));
        }

        if (_undoRuns && !isOut && (_unpoisoned == 0 || Is(ModelVariant.UndoDoneBeforeRootsAcknowledge)))
        {
            Offer(Kind.UndoDone, 0);
        }
    }

    private void InvalidateBranches(int attempt)
    {
        _unpoisoned &= ~Bit(attempt);
        _dead[attempt] = true;
        Say($"The root of {Name(attempt)} is told that it is undone.");
        if (_undoRuns)
        {
            SendUndo(attempt, _visited[attempt]);
        }

        else if (!_committed[attempt])
        {
            // Only a broken rule gets here: the undo is over, and the actors that it did not reach hear Abort.
            for (var visited = _visited[attempt]; visited != 0; visited &= visited - 1)
            {
                var actor = Lowest((ulong)visited);
                _endPending[attempt] |= Has(_removedAt[actor], attempt) ? 0 : 1 << actor;
            }

            RunAgain(attempt);
        }

        ForgetWhenOver(attempt);
    }

    private void UndoDone()
    {
        _undoRuns = false;
        _isVictimRound = false;
        Say($"The undo is done; {Names(_undone)} run again.");
        for (var undone = _undone; undone != 0; undone &= undone - 1)
        {
            var attempt = Lowest(undone);
            if (_isAct[attempt])
            {
                if (_dead[attempt])
                {
                    RunAgain(attempt);
                }

                continue;
            }

            var batch = _batchOf[attempt];
            _members[batch] &= ~Bit(attempt);
            _livePacts &= ~Bit(attempt);
            _endedPending[attempt] = 0;
            RunAgain(attempt);
            if (Is(ModelVariant.EmptiedBatchLeavesTheChain) && _members[batch] == 0)
            {
                LeaveTheChain(batch);
            }
        }

        for (var actor = 0; actor < _actors; actor++)
        {
            _undoDonePending[actor] = _undoKnown[actor];
        }

        StartUndo();
    }

    /// <summary>A7's mistake: the node goes, and with it the arrivals that are still on their way.</summary>
    private void LeaveTheChain(int batch)
    {
        _subPending[batch] = 0;
        for (var actor = 0; actor < _actors; actor++)
        {
            Unschedule(actor, BatchEntry(batch));
        }

        BecomesFinal(batch, 0);
    }
}
