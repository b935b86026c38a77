namespace Snapper.RuleModel;

/// <summary>Commit by dependency (D1-D8): components, when they are final, what goes with a taken one.</summary>
internal sealed partial class RuleModel
{
    private readonly ulong[] _logSet = new ulong[(W + 1) * MaxRecords];
    private long _aheadOfBatches;
    private long _aheadOfParts;
    private long _duringUndos;
    private ulong _failedBatches;
    private int _waitingClients;

    /// <summary>Commits since the model was made that the rules by prefix would have held back.</summary>
    public CommitsAhead Ahead => new(_aheadOfBatches, _aheadOfParts, _duringUndos);

    private void ResetDependency()
    {
        // Methods of some PACTs wait in a run; what they keep others from is what these rules are about.
        _waitingClients = _byDependency ? (int)(_random.Next() & _random.Next()) & 0xFF : 0;
        _failedBatches = 0;
    }

    private bool Waits(int step)
    {
        var isOfMethod = (Kind)(step >> 16) is Kind.PactOperation or Kind.PactReturns;
        return isOfMethod && Has(_waitingClients, _client[(step >> 8) & 0xFF]);
    }

    /// <summary>
    /// D1: the classes of "shares a declared actor", closed transitively. They share the number of their batch.
    /// </summary>
    private void FormComponents(ulong members, int worker)
    {
        var bid = _localCount[worker];
        for (var rest = members; rest != 0;)
        {
            var component = rest & (0 - rest);
            var actors = ScriptOf(Lowest(component)).Declared;
            for (var grows = true; grows;)
            {
                grows = false;
                for (var others = rest & ~component; others != 0; others &= others - 1)
                {
                    var other = Lowest(others);
                    if ((ScriptOf(other).Declared & actors) != 0)
                    {
                        component |= Bit(other);
                        actors |= ScriptOf(other).Declared;
                        grows = true;
                    }
                }
            }

            rest &= ~component;
            var batch = NewBatch(component, isGlobal: false);
            if (batch < 0)
            {
                return;
            }

            Say($"Worker {worker + 1} numbers component {batch} of batch {bid} with {Names(component)}.");
            Append(batch, worker);
            _bid[batch * W + worker] = bid;
        }
    }

    /// <summary>D2: everything before it on its actors is final, and every ACT placed before it has ended.</summary>
    private bool MayBeFinal(int batch, int worker) => IsNextOnItsActors(batch, worker, prepares: false);

    /// <summary>D7: parts in their order; on its own actors everything before it is final or a prepared part.</summary>
    private bool MayPrepare(int batch, int worker)
    {
        var position = _order[batch * W + worker];
        for (var i = _orderHead[worker]; i < position; i++)
        {
            var earlier = _localOrder[worker * MaxBatches + i];
            var isOpen = _isGlobal[earlier] && !Has(_finalAt[earlier] | _preparedAt[earlier], worker);
            if (isOpen && !Is(ModelVariant.PartsPreparedOutOfOrder))
            {
                return false;
            }
        }

        return IsNextOnItsActors(batch, worker, prepares: true);
    }

    /// <summary>It is placed on its actors, and waits for nothing that is before it there.</summary>
    private bool IsNextOnItsActors(int batch, int worker, bool prepares)
    {
        for (var actors = _batchActors[batch] & ActorsOn(worker); actors != 0; actors &= actors - 1)
        {
            var actor = Lowest((ulong)actors);
            if (!Has(_subPlaced[batch], actor))
            {
                return false;
            }

            // What is final, and ACTs that have ended, have left the schedule.
            for (var i = 0; i < _scheduled[actor]; i++)
            {
                var entry = _schedule[actor * ScheduleCapacity + i];
                if (entry == BatchEntry(batch))
                {
                    break;
                }

                if (!(prepares ? PrepareIgnores(entry, worker) : FinalIgnores(entry, worker)))
                {
                    return false;
                }
            }
        }

        return true;
    }

    /// <summary>Nothing, as the rules are written.</summary>
    private bool FinalIgnores(int entry, int worker) =>
        Is(ModelVariant.FinalWithoutTheChain)
        || (Is(ModelVariant.LocalIgnoresPreparedParts) && IsPreparedPart(entry, worker));

    private bool PrepareIgnores(int entry, int worker) =>
        IsPreparedPart(entry, worker) || (Is(ModelVariant.PartsPreparedOutOfOrder) && IsPart(entry));

    private bool IsPart(int entry) => (entry & 1) == 0 && _isGlobal[entry >> 1];

    private bool IsPreparedPart(int entry, int worker) =>
        IsPart(entry) && Has(_preparedAt[entry >> 1], worker);

    /// <summary>D3: one record holds any of the components that are final now, or become so by each other.</summary>
    private void QueueComponents(int first, int worker)
    {
        var set = 0UL;
        var next = first;
        do
        {
            // A7: an emptied one passes its turn without a record.
            set |= _members[next] != 0 ? Bit(next) : 0;
            CountAhead(next, worker);
            BecomesFinal(next, worker);
            next = AnyThatMayBeFinal(worker);
        }
        while (next >= 0 && _random.OneIn(2));

        if (set == 0)
        {
            Say($"Worker {worker + 1}: component {first}, which is empty, is final.");
            return;
        }

        var record = Queue(worker, Record.Components, _logLength[worker]);
        if (record < 0)
        {
            return;
        }

        _logSet[worker * MaxRecords + record] = set;
        for (var rest = set; rest != 0; rest &= rest - 1)
        {
            _batchRecord[Lowest(rest) * W + worker] = record;
            Say($"Worker {worker + 1} queues component {Lowest(rest)} in record {record}: it is final.");
        }
    }

    private int AnyThatMayBeFinal(int worker)
    {
        var found = -1;
        var count = 0;
        for (var live = _liveBatches; live != 0; live &= live - 1)
        {
            var batch = Lowest(live);
            var isHere = !_isGlobal[batch] && _batchWorkers[batch] == 1 << worker;
            if (isHere && MayQueue(batch, worker) && _random.OneIn(++count))
            {
                found = batch;
            }
        }

        return found;
    }

    private void CountAhead(int batch, int worker)
    {
        if (_members[batch] == 0)
        {
            return;
        }

        var (isAhead, isAheadOfPart) = (false, false);
        for (var i = _orderHead[worker]; i < _order[batch * W + worker]; i++)
        {
            var earlier = _localOrder[worker * MaxBatches + i];
            var isOpen = !Has(_finalAt[earlier], worker) && _bid[earlier * W + worker] < _bid[batch * W + worker];
            isAhead |= isOpen;
            isAheadOfPart |= isOpen && _isGlobal[earlier];
        }

        _aheadOfBatches += isAhead ? 1 : 0;
        _aheadOfParts += isAheadOfPart ? 1 : 0;
        CountDuringUndo();
    }

    private void CountDuringUndo() =>
        _duringUndos += _byDependency && (_undoRuns || (_sentToMaster | _takenByMaster) != 0) ? 1 : 0;

    /// <summary>Within a record the changes of an actor are folded in the order of its chain.</summary>
    private void ReplayComponents(int worker, int actor, int record)
    {
        var set = _logSet[worker * MaxRecords + record];
        while (set != 0)
        {
            var next = Is(ModelVariant.RecordIgnoresTheChain) ? System.Numerics.BitOperations.Log2(set) : Lowest(set);
            set &= ~Bit(next);
            ReplayBatch(worker, actor, next);
        }
    }

    /// <summary>L7: a change that is read back follows the one before it, or the versions have a gap.</summary>
    /// <param name="actor">The actor that is read back.</param>
    /// <param name="state">What a batch or an ACT leaves there; -1: nothing.</param>
    private void CheckVersion(int actor, int state)
    {
        if (!_byDependency || state < 0)
        {
            return;
        }

        var writer = _nodeWriter[state];
        var before = state;
        while (before >= 0 && _nodeWriter[before] >= 0 && IsOneChange(writer, _nodeWriter[before]))
        {
            before = _nodeParent[before];
        }

        if (before != _current[actor])
        {
            Fail(
                ModelVerdict.BrokenInvariant,
                $"The versions of {ActorName(actor)} have a gap in the log: "
                + $"what {Name(writer)} wrote does not follow what is before it.");
        }
    }

    private bool IsOneChange(int writer, int other) =>
        writer == other || (!_isAct[writer] && !_isAct[other] && _batchOf[writer] == _batchOf[other]);
}
