namespace Snapper.RuleModel;

/// <summary>What an undo does on the actors that hear of it (A5).</summary>
internal sealed partial class RuleModel
{
    private void UndoArrives(int actor)
    {
        var attempts = _undoPending[actor];
        _undoPending[actor] = 0;
        _undoKnown[actor] = true;
        _removedAt[actor] |= attempts;
        Say($"{ActorName(actor)} is told to undo {Names(attempts)}.");

        var writers = 0UL;
        for (var rest = attempts; rest != 0; rest &= rest - 1)
        {
            var attempt = Lowest(rest);
            writers |= Has(_wrote[attempt], actor) ? Bit(attempt) : 0;
        }

        var victims = Is(ModelVariant.UndoRestoresByPosition) ? RestoreByPosition(actor, attempts) : Restore(actor, attempts);
        for (var rest = attempts; rest != 0; rest &= rest - 1)
        {
            var attempt = Lowest(rest);
            if (_isAct[attempt])
            {
                Leave(attempt, actor);
            }
            else
            {
                _over[attempt] |= 1 << actor;
            }
        }

        _frozen[actor] = writers != 0 || _frozen[actor] || _freezeOnAnyUndo;
        if (Is(ModelVariant.VictimsOfFirstUndoOnly) && _isVictimRound)
        {
            return;
        }

        if (Is(ModelVariant.ReadersAreNoVictims))
        {
            victims = WritersOf(actor, victims);
        }

        if (Is(ModelVariant.MarkedReadersAreNoVictims))
        {
            victims = WithoutMarkedReaders(actor, victims);
        }

        if (victims != 0)
        {
            Say($"{ActorName(actor)} reports that {Names(victims)} saw what is undone.");
        }

        _isVictimRound = true;
        AddVictims(victims);
        _isVictimRound = _undoRuns;
    }

    private ulong WritersOf(int actor, ulong attempts)
    {
        var writers = 0UL;
        for (; attempts != 0; attempts &= attempts - 1)
        {
            writers |= Has(_wrote[Lowest(attempts)], actor) ? Bit(Lowest(attempts)) : 0;
        }

        return writers;
    }

    private ulong WithoutMarkedReaders(int actor, ulong attempts)
    {
        var marked = 0UL;
        for (var rest = attempts; rest != 0; rest &= rest - 1)
        {
            var attempt = Lowest(rest);
            marked |= !_isAct[attempt] && _marked[_client[attempt]] ? Bit(attempt) : 0;
        }

        return attempts & ~(marked & ~WritersOf(actor, marked));
    }

    /// <summary>The mistake of counting: as many writes as were removed are taken from the end, whoever made them.</summary>
    private ulong RestoreByPosition(int actor, ulong attempts)
    {
        var before = _current[actor];
        var writes = 0;
        for (var i = 0; i < _touches[actor]; i++)
        {
            var touch = actor * TouchCapacity + i;
            writes += Has(attempts, _touchAttempt[touch]) && _touchBefore[touch] >= 0 ? 1 : 0;
        }

        var victims = Restore(actor, attempts);
        for (; writes > 0 && _nodeParent[before] >= 0; writes--)
        {
            before = _nodeParent[before];
        }

        _current[actor] = before;
        return victims;
    }

    private void UndoDoneArrives(int actor)
    {
        _undoDonePending[actor] = false;
        _undoKnown[actor] = false;
        _frozen[actor] = false;
        for (var live = _liveBatches; live != 0; live &= live - 1)
        {
            _completionSent[Lowest(live)] &= ~(1 << actor);
        }

        Say($"{ActorName(actor)} hears that the undo is done.");
    }
}
