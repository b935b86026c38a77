namespace Snapper.RuleModel;

/// <summary>Crashes of workers and of the master, and reading a log back (R2-R4, H2). Reading back is one step; what is in doubt stays so, and its worker opens when it is resolved.</summary>
internal sealed partial class RuleModel
{
    private void OfferCrashes()
    {
        if (_crashes < _scenario.Crashes && _random.OneIn(16))
        {
            for (var worker = 0; worker < _workers; worker++)
            {
                if (!_closed[worker])
                {
                    Offer(Kind.Crash, worker);
                }
            }
        }

        if (_masterCrashes < _scenario.MasterCrashes && _random.OneIn(16))
        {
            Offer(Kind.CrashMaster, 0);
        }
    }

    private void Crash(int worker)
    {
        _crashes++;
        TruncateLog(worker);
        CancelMoves(worker);
        Say($"Worker {worker + 1} crashes.");
        StartLoss();
        for (var i = 0; i < _localCount[worker]; i++)
        {
            var batch = _localOrder[worker * MaxBatches + i];
            if (_isGlobal[batch] && _decided[batch] && !Has(_finalAt[batch], worker) && IsDurable(Master, _decisionRecord[batch]))
            {
                BecomesFinal(batch, worker);
            }

            if (!Survives(batch, worker, worker))
            {
                LoseFrom(batch);
            }
        }

        for (var live = _liveBatches; live != 0; live &= live - 1)
        {
            // R2: the living master decides now; what has not all votes is aborted.
            var batch = Lowest(live);
            if (_isGlobal[batch] && !_decided[batch] && Has(_batchWorkers[batch], worker))
            {
                LoseFrom(batch);
            }
        }

        var inDoubt = 0UL;
        var lostActs = ActsLostWith(worker, ref inDoubt);
        for (var actors = ActorsOn(worker); actors != 0; actors &= actors - 1)
        {
            var actor = Lowest((ulong)actors);
            _scheduled[actor] = 0;
            _touches[actor] = 0;
            _waiters[actor] = 0;
            _waitsFirst[actor] = 0;
            _waitersForWrite[actor] = 0;
            _lockQueueLength[actor] = 0;
            _sharedHolders[actor] = 0;
            _exclusiveHolder[actor] = -1;
        }

        if (_workers == 1)
        {
            ResetUndo();
        }

        if (_byDependency && _workers > 1)
        {
            LoseWithWorker(worker, lostActs);
        }
        else
        {
            Lose(worker, lostActs);
        }

        ReadBack(worker, inDoubt);
    }

    private void TruncateLog(int log)
    {
        // The group in flight may have reached the log, or not.
        if (_inFlight[log] != 0 && _random.OneIn(2))
        {
            _durable[log] = _inFlight[log];
        }

        _inFlight[log] = 0;
        _logLength[log] = _durable[log];
    }

    private ulong ActsLostWith(int worker, ref ulong inDoubt)
    {
        var lost = 0UL;
        for (var acts = _allActs; acts != 0; acts &= acts - 1)
        {
            var attempt = Lowest(acts);
            var root = RootWorker(attempt);
            var hasRecord = IsDurable(worker, _actRecord[attempt * W + worker]);
            if (_committed[attempt])
            {
                if (root == worker && !hasRecord)
                {
                    lost |= Bit(attempt);
                }
                else if (Has(_decisionPending[attempt], worker) && hasRecord)
                {
                    inDoubt |= Bit(attempt);
                }
            }
            else if (_dead[attempt])
            {
                _endPending[attempt] &= ~ActorsOn(worker);
                if (_clientState[_client[attempt]] == ClientState.Running)
                {
                    RunAgain(attempt);
                }

                ForgetWhenOver(attempt);
            }
            else if (root != worker && hasRecord)
            {
                inDoubt |= Bit(attempt);
            }
            else if (root == worker || (_visited[attempt] & ActorsOn(worker)) != 0)
            {
                lost |= Bit(attempt);
            }
        }

        return lost;
    }

    /// <summary>The worker's actors as its log has them; ACTs in doubt have their places and locks again before anything opens (H2).</summary>
    private void ReadBack(int worker, ulong inDoubt)
    {
        for (var actors = ActorsOn(worker); actors != 0; actors &= actors - 1)
        {
            var actor = Lowest((ulong)actors);
            ReadBack(worker, actor);
            for (var rest = inDoubt; rest != 0; rest &= rest - 1)
            {
                Reinstate(actor, Lowest(rest));
            }

            _closed[worker] |= _scheduled[actor] != 0;
        }
    }

    private void ReadBack(int worker, int actor)
    {
        _current[actor] = actor;
        for (var i = 0; i < _durable[worker]; i++)
        {
            var record = worker * MaxRecords + i;
            if ((Record)_logKind[record] != Record.MovedIn)
            {
                Replay(worker, actor, (Record)_logKind[record], _logSubject[record]);
            }
            else if (_logSubject[record] == actor && _logSet[record] != 0)
            {
                _current[actor] = (int)_logSet[record] - 1;
            }
        }
    }

    private void Replay(int worker, int actor, Record kind, int subject)
    {
        if (kind is Record.ActCommitted or Record.ActPrepared)
        {
            var isOver = _committed[subject] && !Has(_decisionPending[subject], worker);
            if (isOver && !_aborted[subject] && Has(_wrote[subject] & _visitedAt[subject * W + worker], actor))
            {
                CheckVersion(actor, _lastNode[subject * A + actor]);
                _current[actor] = _lastNode[subject * A + actor];
            }

            return;
        }

        if (kind == Record.Components)
        {
            ReplayComponents(worker, actor, subject);
            return;
        }

        ReplayBatch(worker, actor, subject);
    }

    private void ReplayBatch(int worker, int actor, int subject)
    {
        if (Has(_takenAt[subject], worker) || !Has(_batchActorsAt[subject * W + worker], actor))
        {
            return;
        }

        // The master answers when its decision is durable; until then the batch is in doubt here, and nothing opens.
        var isInDoubt = !Has(_finalAt[subject], worker);
        if (isInDoubt && Has(_batchActors[subject], actor))
        {
            Schedule(actor, BatchEntry(subject));
        }

        if (_undoPossible && _workers == 1)
        {
            // The record holds what the actors' completions carried.
            var state = _statesIn[subject * A + actor];
            if (Has(_batchActors[subject], actor) && state >= 0)
            {
                CheckVersion(actor, state);
                _current[actor] = state;
            }

            return;
        }

        CheckVersion(actor, StateBehind(_members[subject], actor));
        for (var members = _members[subject]; members != 0; members &= members - 1)
        {
            var attempt = Lowest(members);
            if (!_aborted[attempt] && Has(_wrote[attempt], actor))
            {
                Reapply(actor, attempt, isInDoubt);
            }
        }
    }

    private void Reapply(int actor, int attempt, bool isInDoubt)
    {
        if (isInDoubt)
        {
            var touch = actor * TouchCapacity + _touches[actor]++;
            _touchAttempt[touch] = attempt;
            _touchBefore[touch] = _current[actor];
        }

        _current[actor] = _lastNode[attempt * A + actor];
    }

    private void Reinstate(int actor, int attempt)
    {
        var wroteHere = Has(WorkersOf(_wrote[attempt]), _owner[actor]);
        var isReleased = !wroteHere && Is(ModelVariant.CrashReleasesReaders);
        if (_dead[attempt] || !Has(_visited[attempt], actor) || isReleased)
        {
            return;
        }

        Schedule(actor, ActEntry(attempt));
        if (!Has(_wrote[attempt], actor))
        {
            _sharedHolders[actor] |= Bit(attempt);
            return;
        }

        _exclusiveHolder[actor] = attempt;
        Reapply(actor, attempt, isInDoubt: true);
    }

    private void OfferWorkers()
    {
        for (var worker = 0; worker < _workers; worker++)
        {
            if (!_closed[worker])
            {
                continue;
            }

            var isInDoubt = false;
            var mayAsk = false;
            for (var actors = ActorsOn(worker); actors != 0; actors &= actors - 1)
            {
                var actor = Lowest((ulong)actors);
                for (var i = 0; i < _scheduled[actor]; i++)
                {
                    var entry = _schedule[actor * ScheduleCapacity + i];
                    isInDoubt = true;
                    mayAsk |= (entry & 1) != 0 && !_committed[entry >> 1] && !_dead[entry >> 1];
                }
            }

            if (!isInDoubt)
            {
                Offer(Kind.OpenWorker, worker);
            }
            else if (mayAsk)
            {
                Offer(Kind.AskRoot, worker);
            }
        }
    }

    private void OpenWorker(int worker)
    {
        _closed[worker] = false;
        Say($"Nothing is in doubt on worker {worker + 1} any more: it opens.");
    }

    private void AskRoot(int worker)
    {
        for (var live = _liveActs; live != 0; live &= live - 1)
        {
            var attempt = Lowest(live);
            if ((_visited[attempt] & ActorsOn(worker)) != 0)
            {
                Kill(attempt, $"worker {worker + 1} asks, and not all votes are in");
            }
        }
    }

    private void CrashMaster()
    {
        _masterCrashes++;
        TruncateLog(Master);
        Say("The master crashes; a new one reads the decisions: those that are there are commits, the others aborts.");
        StartLoss();
        for (var batch = 0; batch < _batches; batch++)
        {
            if (!_isGlobal[batch] || _lost[batch])
            {
                continue;
            }

            if (_decided[batch] && !IsDurable(Master, _decisionRecord[batch]))
            {
                _decided[batch] = false;
                if (_finalAt[batch] != 0)
                {
                    Fail(ModelVerdict.BrokenInvariant, $"The decision on batch {batch} is gone, but worker {Lowest((ulong)_finalAt[batch]) + 1} has taken it for final (L2).");
                    return;
                }
            }

            if (!_decided[batch])
            {
                LoseFrom(batch);
            }
        }

        if (_byDependency)
        {
            TakeUndecided();
        }
        else if (_lowestGlobalLost != int.MaxValue)
        {
            Lose(crashed: -1, lostActs: 0);
        }
    }
}
