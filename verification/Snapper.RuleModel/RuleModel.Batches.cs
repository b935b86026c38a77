namespace Snapper.RuleModel;

/// <summary>Batches: numbering, arrival at actors, chains (H1).</summary>
internal sealed partial class RuleModel
{
    private readonly bool[] _isGlobal = new bool[MaxBatches];
    private readonly int[] _batchWorkers = new int[MaxBatches];
    private readonly int[] _batchActors = new int[MaxBatches];
    private readonly ulong[] _members = new ulong[MaxBatches];
    private readonly int[] _toArrive = new int[MaxBatches];
    private readonly int[] _subPending = new int[MaxBatches];
    private readonly int[] _subArrived = new int[MaxBatches];
    private readonly int[] _subPlaced = new int[MaxBatches];
    private readonly int[] _previousBatch = new int[MaxBatches * A];
    private readonly int[] _order = new int[MaxBatches * W];
    private readonly int[] _bid = new int[MaxBatches * W];
    private readonly int[] _localOrder = new int[W * MaxBatches];
    private readonly int[] _localCount = new int[W];
    private readonly int[] _lastBatch = new int[A];
    private readonly int[] _batchOf = new int[MaxAttempts];
    private readonly int[] _over = new int[MaxAttempts];
    private readonly int[] _endedPending = new int[MaxAttempts];
    private readonly bool[] _failed = new bool[MaxAttempts];
    private readonly bool[] _removed = new bool[MaxAttempts];
    private int _batches;
    private ulong _liveBatches;
    private ulong _livePacts;

    private void ResetBatches()
    {
        _batches = 0;
        _liveBatches = 0;
        Array.Clear(_localCount);
        Array.Clear(_orderHead);
        Array.Fill(_lastBatch, -1);
    }

    /// <summary>Numbers waiting PACTs: some of them, as the moment of closing decides.</summary>
    private void FormBatch(int worker, bool isGlobal)
    {
        var members = 0UL;
        for (var client = 0; client < _scenario.Count; client++)
        {
            var script = _scenario.Scripts[client];
            if (_clientState[client] != ClientState.Waiting || script.IsAct || TouchesFrozen(script))
            {
                continue;
            }

            var workers = WorkersOf(script.Declared);
            var takes = (workers & (workers - 1)) != 0 ? isGlobal : !isGlobal && workers == 1 << worker;
            if (takes && (members == 0 || !_random.OneIn(3)))
            {
                var attempt = NewAttempt(client, isAct: false);
                if (attempt < 0)
                {
                    return;
                }

                members |= Bit(attempt);
            }
        }

        if (_byDependency && !isGlobal)
        {
            FormComponents(members, worker);
            return;
        }

        var batch = NewBatch(members, isGlobal);
        if (batch >= 0)
        {
            Say($"{Former(worker, isGlobal)} numbers batch {batch} with {Names(members)}.");
            if (!isGlobal)
            {
                Append(batch, worker);
            }
        }
    }

    private static string Former(int worker, bool isGlobal) => isGlobal ? "The master" : $"Worker {worker + 1}";

    /// <returns>The batch, or component, of these PACTs; -1 when the table is full.</returns>
    private int NewBatch(ulong members, bool isGlobal)
    {
        if (_batches == MaxBatches)
        {
            _exhausted = true;
            return -1;
        }

        var batch = _batches++;
        var actors = 0;
        for (var rest = members; rest != 0; rest &= rest - 1)
        {
            _batchOf[Lowest(rest)] = batch;
            actors |= ScriptOf(Lowest(rest)).Declared;
        }

        _isGlobal[batch] = isGlobal;
        _members[batch] = members;
        _livePacts |= members;
        _batchActors[batch] = actors;
        _batchWorkers[batch] = WorkersOf(actors);
        _toArrive[batch] = isGlobal ? _batchWorkers[batch] : 0;
        _subPending[batch] = 0;
        _subArrived[batch] = 0;
        _subPlaced[batch] = 0;
        Array.Fill(_previousBatch, -1, batch * A, A);
        Array.Clear(_batchActorsAt, batch * W, W);
        ResetCommit(batch);
        _liveBatches |= Bit(batch);
        return batch;
    }

    private void GlobalArrives(int batch, int worker)
    {
        _toArrive[batch] &= ~(1 << worker);
        Say($"Global batch {batch} takes its place in the order of worker {worker + 1}.");
        Append(batch, worker);
    }

    /// <summary>The token: the batch gets its place in the worker's order, and its predecessor on every actor.</summary>
    private void Append(int batch, int worker)
    {
        _order[batch * W + worker] = _localCount[worker];
        _bid[batch * W + worker] = _localCount[worker];
        _localOrder[worker * MaxBatches + _localCount[worker]++] = batch;
        for (var actor = 0; actor < _actors; actor++)
        {
            if (Has(_batchActors[batch], actor) && _owner[actor] == worker)
            {
                _previousBatch[batch * A + actor] = _lastBatch[actor];
                _lastBatch[actor] = batch;
                _batchActorsAt[batch * W + worker] |= 1 << actor;
                _subPending[batch] |= 1 << actor;
            }
        }
    }

    private void SubBatchArrives(int batch, int actor)
    {
        _subPending[batch] &= ~(1 << actor);
        _subArrived[batch] |= 1 << actor;
        Say($"Batch {batch} arrives at {ActorName(actor)}.");

        Place(batch, actor);
    }

    /// <summary>A sub-batch is scheduled behind its predecessor; it waits while that one has not arrived.</summary>
    private void Place(int batch, int actor)
    {
        var previous = _previousBatch[batch * A + actor];
        if (previous >= 0 && !Has(_subPlaced[previous], actor) && !Is(ModelVariant.BatchOvertakesMissingPredecessor))
        {
            return;
        }

        _subPlaced[batch] |= 1 << actor;
        if (!(Is(ModelVariant.EmptiedBatchLeavesTheChain) && _members[batch] == 0))
        {
            Schedule(actor, BatchEntry(batch));
        }

        if (!Is(ModelVariant.TestOnlyAtVisits))
        {
            JudgeActsOn(actor);
        }

        for (var next = _liveBatches; next != 0; next &= next - 1)
        {
            var successor = Lowest(next);
            if (Has(_subArrived[successor], actor) && !Has(_subPlaced[successor], actor) && _previousBatch[successor * A + actor] == batch)
            {
                Place(successor, actor);
            }
        }
    }

    private string Names(ulong attempts)
    {
        var names = new List<string>();
        for (; attempts != 0; attempts &= attempts - 1)
        {
            names.Add(Name(Lowest(attempts)));
        }

        return names.Count == 0 ? "nothing" : string.Join(", ", names);
    }
}
