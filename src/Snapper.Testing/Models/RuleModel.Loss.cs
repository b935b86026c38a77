namespace Snapper.Testing.Models;

/// <summary>What is lost together: crashes of workers and of the master, and PACTs that throw on several workers (A9, R2, R3).</summary>
/// <remarks>A loss with its resolution is one step here, and so is reading a log back. What is in doubt stays so: its worker opens when it is resolved (H2).</remarks>
internal sealed partial class RuleModel
{
    private readonly int[] _lostFrom = new int[W];
    private int _lowestGlobalLost;
    private int _crashes;
    private int _masterCrashes;

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

    /// <summary>A4 across workers: the whole batch goes, and what is behind it.</summary>
    private void LoseBatchesFrom(int batch)
    {
        StartLoss();
        LoseFrom(batch);
        Lose(crashed: -1, lostActs: 0);
    }

    private void StartLoss()
    {
        Array.Fill(_lostFrom, int.MaxValue);
        _lowestGlobalLost = int.MaxValue;
    }

    private bool LoseFrom(int batch)
    {
        var grows = false;
        for (var workers = _batchWorkers[batch] & ~_toArrive[batch]; workers != 0; workers &= workers - 1)
        {
            var worker = Lowest((ulong)workers);
            if (_order[batch * W + worker] < _lostFrom[worker])
            {
                _lostFrom[worker] = _order[batch * W + worker];
                grows = true;
            }
        }

        if (_isGlobal[batch] && batch < _lowestGlobalLost)
        {
            _lowestGlobalLost = batch;
            grows = true;
        }

        return grows;
    }

    private bool Survives(int batch, int worker, int crashed)
    {
        if (_lost[batch] || _decided[batch])
        {
            return true;
        }

        return Has(_finalAt[batch], worker)
            && (worker != crashed || _members[batch] == 0 || IsDurable(worker, _batchRecord[batch * W + worker]));
    }

    /// <summary>A9: every worker loses what is not final from its lowest lost batch on, no global batch from the lowest lost one on is decided; to the fixpoint.</summary>
    private ulong LostBatches(int crashed)
    {
        while (true)
        {
            var lost = 0UL;
            for (var worker = 0; worker < _workers; worker++)
            {
                for (var i = _lostFrom[worker]; i < _localCount[worker]; i++)
                {
                    var batch = _localOrder[worker * MaxBatches + i];
                    lost |= Survives(batch, worker, crashed) ? 0 : Bit(batch);
                }
            }

            for (var live = _liveBatches; live != 0; live &= live - 1)
            {
                var batch = Lowest(live);
                lost |= _isGlobal[batch] && !_decided[batch] && batch >= _lowestGlobalLost ? Bit(batch) : 0;
            }

            var grows = false;
            for (var rest = Is(ModelVariant.LossIsNotClosed) ? 0 : lost; rest != 0; rest &= rest - 1)
            {
                grows |= LoseFrom(Lowest(rest));
            }

            if (!grows)
            {
                return lost;
            }
        }
    }

    private void Lose(int crashed, ulong lostActs)
    {
        var lost = LostBatches(crashed);
        if (!Is(ModelVariant.ActsBehindALossGoOn))
        {
            lostActs |= ActsBehind(lost);
        }

        var attempts = lostActs;
        for (var rest = lost; rest != 0; rest &= rest - 1)
        {
            attempts |= _members[Lowest(rest)];
        }

        for (var actor = 0; actor < _actors; actor++)
        {
            Restore(actor, attempts);
        }

        for (var rest = lost; rest != 0; rest &= rest - 1)
        {
            LoseBatch(Lowest(rest), crashed);
        }

        for (var rest = lostActs; rest != 0; rest &= rest - 1)
        {
            var attempt = Lowest(rest);
            _dead[attempt] = true;
            _committed[attempt] = false;
            _endPending[attempt] = 0;
            _decisionPending[attempt] = 0;
            StopWaiting(attempt);
            RunAgain(attempt);
            ForgetWhenOver(attempt);
        }

        if (attempts != 0)
        {
            Say($"Lost, to be run again: {Names(attempts)}.");
        }

        for (var rest = lostActs; rest != 0; rest &= rest - 1)
        {
            ReleaseEverywhere(Lowest(rest), placesToo: true);
        }
    }

    private ulong ActsBehind(ulong lost)
    {
        var acts = 0UL;
        for (var actor = 0; actor < _actors; actor++)
        {
            var isBehind = false;
            for (var i = 0; i < _scheduled[actor]; i++)
            {
                var entry = _schedule[actor * ScheduleCapacity + i];
                if ((entry & 1) == 0)
                {
                    isBehind |= Has(lost, entry >> 1);
                }
                else if (isBehind && !_dead[entry >> 1] && !_committed[entry >> 1])
                {
                    acts |= Bit(entry >> 1);
                }
            }
        }

        return acts;
    }

    private void LoseBatch(int batch, int crashed)
    {
        var elsewhere = _finalAt[batch] & ~(crashed >= 0 ? 1 << crashed : 0);
        if (elsewhere != 0)
        {
            Fail(ModelVerdict.BrokenInvariant, $"Batch {batch} is lost, but worker {Lowest((ulong)elsewhere) + 1} has taken it for final (L2).");
        }

        var members = _members[batch];
        _members[batch] = 0;
        _lost[batch] = true;
        _toArrive[batch] = 0;
        _subPending[batch] = 0;
        _subPlaced[batch] = _batchActors[batch];
        _livePacts &= ~members;
        LeaveTheChains(batch);
        for (var worker = 0; worker < _workers; worker++)
        {
            if (Has(_batchWorkers[batch], worker))
            {
                BecomesFinal(batch, worker);
            }
        }

        for (; members != 0; members &= members - 1)
        {
            RunAgain(Lowest(members));
        }
    }

    /// <summary>A7 keeps the nodes of emptied batches; this model, which loses them in one step, links their neighbours instead.</summary>
    private void LeaveTheChains(int batch)
    {
        for (var actor = 0; actor < _actors; actor++)
        {
            if (!Has(_batchActors[batch], actor))
            {
                continue;
            }

            var previous = _previousBatch[batch * A + actor];
            for (var live = _liveBatches; live != 0; live &= live - 1)
            {
                if (_previousBatch[Lowest(live) * A + actor] == batch)
                {
                    _previousBatch[Lowest(live) * A + actor] = previous;
                }
            }

            if (_lastBatch[actor] == batch)
            {
                _lastBatch[actor] = previous;
            }
        }
    }

    private void Crash(int worker)
    {
        _crashes++;
        TruncateLog(worker);
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
        for (var actor = worker; actor < _actors; actor += _workers)
        {
            _scheduled[actor] = 0;
            _touches[actor] = 0;
            _waiters[actor] = 0;
            _waitersForWrite[actor] = 0;
            _lockQueueLength[actor] = 0;
            _sharedHolders[actor] = 0;
            _exclusiveHolder[actor] = -1;
        }

        if (_workers == 1)
        {
            ResetUndo();
        }

        Lose(worker, lostActs);
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
        for (var actor = worker; actor < _actors; actor += _workers)
        {
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
            Replay(worker, actor, (Record)_logKind[worker * MaxRecords + i], _logSubject[worker * MaxRecords + i]);
        }
    }

    private void Replay(int worker, int actor, Record kind, int subject)
    {
        if (kind is Record.ActCommitted or Record.ActPrepared)
        {
            var isOver = _committed[subject] && !Has(_decisionPending[subject], worker);
            if (isOver && !_aborted[subject] && Has(_wrote[subject], actor))
            {
                _current[actor] = _lastNode[subject * A + actor];
            }

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
                _current[actor] = state;
            }

            return;
        }

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
        if (_dead[attempt] || !Has(_visited[attempt], actor) || (Is(ModelVariant.CrashReleasesReaders) && (WorkersOf(_wrote[attempt]) & (1 << _scenario.OwnerOf(actor))) == 0))
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
            for (var actor = worker; actor < _actors; actor += _workers)
            {
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

        if (_lowestGlobalLost != int.MaxValue)
        {
            Lose(crashed: -1, lostActs: 0);
        }
    }
}
