namespace Snapper.RuleModel;

/// <summary>What is lost together when a worker or the master crashes, or a PACT throws on one of several workers (A9). A loss with its resolution is one step.</summary>
internal sealed partial class RuleModel
{
    private readonly int[] _lostFrom = new int[W];
    private int _lowestGlobalLost;
    private int _crashes;
    private int _masterCrashes;

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
        _failedBatches = 0;
        _lowestGlobalLost = int.MaxValue;
    }

    private bool LoseFrom(int batch)
    {
        _failedBatches |= Bit(batch);
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
            lostActs |= ActsBehind(lost, (1 << _actors) - 1);
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

        LoseActs(lostActs, attempts);
    }

    private void LoseActs(ulong lostActs, ulong attempts)
    {
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

    private ulong ActsBehind(ulong lost, int actors)
    {
        var acts = 0UL;
        for (; actors != 0; actors &= actors - 1)
        {
            var actor = Lowest((ulong)actors);
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
        var elsewhere = _finalAt[batch] & ~_takenAt[batch] & ~(crashed >= 0 ? 1 << crashed : 0);
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
        LeaveTheChains(batch, (1 << _actors) - 1);
        _sentToMaster &= ~Bit(batch);
        _takenByMaster &= ~Bit(batch);
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
    private void LeaveTheChains(int batch, int actors)
    {
        for (; actors != 0; actors &= actors - 1)
        {
            var actor = Lowest((ulong)actors);
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
}
