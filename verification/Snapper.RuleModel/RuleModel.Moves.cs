namespace Snapper.RuleModel;

/// <summary>Actors that move to another worker (M3-M6). What drains is the actor's own chain, not its worker.</summary>
internal sealed partial class RuleModel
{
    private readonly int[] _owner = new int[A];
    private readonly int[] _target = new int[A];
    private readonly int[] _movedIn = new int[A];
    private readonly int[] _rootOf = new int[MaxAttempts];
    private readonly int[] _batchActorsAt = new int[MaxBatches * W];
    private readonly int[] _visitedAt = new int[MaxAttempts * W];
    private int _movesLeft;

    private void ResetMoves()
    {
        for (var actor = 0; actor < _actors; actor++)
        {
            _owner[actor] = _scenario.OwnerOf(actor);
            _target[actor] = -1;
        }

        _movesLeft = _scenario.MayMove && _workers > 1 && _random.OneIn(2) ? 3 : 0;
    }

    /// <summary>M3: nothing of a frozen actor is numbered, and no ACT visits it.</summary>
    private bool TouchesFrozen(Script script)
    {
        for (var actors = script.Declared; actors != 0; actors &= actors - 1)
        {
            if (_target[Lowest((ulong)actors)] >= 0)
            {
                return true;
            }
        }

        return false;
    }

    private void OfferMoves()
    {
        for (var actor = 0; actor < _actors && _byDependency; actor++)
        {
            if (_target[actor] < 0)
            {
                if (_movesLeft > 0 && _stepCount > 0 && _random.OneIn(4) && IsDrained(actor))
                {
                    Offer(Kind.MoveStarts, actor, (_owner[actor] + 1 + _random.Next(_workers - 1)) % _workers);
                }
            }
            else if (IsDurable(_target[actor], _movedIn[actor]))
            {
                Offer(Kind.MoveEnds, actor);
            }
        }
    }

    /// <summary>M4, M5: every batch and ACT that touches it has ended, and its worker's queue is durable.</summary>
    private bool IsDrained(int actor)
    {
        var worker = _owner[actor];
        var isDurable = _logLength[worker] == _durable[worker] || Is(ModelVariant.MovesBeforeDurable);
        var touched = _scheduled[actor] != 0 || _closed[worker] || (_sentToMaster | _takenByMaster) != 0;
        for (var live = _liveBatches; live != 0; live &= live - 1)
        {
            touched |= Has(_batchActors[Lowest(live)], actor);
        }

        for (var live = _liveActs; live != 0; live &= live - 1)
        {
            touched |= Has(ScriptOf(Lowest(live)).Declared, actor);
        }

        return isDurable && !touched;
    }

    private void MoveStarts(int actor, int target)
    {
        _movesLeft--;
        _target[actor] = target;
        _movedIn[actor] = Queue(target, Record.MovedIn, actor);
        if (_movedIn[actor] >= 0)
        {
            _logSet[target * MaxRecords + _movedIn[actor]] = 0;
        }

        Say($"{ActorName(actor)} is frozen; its state is on its way to worker {target + 1}.");
    }

    /// <summary>M6: from here on the target owns it, and its record counts.</summary>
    private void MoveEnds(int actor)
    {
        var target = _target[actor];
        _logSet[target * MaxRecords + _movedIn[actor]] = (ulong)_current[actor] + 1;
        _owner[actor] = target;
        _target[actor] = -1;
        _lastBatch[actor] = -1;
        _touches[actor] = 0;
        Say($"{ActorName(actor)} is owned by worker {target + 1}.");
    }

    /// <summary>A worker that crashes cancels what it sends and receives; its record is ignored.</summary>
    private void CancelMoves(int worker)
    {
        for (var actor = 0; actor < _actors; actor++)
        {
            if (_owner[actor] == worker || _target[actor] == worker)
            {
                _target[actor] = -1;
            }
        }
    }
}
