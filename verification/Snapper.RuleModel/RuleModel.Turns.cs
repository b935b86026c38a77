namespace Snapper.RuleModel;

/// <summary>Turns of PACTs on actors, and their ends (H1, A1-A3).</summary>
internal sealed partial class RuleModel
{
    private void OfferPacts()
    {
        for (var live = _livePacts; live != 0; live &= live - 1)
        {
            var attempt = Lowest(live);
            var script = ScriptOf(attempt);
            if (!_finished[attempt] && !(_failed[attempt] && !script.IsParallel))
            {
                for (var operation = 0; operation < script.Operations; operation++)
                {
                    if (IsCalled(attempt, script, operation) && HasTurn(attempt, script.ActorOf(operation)))
                    {
                        Offer(Kind.PactOperation, attempt, operation);
                    }
                }

                if (_done[attempt] == (1 << script.Operations) - 1 && !_failed[attempt])
                {
                    Offer(Kind.PactReturns, attempt);
                }
            }

            for (var pending = _endedPending[attempt]; pending != 0; pending &= pending - 1)
            {
                var actor = Lowest((ulong)pending);
                if (!_closed[_owner[actor]])
                {
                    Offer(Kind.EndedArrives, attempt, actor);
                }
            }
        }
    }

    /// <summary>The members of a batch whose turns on an actor are not over, in tid order.</summary>
    private ulong OpenTurns(int batch, int actor)
    {
        var open = 0UL;
        for (var members = _members[batch]; members != 0; members &= members - 1)
        {
            var attempt = Lowest(members);
            if (Has(ScriptOf(attempt).Declared & ~_over[attempt], actor))
            {
                open |= Bit(attempt);
            }
        }

        return open;
    }

    /// <summary>H1: a batch starts on the actor when the batch before it has executed and every ACT placed before it has ended.</summary>
    private bool HasTurn(int attempt, int actor)
    {
        var batch = _batchOf[attempt];
        if (Has(_removedAt[actor], attempt))
        {
            return Is(ModelVariant.RemovedAttemptGoesOn);
        }

        if (Has(_takenAt[batch], _owner[actor]))
        {
            return false;
        }

        if (_frozen[actor] || _closed[_owner[actor]] || !Has(_subPlaced[batch], actor) || Has(_over[attempt], actor))
        {
            return false;
        }

        if (Lowest(OpenTurns(batch, actor)) != attempt)
        {
            return false;
        }

        var entry = BatchEntry(batch);
        for (var i = 0; i < _scheduled[actor]; i++)
        {
            var other = _schedule[actor * ScheduleCapacity + i];
            if (other == entry)
            {
                return true;
            }

            if ((other & 1) != 0 ? !Is(ModelVariant.BatchIgnoresActs) : OpenTurns(other >> 1, actor) != 0)
            {
                return false;
            }
        }

        return true;
    }

    private void PactOperation(int attempt, int operation)
    {
        Touch(attempt, operation);
        var script = ScriptOf(attempt);
        var actor = script.ActorOf(operation);
        var client = _client[attempt];
        if (script.ThrowsAt == operation && !_marked[client] && !_failed[attempt] && !_removed[attempt])
        {
            PactThrows(attempt, actor);
            return;
        }

        if (_failed[attempt])
        {
            return;
        }

        // A1: a marked one holds its turn to its end. A2: the root's own entry is held until the root has returned.
        var holdsTurn = (_marked[client] && !Is(ModelVariant.MarkedTurnNotHeld))
            || (actor == script.ActorOf(0) && !Is(ModelVariant.CountEndsTheRoot));
        if (!holdsTurn && IsThrough(attempt, script, actor))
        {
            _over[attempt] |= 1 << actor;
        }
    }

    /// <summary>The root's method returns, or throws when its abort must not be told yet (A4).</summary>
    private void PactReturns(int attempt)
    {
        if (!ScriptOf(attempt).Aborts || _marked[_client[attempt]])
        {
            PactEnds(attempt);
        }
        else if (!_removed[attempt])
        {
            PactThrows(attempt, ScriptOf(attempt).ActorOf(0));
        }
        else
        {
            _failed[attempt] = true;
        }
    }

    private bool IsThrough(int attempt, Script script, int actor)
    {
        for (var i = 0; i < script.Operations; i++)
        {
            if (script.ActorOf(i) == actor && !Has(_done[attempt], i))
            {
                return false;
            }
        }

        return true;
    }

    /// <summary>A2: the root has returned; Ended goes to every declared actor that cannot know it by the count.</summary>
    private void PactEnds(int attempt)
    {
        _finished[attempt] = true;
        _aborted[attempt] = ScriptOf(attempt).Aborts;
        _endedPending[attempt] = Is(ModelVariant.EndedGoesToCalledActorsOnly)
            ? ScriptOf(attempt).Declared & _touched[attempt]
            : ScriptOf(attempt).Declared;
        _endedPending[attempt] &= ~_over[attempt] | (_aborted[attempt] ? _touched[attempt] : 0);
        Say($"{Name(attempt)} has run{(_aborted[attempt] ? ", and aborts by its own code" : "")}.");
    }

    private void EndedArrives(int attempt, int actor)
    {
        _endedPending[attempt] &= ~(1 << actor);
        if (Is(ModelVariant.UnknownTidIsDropped) && !Has(_subPlaced[_batchOf[attempt]], actor))
        {
            return;
        }

        if (_aborted[attempt])
        {
            // A3: the before-image goes back. The touch stays known: an undo may still find that it saw what is gone.
            PutBack(actor, attempt, keepTouches: !Is(ModelVariant.AbortedMarkedIsNoVictim));
        }

        _over[attempt] |= 1 << actor;
        Say($"{ActorName(actor)} hears that {Name(attempt)} has ended.");
    }
}
