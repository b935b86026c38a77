namespace Snapper.RuleModel;

/// <summary>
/// D8 over several workers in messages: the worker where a PACT throws takes back what depends on it there, the master
/// receives the lowest lost part, each other worker takes back its own. A batch runs again when all of them have.
/// </summary>
internal sealed partial class RuleModel
{
    private readonly int[] _takenAt = new int[MaxBatches];
    private ulong _sentToMaster;
    private ulong _takenByMaster;

    private void ResetTaking()
    {
        _sentToMaster = 0;
        _takenByMaster = 0;
    }

    private void OfferTaking()
    {
        if (_sentToMaster != 0)
        {
            Offer(Kind.LossReachesMaster, 0);
        }

        for (var worker = 0; worker < _workers; worker++)
        {
            // Also one that is closed: for what is in doubt there, this is the answer (R2).
            if (PartsToTake(worker) != 0)
            {
                Offer(Kind.LossReachesWorker, worker);
            }
        }
    }

    /// <summary>The master numbers nothing, and decides nothing of what it takes back, until all have.</summary>
    private bool IsMasterUndoing => _takenByMaster != 0;

    private ulong PartsToTake(int worker)
    {
        var parts = 0UL;
        for (var rest = _takenByMaster; rest != 0; rest &= rest - 1)
        {
            var batch = Lowest(rest);
            parts |= Has(_batchWorkers[batch] & ~_takenAt[batch], worker) ? Bit(batch) : 0;
        }

        return parts;
    }

    /// <summary>The PACT of a batch has thrown on a worker: what depends on it there goes at once.</summary>
    private void TakeFrom(int batch, int worker)
    {
        var isKnown = _isGlobal[batch] && (Has(_takenAt[batch], worker) || Has(_takenByMaster, batch));
        if (!isKnown)
        {
            TakeBack(Bit(batch), worker);
        }
    }

    private void LossReachesMaster()
    {
        var lowest = Lowest(_sentToMaster);
        Say($"The master receives that global batch {lowest} is lost, and what is behind it.");
        var sent = _sentToMaster;
        _sentToMaster = 0;
        for (var live = _liveBatches; live != 0; live &= live - 1)
        {
            var batch = Lowest(live);
            var goes = _isGlobal[batch] && batch >= lowest && !_lost[batch];
            if (!goes || (Is(ModelVariant.LaterPartsStay) && !Has(sent, batch)))
            {
                continue;
            }

            if (_decided[batch])
            {
                Fail(ModelVerdict.BrokenInvariant, $"Batch {batch} is decided, and must be undone (D8).");
                return;
            }

            _takenByMaster |= Bit(batch);
        }

        EndTaking();
    }

    private void LossReachesWorker(int worker)
    {
        Say($"Worker {worker + 1} receives what the master takes back.");
        TakeBack(PartsToTake(worker), worker);
    }

    /// <summary>One worker takes back these and what depends on them there.</summary>
    private void TakeBack(ulong failed, int worker)
    {
        var taken = failed;
        for (var open = taken; open != 0;)
        {
            var more = 0UL;
            for (var rest = open; rest != 0; rest &= rest - 1)
            {
                more |= TakenWith(Lowest(rest), worker);
            }

            open = more & ~taken;
            taken |= open;
        }

        var actors = ActorsOn(worker);
        var acts = Is(ModelVariant.ActsBehindALossGoOn) ? 0 : ActsBehind(taken, actors);
        var attempts = acts;
        for (var rest = taken; rest != 0; rest &= rest - 1)
        {
            attempts |= _members[Lowest(rest)];
        }

        for (var rest = actors; rest != 0; rest &= rest - 1)
        {
            Restore(Lowest((ulong)rest), attempts);
        }

        Say($"Worker {worker + 1} takes back {Names(attempts)}.");
        for (var rest = taken; rest != 0; rest &= rest - 1)
        {
            TakeBackOne(Lowest(rest), worker);
        }

        for (var rest = acts; rest != 0; rest &= rest - 1)
        {
            var act = Lowest(rest);
            Kill(act, "what it is behind is taken back");
            _endPending[act] &= ~actors;
            for (var visited = _visited[act] & actors; visited != 0; visited &= visited - 1)
            {
                Leave(act, Lowest((ulong)visited));
            }

            ForgetWhenOver(act);
        }

        EndTaking();
    }

    /// <summary>What goes on this worker with a taken batch.</summary>
    private ulong TakenWith(int batch, int worker)
    {
        if (Has(_toArrive[batch] | _takenAt[batch], worker))
        {
            return 0;
        }

        var more = 0UL;
        for (var i = _order[batch * W + worker] + 1; i < _localCount[worker]; i++)
        {
            var other = _localOrder[worker * MaxBatches + i];
            var depends = (_batchActors[batch] & _batchActors[other] & ActorsOn(worker)) != 0;
            depends = Is(ModelVariant.UndoBySuffix) || (depends && !Is(ModelVariant.DependentsGoOn))
                || (_isGlobal[batch] && _isGlobal[other] && !Is(ModelVariant.LaterPartsStay));
            more |= depends && !Has(_finalAt[other], worker) ? Bit(other) : 0;
        }

        return more;
    }

    /// <summary>
    /// A local component ends here; a part leaves, and its batch ends when all its workers have taken it back.
    /// </summary>
    private void TakeBackOne(int batch, int worker)
    {
        if (!_isGlobal[batch])
        {
            LoseBatch(batch, crashed: -1);
            return;
        }

        if (!Has(_takenByMaster, batch))
        {
            _sentToMaster |= Bit(batch);
        }

        _takenAt[batch] |= 1 << worker;
        _toArrive[batch] &= ~(1 << worker);
        _subPending[batch] &= ~ActorsOn(worker);
        _subPlaced[batch] |= _batchActors[batch] & ActorsOn(worker);
        LeaveTheChains(batch, ActorsOn(worker));
        BecomesFinal(batch, worker);
        _liveBatches |= Bit(batch);
    }

    /// <summary>A worker crashed: what did not survive is lost there, its rest by way of the master.</summary>
    private void LoseWithWorker(int worker, ulong lostActs)
    {
        var attempts = lostActs;
        for (var rest = _failedBatches; rest != 0; rest &= rest - 1)
        {
            var batch = Lowest(rest);
            attempts |= _members[batch];
            if (!_isGlobal[batch])
            {
                LoseBatch(batch, worker);
            }
            else if (!_lost[batch])
            {
                _sentToMaster |= Bit(batch);
            }
        }

        if (_sentToMaster != 0)
        {
            LossReachesMaster();
        }

        for (var rest = PartsToTake(worker); rest != 0; rest &= rest - 1)
        {
            TakeBackOne(Lowest(rest), worker);
        }

        EndTaking();
        for (var actor = 0; actor < _actors; actor++)
        {
            Restore(actor, lostActs);
        }

        LoseActs(lostActs, attempts);
    }

    /// <summary>R3: a new master takes back what is not decided; the workers receive it one by one.</summary>
    private void TakeUndecided()
    {
        _sentToMaster = 0;
        for (var live = _liveBatches; live != 0; live &= live - 1)
        {
            var batch = Lowest(live);
            _takenByMaster |= _isGlobal[batch] && !_decided[batch] && !_lost[batch] ? Bit(batch) : 0;
        }

        EndTaking();
    }

    private void EndTaking()
    {
        for (var rest = _takenByMaster; rest != 0; rest &= rest - 1)
        {
            var batch = Lowest(rest);
            if (_takenAt[batch] == _batchWorkers[batch])
            {
                LoseBatch(batch, crashed: -1);
            }
        }
    }
}
