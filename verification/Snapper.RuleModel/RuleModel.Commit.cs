namespace Snapper.RuleModel;

/// <summary>How batches become final: completions, records in order, global decisions (L2-L4, R).</summary>
internal sealed partial class RuleModel
{
    private void OfferBatches()
    {
        var arriving = 0;
        var deciding = true;
        var hearing = 0;
        for (var live = _liveBatches; live != 0; live &= live - 1)
        {
            var batch = Lowest(live);
            for (var pending = _subPending[batch]; pending != 0; pending &= pending - 1)
            {
                var actor = Lowest((ulong)pending);
                if (!_closed[_owner[actor]])
                {
                    Offer(Kind.SubBatchArrives, batch, actor);
                }
            }

            if (_undoPossible && _workers == 1)
            {
                OfferCompletions(batch);
            }

            for (var workers = _batchWorkers[batch] & ~_finalAt[batch] & ~_toArrive[batch]; workers != 0; workers &= workers - 1)
            {
                var worker = Lowest((ulong)workers);
                if (!Has(_preparedAt[batch], worker) && !_closed[worker] && MayQueue(batch, worker))
                {
                    Offer(Kind.QueueBatch, batch, worker);
                }
            }

            if (_isGlobal[batch] && !_lost[batch])
            {
                OfferGlobal(batch, ref arriving, ref deciding, ref hearing);
            }
        }
    }

    /// <summary>Global batches arrive at a worker, are decided and become known in the order of their gbids.</summary>
    private void OfferGlobal(int batch, ref int arriving, ref bool deciding, ref int hearing)
    {
        for (var workers = _toArrive[batch] & ~arriving; workers != 0; workers &= workers - 1)
        {
            var worker = Lowest((ulong)workers);
            if (!_closed[worker])
            {
                Offer(Kind.GlobalArrives, batch, worker);
            }
        }

        arriving |= _toArrive[batch];
        if (!_decided[batch])
        {
            for (var workers = _preparedAt[batch] & ~_acknowledged[batch]; workers != 0; workers &= workers - 1)
            {
                var worker = Lowest((ulong)workers);
                if (IsDurable(worker, _batchRecord[batch * W + worker]) || Is(ModelVariant.AcknowledgesBeforeFlush))
                {
                    Offer(Kind.Acknowledge, batch, worker);
                }
            }

            var allIn = _acknowledged[batch] == _batchWorkers[batch] || (Is(ModelVariant.OneAcknowledgementIsEnough) && _acknowledged[batch] != 0);
            if (allIn && !Has(_takenByMaster, batch) && (deciding || Is(ModelVariant.DecidesOutOfOrder)))
            {
                Offer(Kind.Decide, batch);
            }

            deciding = false;
            return;
        }

        if (IsDurable(Master, _decisionRecord[batch]) || Is(ModelVariant.DecisionToldBeforeFlush))
        {
            for (var workers = _batchWorkers[batch] & ~_finalAt[batch] & ~hearing; workers != 0; workers &= workers - 1)
            {
                Offer(Kind.DecisionArrives, batch, Lowest((ulong)workers));
            }
        }

        hearing |= _batchWorkers[batch] & ~_finalAt[batch];
    }

    private void OfferCompletions(int batch)
    {
        for (var open = _batchActors[batch] & ~_completionSent[batch]; open != 0; open &= open - 1)
        {
            // The actor reports the moment it is through. While an undo that it has been told of, or will be, is not over
            // for it, the report carries too low a number.
            var actor = Lowest((ulong)open);
            if (Has(_subPlaced[batch], actor) && OpenTurns(batch, actor) == 0 && !_undoKnown[actor])
            {
                _completionSent[batch] |= 1 << actor;
                _completionFlying[batch] |= 1 << actor;
                _statesFlying[batch * A + actor] = StateBehind(_members[batch], actor);
                _completionStale[batch] &= ~(1 << actor);
                if (_undoPending[actor] != 0)
                {
                    _completionStale[batch] |= 1 << actor;
                }
            }
        }

        for (var flying = _completionFlying[batch]; flying != 0; flying &= flying - 1)
        {
            Offer(Kind.CompletionArrives, batch, Lowest((ulong)flying));
        }
    }

    private void CompletionArrives(int batch, int actor)
    {
        _completionFlying[batch] &= ~(1 << actor);
        if (!Has(_completionStale[batch], actor) || Is(ModelVariant.StaleCompletionsCount)
            || Is(ModelVariant.CompletionsCarryNoUndo))
        {
            _completionIn[batch] |= 1 << actor;
            _statesIn[batch * A + actor] = _statesFlying[batch * A + actor];
        }

        Say($"The coordinator hears that batch {batch} is complete on {ActorName(actor)}{(Has(_completionStale[batch], actor) ? ", as it was before the undo" : "")}.");
    }

    /// <summary>L4: what a batch leaves on an actor, or -1 if it writes nothing there: the last write of its members in tid order.</summary>
    private int StateBehind(ulong members, int actor)
    {
        var state = -1;
        for (; members != 0; members &= members - 1)
        {
            var attempt = Lowest(members);
            if (!_aborted[attempt] && Has(_wrote[attempt], actor) && !Has(_removedAt[actor], attempt))
            {
                state = _lastNode[attempt * A + actor];
            }
        }

        return state;
    }

    private bool IsComplete(int batch, int worker)
    {
        if (_undoPossible && _workers == 1)
        {
            return _completionIn[batch] == _batchActors[batch];
        }

        for (var actors = _batchActors[batch] & ActorsOn(worker); actors != 0; actors &= actors - 1)
        {
            var actor = Lowest((ulong)actors);
            if (!Has(_subPlaced[batch], actor) || OpenTurns(batch, actor) != 0)
            {
                return false;
            }
        }

        return true;
    }

    /// <summary>L2 for a local batch, L3 for the vote of a global one, A6 while an undo runs.</summary>
    private bool MayQueue(int batch, int worker)
    {
        if (_byDependency)
        {
            var mayGo = _isGlobal[batch] ? MayPrepare(batch, worker) : MayBeFinal(batch, worker);
            return mayGo && IsComplete(batch, worker);
        }

        var position = _order[batch * W + worker];
        for (var i = _orderHead[worker]; i < position; i++)
        {
            var earlier = _localOrder[worker * MaxBatches + i];
            if (Has(_finalAt[earlier], worker))
            {
                continue;
            }

            var isPrepared = _isGlobal[earlier] && (Has(_preparedAt[earlier], worker) || _decided[earlier]);
            var mayPass = _isGlobal[batch]
                ? isPrepared || (!_isGlobal[earlier] && Is(ModelVariant.PreparesBeforeEarlierLocal))
                : isPrepared && Is(ModelVariant.LocalIsFinalBeforeEarlierGlobal);
            if (!mayPass)
            {
                return false;
            }
        }

        var waitsForUndo = _undoRuns && position >= _undoLowest;
        return !waitsForUndo && IsComplete(batch, worker);
    }

    private void QueueBatch(int batch, int worker)
    {
        if (_isGlobal[batch])
        {
            _preparedAt[batch] |= 1 << worker;
            _batchRecord[batch * W + worker] = Queue(worker, Record.PreparedBatch, batch);
            Say($"Worker {worker + 1} queues its vote for global batch {batch}.");
            return;
        }

        if (_byDependency)
        {
            QueueComponents(batch, worker);
            return;
        }

        // A7: an empty batch passes its turn without a record.
        if (_members[batch] != 0)
        {
            _batchRecord[batch * W + worker] = Queue(worker, Record.LocalBatch, batch);
        }

        Say($"Worker {worker + 1} queues batch {batch}: it is final.");
        BecomesFinal(batch, worker);
    }

    private void BecomesFinal(int batch, int worker)
    {
        _finalAt[batch] |= 1 << worker;
        for (var actors = _batchActors[batch] & ActorsOn(worker); actors != 0; actors &= actors - 1)
        {
            Unschedule(Lowest((ulong)actors), BatchEntry(batch));
        }

        while (_orderHead[worker] < _localCount[worker] && Has(_finalAt[_localOrder[worker * MaxBatches + _orderHead[worker]]], worker))
        {
            _orderHead[worker]++;
        }

        if (_finalAt[batch] == _batchWorkers[batch])
        {
            _liveBatches &= ~Bit(batch);
            _livePacts &= ~_members[batch];
        }
    }

    private void Acknowledge(int batch, int worker)
    {
        _acknowledged[batch] |= 1 << worker;
        Say($"The vote of worker {worker + 1} for global batch {batch} arrives at the master.");
    }

    private void Decide(int batch)
    {
        _decided[batch] = true;
        _decisionRecord[batch] = Queue(Master, Record.Decision, batch);
        Say($"The master decides to commit global batch {batch}.");
    }

    private void DecisionArrives(int batch, int worker)
    {
        // Only a broken rule commits what a participant has not prepared; it learns so from the commit message.
        _preparedAt[batch] |= 1 << worker;
        Say($"Worker {worker + 1} hears that global batch {batch} is committed: it is final there.");
        BecomesFinal(batch, worker);
    }
}
