namespace Snapper.RuleModel;

/// <summary>floor and ceil of ACTs (H5, H6), and the bound of a wait across workers (H6).</summary>
internal sealed partial class RuleModel
{
    private const int NoBatchBehind = int.MaxValue;

    private readonly int[] _floor = new int[W];
    private readonly int[] _ceil = new int[W];

    /// <summary>H5: looks at an ACT and at all that wait for its locks.</summary>
    private void JudgeAct(int attempt)
    {
        for (var live = _liveActs; live != 0; live &= live - 1)
        {
            var other = Lowest(live);
            if (other == attempt || Has(WaitsFor(other), attempt))
            {
                JudgeOne(other);
            }
        }
    }

    /// <summary>A batch has arrived: looks at every ACT that has its place here.</summary>
    private void JudgeActsOn(int actor)
    {
        for (var i = _scheduled[actor] - 1; i >= 0; i--)
        {
            // A death sends messages; it does not change the schedule.
            var entry = _schedule[actor * ScheduleCapacity + i];
            if ((entry & 1) != 0)
            {
                JudgeAct(entry >> 1);
            }
        }
    }

    private void JudgeOne(int attempt)
    {
        if (_dead[attempt] || _committed[attempt] || Is(ModelVariant.NoFloorCeilTest) || !IsAborting(attempt))
        {
            return;
        }

        Kill(attempt, _finished[attempt] ? "serializability (floor >= ceil)" : "deadlock (floor >= ceil)");
    }

    /// <summary>The ACT itself and those whose locks it waits for, transitively.</summary>
    private ulong WaitsFor(int attempt)
    {
        var all = Bit(attempt);
        for (var open = all; open != 0;)
        {
            var next = Lowest(open);
            open &= open - 1;
            if (_firstComeFirstServed)
            {
                // In a queue one waits for those ahead, too: it is said once, when the wait starts.
                var ahead = _saidToWaitFor[next] & _liveActs & ~all;
                all |= ahead;
                open |= ahead;
                continue;
            }

            for (var visited = _visited[next]; visited != 0; visited &= visited - 1)
            {
                var actor = Lowest((ulong)visited);
                if (Has(_waiters[actor], next))
                {
                    var found = ConflictingHolders(next, actor, Has(_waitersForWrite[actor], next)) & ~all;
                    all |= found;
                    open |= found;
                }
            }
        }

        return all;
    }

    private bool IsAborting(int attempt)
    {
        Array.Fill(_floor, -1);
        Array.Fill(_ceil, NoBatchBehind);
        var all = Is(ModelVariant.FloorIsNotInherited) ? Bit(attempt) : WaitsFor(attempt);
        for (; all != 0; all &= all - 1)
        {
            var other = Lowest(all);
            for (var visited = _visited[other]; visited != 0; visited &= visited - 1)
            {
                Bound(Lowest((ulong)visited), other, withCeil: other == attempt);
            }
        }

        var globalFloor = -1;
        var globalCeil = NoBatchBehind;
        for (var worker = 0; worker < _workers; worker++)
        {
            if (_floor[worker] >= _ceil[worker])
            {
                return true;
            }

            if (_workers > 1)
            {
                globalFloor = Math.Max(globalFloor, HighestGlobalUpTo(worker, _floor[worker]));
                globalCeil = Math.Min(globalCeil, LowestGlobalFrom(worker, _ceil[worker]));
            }
        }

        return globalFloor >= globalCeil;
    }

    private void Bound(int actor, int attempt, bool withCeil)
    {
        var worker = _owner[actor];
        var before = -1;
        var isBehind = false;
        for (var i = 0; i < _scheduled[actor]; i++)
        {
            var entry = _schedule[actor * ScheduleCapacity + i];
            if (entry == ActEntry(attempt))
            {
                // Also a place where the ACT still waits to start bounds it.
                if (Is(ModelVariant.WaitingPlacesDoNotCount) && !Has(_touched[attempt], actor))
                {
                    return;
                }

                isBehind = true;
            }
            else if ((entry & 1) == 0)
            {
                var position = _bid[(entry >> 1) * W + worker];
                if (!isBehind)
                {
                    before = position;
                }
                else if (withCeil)
                {
                    _ceil[worker] = Math.Min(_ceil[worker], position);
                    break;
                }
            }
        }

        if (isBehind)
        {
            _floor[worker] = Math.Max(_floor[worker], before);
        }
    }

    private int HighestGlobalUpTo(int worker, int position)
    {
        for (var i = position; i >= 0; i--)
        {
            var batch = _localOrder[worker * MaxBatches + i];
            if (_isGlobal[batch] && !_decided[batch] && !_lost[batch])
            {
                return batch;
            }
        }

        return -1;
    }

    private int LowestGlobalFrom(int worker, int position)
    {
        for (var i = position; i < _localCount[worker]; i++)
        {
            var batch = _localOrder[worker * MaxBatches + i];
            if (_isGlobal[batch] && !_lost[batch])
            {
                return batch;
            }
        }

        return NoBatchBehind;
    }

    private void OfferBoundAborts()
    {
        if (Is(ModelVariant.NoBoundOnWaits))
        {
            return;
        }

        for (var live = _liveActs; live != 0; live &= live - 1)
        {
            var attempt = Lowest(live);
            var mayEnd = !_committed[attempt] || Is(ModelVariant.BoundAbortsAfterLastVote);
            if (_dead[attempt] || !mayEnd || !HasBatchBehind(attempt))
            {
                continue;
            }

            Offer(Kind.BoundAbort, attempt);
        }
    }

    private bool HasBatchBehind(int attempt)
    {
        for (var visited = _visited[attempt]; visited != 0; visited &= visited - 1)
        {
            var actor = Lowest((ulong)visited);
            var position = PositionOf(actor, ActEntry(attempt));
            for (var i = position + 1; position >= 0 && i < _scheduled[actor]; i++)
            {
                if ((_schedule[actor * ScheduleCapacity + i] & 1) == 0)
                {
                    return true;
                }
            }
        }

        return false;
    }

    /// <summary>H6: a batch has waited too long behind the ACT; its root aborts it while the last vote is not in.</summary>
    private void BoundAbort(int attempt)
    {
        for (var visited = Is(ModelVariant.VoterEndsItself) ? _visited[attempt] : 0; visited != 0; visited &= visited - 1)
        {
            // The participant that voted ends it alone: the root, which knows nothing of it, may still commit.
            var actor = Lowest((ulong)visited);
            if (Has(_prepared[attempt], _owner[actor]) && PositionOf(actor, ActEntry(attempt)) >= 0)
            {
                Say($"{ActorName(actor)}, whose worker has voted for {Name(attempt)}, ends it by itself.");
                PutBack(actor, attempt, keepTouches: false);
                Leave(attempt, actor);
                return;
            }
        }

        if (Is(ModelVariant.BoundAbortsAfterLastVote) && _committed[attempt])
        {
            Say($"A batch has waited too long behind {Name(attempt)}: participants that have not heard the decision are told to abort.");
            _endPending[attempt] = 0;
            for (var visited = _visited[attempt]; visited != 0; visited &= visited - 1)
            {
                var actor = Lowest((ulong)visited);
                if (Has(_decisionPending[attempt], _owner[actor]))
                {
                    PutBack(actor, attempt, keepTouches: false);
                    Leave(attempt, actor);
                }
            }

            _decisionPending[attempt] = 0;
            ForgetWhenOver(attempt);
            return;
        }

        Kill(attempt, "a batch has waited too long behind it");
    }
}
