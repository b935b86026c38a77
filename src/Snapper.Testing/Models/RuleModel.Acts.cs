namespace Snapper.Testing.Models;

/// <summary>ACTs: places, execution, votes, end (H1-H4, H7).</summary>
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

    private int RootWorker(int attempt) => _scenario.OwnerOf(ScriptOf(attempt).ActorOf(0));

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
            if (_closed[_scenario.OwnerOf(actor)])
            {
                continue;
            }

            switch (_operationState[attempt * O + operation])
            {
                case 0:
                    // A repetition starts at the root like its predecessor, and channels keep their order: Abort comes first.
                    if (IsCalled(attempt, script, operation) && !IsAwaitedFromEarlierAttempts(attempt, actor))
                    {
                        Offer(Kind.ActVisit, attempt, operation);
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

    private void OfferActEnd(int attempt)
    {
        var workers = WorkersOf(_visited[attempt]);
        var root = 1 << RootWorker(attempt);
        if (workers == root)
        {
            if (!_closed[RootWorker(attempt)] && IsOrderFinal(attempt, workers))
            {
                Offer(Kind.ActQueue, attempt);
            }

            return;
        }

        for (var worker = 0; worker < _workers; worker++)
        {
            if (!Has(workers & ~root, worker))
            {
                continue;
            }

            if (!Has(_prepared[attempt], worker))
            {
                if (!_closed[worker] && IsOrderFinal(attempt, 1 << worker))
                {
                    Offer(Kind.ActPrepare, attempt, worker);
                }
            }
            else if (!Has(_votes[attempt], worker) && (IsDurable(worker, _actRecord[attempt * W + worker]) || Is(ModelVariant.VoteBeforeFlush)))
            {
                Offer(Kind.VoteArrives, attempt, worker);
            }
        }

        var missing = workers & ~root & ~_votes[attempt];
        var allIn = missing == 0 || (Is(ModelVariant.OneVoteIsEnough) && _votes[attempt] != 0);
        if (allIn && IsOrderFinal(attempt, root))
        {
            Offer(Kind.ActCommit, attempt);
        }
    }

    /// <summary>H3: every batch before the ACT on each of its actors is final. (Entries of final batches have left the schedules.)</summary>
    private bool IsOrderFinal(int attempt, int workers)
    {
        if (_aborted[attempt] ? Is(ModelVariant.AbortAnsweredBeforeOrderIsFinal) : Is(ModelVariant.EndsBeforeOrderIsFinal))
        {
            return true;
        }

        if (Is(ModelVariant.ChecksAndCommitsAtOnce))
        {
            var all = WorkersOf(_visited[attempt]);
            if ((all & (all - 1)) != 0)
            {
                return !IsDoomed(attempt);
            }
        }

        for (var visited = _visited[attempt]; visited != 0; visited &= visited - 1)
        {
            var actor = Lowest((ulong)visited);
            if (!Has(workers, _scenario.OwnerOf(actor)))
            {
                continue;
            }

            for (var i = 0; i < _scheduled[actor]; i++)
            {
                var entry = _schedule[actor * ScheduleCapacity + i];
                if (entry == ActEntry(attempt))
                {
                    break;
                }

                if ((entry & 1) == 0)
                {
                    return false;
                }
            }
        }

        return true;
    }

    /// <summary>H1: the first visit takes the place at the tail.</summary>
    private void ActVisit(int attempt, int operation)
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

        var worker = _scenario.OwnerOf(actor);
        var place = -1;
        for (var i = _scheduled[actor] - 1; i >= 0; i--)
        {
            var entry = _schedule[actor * ScheduleCapacity + i];
            if ((entry & 1) != 0)
            {
                continue;
            }

            if (_order[(entry >> 1) * W + worker] < _ceil[worker])
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

    /// <summary>H4, one worker: the ACT ends the moment its record is queued.</summary>
    private void ActQueue(int attempt)
    {
        var worker = RootWorker(attempt);
        _committed[attempt] = true;
        _actRecord[attempt * W + worker] = Queue(worker, Record.ActCommitted, attempt);
        Say($"{Name(attempt)} is queued on worker {worker + 1}; its locks and places go.");

        EndAt(attempt, _visited[attempt]);
    }

    private void ActPrepare(int attempt, int worker)
    {
        _prepared[attempt] |= 1 << worker;
        _actRecord[attempt * W + worker] = Queue(worker, Record.ActPrepared, attempt);
        Say($"Worker {worker + 1} queues its vote for {Name(attempt)}.");

        if (!Is(ModelVariant.ReleasesReadersAtVote))
        {
            return;
        }

        for (var visited = _visited[attempt] & ~_wrote[attempt]; visited != 0; visited &= visited - 1)
        {
            var actor = Lowest((ulong)visited);
            if (_scenario.OwnerOf(actor) == worker && (WorkersOf(_wrote[attempt]) & (1 << worker)) == 0)
            {
                Say($"{ActorName(actor)}, which {Name(attempt)} only read, is released.");
                Leave(attempt, actor);
            }
        }
    }

    private void VoteArrives(int attempt, int worker)
    {
        _votes[attempt] |= 1 << worker;
        Say($"The vote of worker {worker + 1} for {Name(attempt)} arrives.");
    }

    private void ActCommit(int attempt)
    {
        var root = RootWorker(attempt);
        _committed[attempt] = true;
        _actRecord[attempt * W + root] = Queue(root, Record.ActCommitted, attempt);
        _decisionPending[attempt] = WorkersOf(_visited[attempt]) & ~(1 << root);
        if (Is(ModelVariant.DecisionSkipsReaders))
        {
            _decisionPending[attempt] &= WorkersOf(_wrote[attempt]);
        }

        Say($"The last vote is in: worker {root + 1} queues the end of {Name(attempt)}.");

        EndAt(attempt, ActorsOn(root) & _visited[attempt]);
    }

    private void ActDecisionArrives(int attempt, int worker)
    {
        _decisionPending[attempt] &= ~(1 << worker);
        Say($"Worker {worker + 1} hears the decision on {Name(attempt)}; its locks and places go there.");

        EndAt(attempt, ActorsOn(worker) & _visited[attempt]);
    }

    private int ActorsOn(int worker)
    {
        var actors = 0;
        for (var actor = worker; actor < _actors; actor += _workers)
        {
            actors |= 1 << actor;
        }

        return actors;
    }

    /// <summary>The ACT is over on these actors; an aborted one leaves them as it found them.</summary>
    private void EndAt(int attempt, int actors)
    {
        for (; actors != 0; actors &= actors - 1)
        {
            var actor = Lowest((ulong)actors);
            if (_aborted[attempt] || _dead[attempt])
            {
                PutBack(actor, attempt, keepTouches: false);
            }

            Leave(attempt, actor);
        }

        ForgetWhenOver(attempt);
    }

    private void ForgetWhenOver(int attempt)
    {
        if ((_committed[attempt] || _dead[attempt]) && _endPending[attempt] == 0 && _decisionPending[attempt] == 0
            && !Is(ModelVariant.LateCallAfterAbort))
        {
            _liveActs &= ~Bit(attempt);
        }
    }

    /// <summary>The ACT dies: its root poisons its branches, Abort is on its way to every actor (W3).</summary>
    private void Kill(int attempt, string reason)
    {
        if (_dead[attempt] || _committed[attempt])
        {
            return;
        }

        _dead[attempt] = true;
        _endPending[attempt] = _visited[attempt];
        StopWaiting(attempt);
        Say($"{Name(attempt)} dies: {reason}.");

        RunAgain(attempt);
        ForgetWhenOver(attempt);
    }

    private void AbortArrives(int attempt, int actor)
    {
        _endPending[attempt] &= ~(1 << actor);
        Say($"{ActorName(actor)} hears that {Name(attempt)} is dead.");

        EndAt(attempt, 1 << actor);
    }
}
