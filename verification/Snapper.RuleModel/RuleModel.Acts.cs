namespace Snapper.RuleModel;

/// <summary>ACTs: calls, places, starts (H1).</summary>
internal sealed partial class RuleModel
{
    private const byte Visited = 1;
    private const byte WaitsForLock = 2;
    private const byte Granted = 3;
    private const byte Done = 4;

    private readonly byte[] _operationState = new byte[MaxAttempts * O];
    private readonly int[] _visited = new int[MaxAttempts];
    private readonly int[] _endPending = new int[MaxAttempts];
    private readonly bool[] _dead = new bool[MaxAttempts];
    private readonly bool[] _committed = new bool[MaxAttempts];
    private readonly int[] _prepared = new int[MaxAttempts];
    private readonly int[] _votes = new int[MaxAttempts];
    private readonly int[] _decisionPending = new int[MaxAttempts];
    private readonly int[] _previous = new int[MaxAttempts];
    private readonly int[] _actRecord = new int[MaxAttempts * W];
    private ulong _liveActs;
    private ulong _allActs;

    private int RootWorker(int attempt) => _rootOf[attempt];

    private void OfferActs()
    {
        for (var live = _liveActs; live != 0; live &= live - 1)
        {
            var attempt = Lowest(live);
            for (var pending = _endPending[attempt]; pending != 0; pending &= pending - 1)
            {
                Offer(Kind.AbortArrives, attempt, Lowest((ulong)pending));
            }

            for (var pending = _decisionPending[attempt]; pending != 0; pending &= pending - 1)
            {
                var root = RootWorker(attempt);
                if (IsDurable(root, _actRecord[attempt * W + root]) || Is(ModelVariant.ActDecisionBeforeFlush))
                {
                    Offer(Kind.ActDecisionArrives, attempt, Lowest((ulong)pending));
                }
            }

            if (_dead[attempt] && !Is(ModelVariant.LateCallAfterAbort))
            {
                continue;
            }

            if (!_finished[attempt])
            {
                OfferActOperations(attempt);
            }
            else if (!_committed[attempt] && !_dead[attempt])
            {
                OfferActEnd(attempt);
            }
        }
    }

    private void OfferActOperations(int attempt)
    {
        var script = ScriptOf(attempt);
        for (var operation = 0; operation < script.Operations; operation++)
        {
            var actor = script.ActorOf(operation);
            if (_closed[_owner[actor]])
            {
                continue;
            }

            switch (_operationState[attempt * O + operation])
            {
                case 0:
                    // A repetition starts at the root like its predecessor, and channels keep their order: Abort comes first.
                    if (IsCalled(attempt, script, operation) && !IsAwaitedFromEarlierAttempts(attempt, actor))
                    {
                        Offer(Kind.ActScheduleEntry, attempt, operation);
                    }

                    break;
                case Visited when !_frozen[actor] && !Has(_removedAt[actor], attempt) && MayStart(attempt, actor):
                case Granted when !_frozen[actor] && !Has(_removedAt[actor], attempt):
                    Offer(Kind.ActOperation, attempt, operation);
                    break;
                default:
                    break;
            }
        }
    }

    private bool IsAwaitedFromEarlierAttempts(int attempt, int actor)
    {
        for (var previous = _previous[attempt]; previous >= 0; previous = _previous[previous])
        {
            if (Has(_endPending[previous], actor))
            {
                return true;
            }
        }

        return false;
    }

    /// <summary>H1: the first visit takes the place at the tail.</summary>
    private void ActScheduleEntry(int attempt, int operation)
    {
        var actor = ScriptOf(attempt).ActorOf(operation);
        _operationState[attempt * O + operation] = Visited;
        Say($"{Name(attempt)} calls {ActorName(actor)}{(Has(_visited[attempt], actor) ? " again" : "")}.");

        if (Has(_visited[attempt], actor))
        {
            if (Is(ModelVariant.EachVisitTakesANewPlace))
            {
                Unschedule(actor, ActEntry(attempt));
                Schedule(actor, ActEntry(attempt));
            }

            return;
        }

        var place = _placesBelowCeil ? PlaceBelowCeil(attempt, actor) : -1;
        _visited[attempt] |= 1 << actor;
        _visitedAt[attempt * W + _owner[actor]] |= 1 << actor;
        Schedule(actor, ActEntry(attempt));
        if (place >= 0)
        {
            var row = _schedule.AsSpan(actor * ScheduleCapacity, _scheduled[actor]);
            row[place..^1].CopyTo(row[(place + 1)..]);
            row[place] = ActEntry(attempt);
            Say($"Its place is ahead of batch {row[place + 1] >> 1}, which has not begun there.");
        }

        if (!Is(ModelVariant.TestOnlyAtBatchArrivals))
        {
            JudgeAct(attempt);
        }
    }

    /// <summary>
    /// Fewer aborts, as the product has it: when a batch stands behind the ACT elsewhere, its place is ahead of that batch's
    /// entry if neither that nor anything behind it has begun here. -1: the tail.
    /// </summary>
    private int PlaceBelowCeil(int attempt, int actor)
    {
        Array.Fill(_floor, -1);
        Array.Fill(_ceil, NoBatchBehind);
        for (var visited = _visited[attempt]; visited != 0; visited &= visited - 1)
        {
            Bound(Lowest((ulong)visited), attempt, withCeil: true);
        }

        var worker = _owner[actor];
        var place = -1;
        for (var i = _scheduled[actor] - 1; i >= 0; i--)
        {
            var entry = _schedule[actor * ScheduleCapacity + i];
            if ((entry & 1) != 0)
            {
                continue;
            }

            if (_bid[(entry >> 1) * W + worker] < _ceil[worker])
            {
                break;
            }

            if (HasBegun(entry >> 1, actor))
            {
                return -1;
            }

            place = i;
        }

        return place;
    }

    private bool HasBegun(int batch, int actor)
    {
        for (var members = _members[batch]; members != 0; members &= members - 1)
        {
            if (Has(_touched[Lowest(members)] | _over[Lowest(members)], actor))
            {
                return true;
            }
        }

        return _members[batch] == 0;
    }

    /// <summary>H1: the batches before the place have executed, and the outcomes of marked transactions in them are known (they hold their turns).</summary>
    private bool MayStart(int attempt, int actor)
    {
        if (Is(ModelVariant.ActStartsBeforeBatchExecuted))
        {
            return true;
        }

        for (var i = 0; i < _scheduled[actor]; i++)
        {
            var entry = _schedule[actor * ScheduleCapacity + i];
            if (entry == ActEntry(attempt))
            {
                return true;
            }

            if ((entry & 1) == 0 && HasOpenTurns(entry >> 1, actor))
            {
                return false;
            }
        }

        return true;
    }

    private bool HasOpenTurns(int batch, int actor)
    {
        var open = OpenTurns(batch, actor);
        for (var rest = Is(ModelVariant.ActStartsBeforeOutcomesAreKnown) ? open : 0; rest != 0; rest &= rest - 1)
        {
            var attempt = Lowest(rest);
            open &= _marked[_client[attempt]] && IsThrough(attempt, ScriptOf(attempt), actor) ? ~Bit(attempt) : ulong.MaxValue;
        }

        return open != 0;
    }

    private void ActOperation(int attempt, int operation)
    {
        var script = ScriptOf(attempt);
        var slot = attempt * O + operation;
        if (_operationState[slot] == Visited)
        {
            switch (AskLock(attempt, operation))
            {
                case Granted:
                    break;
                case WaitsForLock:
                    _operationState[slot] = WaitsForLock;
                    if (!Is(ModelVariant.NoTestAtLockWait))
                    {
                        JudgeAct(attempt);
                    }

                    return;
                default:
                    _operationState[slot] = Done;
                    return;
            }
        }

        _operationState[slot] = Done;
        Touch(attempt, operation);
        _finished[attempt] = _done[attempt] == (1 << script.Operations) - 1;
        if (_finished[attempt])
        {
            _aborted[attempt] = script.Aborts;
            Say($"{Name(attempt)} has run{(_aborted[attempt] ? ", and aborts by its own code" : "")}.");

            if (Is(ModelVariant.ReleasesBeforeQueueing))
            {
                ReleaseEverywhere(attempt, placesToo: false);
            }
            else if (_aborted[attempt] && Is(ModelVariant.AbortReleasesAtOnce))
            {
                EndAt(attempt, _visited[attempt]);
            }
        }
    }

    private int ActorsOn(int worker)
    {
        var actors = 0;
        for (var actor = 0; actor < _actors; actor++)
        {
            actors |= _owner[actor] == worker ? 1 << actor : 0;
        }

        return actors;
    }
}
