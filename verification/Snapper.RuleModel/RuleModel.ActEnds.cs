namespace Snapper.RuleModel;

/// <summary>How ACTs end: votes, decisions, deaths (H2-H4, H7, W3).</summary>
internal sealed partial class RuleModel
{
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
                return !IsAborting(attempt);
            }
        }

        for (var visited = _visited[attempt]; visited != 0; visited &= visited - 1)
        {
            var actor = Lowest((ulong)visited);
            if (!Has(workers, _owner[actor]))
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

    /// <summary>H4, one worker: the ACT ends the moment its record is queued.</summary>
    private void ActQueue(int attempt)
    {
        var worker = RootWorker(attempt);
        _committed[attempt] = true;
        CountDuringUndo();
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
            if (_owner[actor] == worker && (WorkersOf(_wrote[attempt]) & (1 << worker)) == 0)
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
