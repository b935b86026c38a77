namespace Snapper.RuleModel;

/// <summary>Strict two-phase locking of actors with wait-die (W1).</summary>
internal sealed partial class RuleModel
{
    private const byte Dies = 0;

    private readonly ulong[] _sharedHolders = new ulong[A];
    private readonly int[] _exclusiveHolder = new int[A];
    private readonly ulong[] _waiters = new ulong[A];
    private readonly ulong[] _waitersForWrite = new ulong[A];
    private readonly int[] _lockQueue = new int[A * MaxAttempts];
    private readonly int[] _lockQueueLength = new int[A];
    private readonly ulong[] _saidToWaitFor = new ulong[MaxAttempts];
    private readonly ulong[] _waitsFirst = new ulong[A]; // of the waiters: those that hold nothing (W1, proposed)
    private bool _firstComeFirstServed;
    private bool _firstLocksWait;

    private ulong ConflictingHolders(int attempt, int actor, bool writes)
    {
        var holders = _exclusiveHolder[actor] >= 0 ? Bit(_exclusiveHolder[actor]) : 0;
        if (writes && !(Is(ModelVariant.UpgradeIgnoresReaders) && Has(_sharedHolders[actor], attempt)))
        {
            holders |= _sharedHolders[actor];
        }

        return holders & ~Bit(attempt);
    }

    /// <summary>
    /// W1, proposed: an ACT that holds no lock, and asks for one thing at a time, may wait for older ones. No other
    /// waits for it but in the queue, and these wait for what is ahead of it, too: so it counts as old as the oldest of
    /// that.
    /// </summary>
    private bool MayWaitForOlder(int attempt)
    {
        if (!_firstLocksWait || !_firstComeFirstServed || ScriptOf(attempt).IsParallel)
        {
            return false;
        }

        for (var actor = 0; actor < _actors; actor++)
        {
            if (_exclusiveHolder[actor] == attempt || Has(_sharedHolders[actor], attempt))
            {
                return Is(ModelVariant.HoldersWaitForOlder);
            }
        }

        return true;
    }

    /// <summary>
    /// Looked at anew each time: those ahead may end, and the oldest ACT must not die of what has gone.
    /// </summary>
    private int AgeInQueue(int waiter, int actor)
    {
        var age = _age[_client[waiter]];
        if (!Has(_waitsFirst[actor], waiter) || Is(ModelVariant.FirstWaiterCountsAsYoung))
        {
            return age;
        }

        var writes = Has(_waitersForWrite[actor], waiter);
        for (var holders = ConflictingHolders(waiter, actor, writes); holders != 0; holders &= holders - 1)
        {
            age = Math.Min(age, _age[_client[Lowest(holders)]]);
        }

        for (var i = 0; i < _lockQueueLength[actor]; i++)
        {
            var ahead = _lockQueue[(actor * MaxAttempts) + i];
            if (ahead == waiter)
            {
                break;
            }

            if (writes || Has(_waitersForWrite[actor], ahead))
            {
                age = Math.Min(age, AgeInQueue(ahead, actor));
            }
        }

        return age;
    }

    private bool IsOlder(int attempt, int other) => _age[_client[attempt]] < _age[_client[other]];

    private byte AskLock(int attempt, int operation)
    {
        var script = ScriptOf(attempt);
        var actor = script.ActorOf(operation);
        var writes = script.Writes(operation);
        if (_exclusiveHolder[actor] == attempt || (!writes && Has(_sharedHolders[actor], attempt)))
        {
            return Granted;
        }

        // First come, first served: an upgrade goes ahead of the queue, since all in it wait for its shared lock already.
        var blockers = ConflictingHolders(attempt, actor, writes);
        var queued = (writes ? _waiters[actor] : _waitersForWrite[actor]) & ~Bit(attempt);
        var isUpgrade = Has(_sharedHolders[actor], attempt);
        if (_firstComeFirstServed)
        {
            queued = isUpgrade ? 0 : queued;
        }

        var waitsFirst = MayWaitForOlder(attempt);
        for (var others = blockers | queued; others != 0; others &= others - 1)
        {
            var other = Lowest(others);
            var age = Has(blockers, other) ? _age[_client[other]] : AgeInQueue(other, actor);
            if (waitsFirst)
            {
                continue;
            }

            var isOlder = _age[_client[attempt]] < age;
            var dies = Is(ModelVariant.WrongVictimInWaitDie) ? isOlder : !isOlder;
            if (dies && !Is(ModelVariant.NobodyDies))
            {
                Say($"{Name(attempt)} wants a lock on {ActorName(actor)} that {Name(other)}, which is older, {(Has(blockers, other) ? "holds" : "waits for")}.");
                DieOfConflict(attempt);
                return Dies;
            }
        }

        blockers |= _firstComeFirstServed ? queued : 0;
        if (blockers != 0)
        {
            _waiters[actor] |= Bit(attempt);
            _waitersForWrite[actor] |= writes ? Bit(attempt) : 0;
            _saidToWaitFor[attempt] |= blockers;
            _waitsFirst[actor] |= waitsFirst ? Bit(attempt) : 0;

            var queue = _lockQueue.AsSpan(actor * MaxAttempts, ++_lockQueueLength[actor]);
            var position = _firstComeFirstServed && isUpgrade ? 0 : queue.Length - 1;
            queue[position..^1].CopyTo(queue[(position + 1)..]);
            queue[position] = attempt;
            Say($"{Name(attempt)} waits for its lock on {ActorName(actor)}, behind {Names(blockers)}.");
            WaitForUpgrade(attempt, position == 0 ? queue[1..] : []);
            return WaitsForLock;
        }

        Hold(attempt, actor, writes);
        WaitForUpgrade(attempt, _firstComeFirstServed && isUpgrade ? _lockQueue.AsSpan(actor * MaxAttempts, _lockQueueLength[actor]) : []);
        return Granted;
    }

    /// <summary>Those in the queue wait for the upgrade now, even if whoever made them wait before dies: the start of another lock wait (H5).</summary>
    private void WaitForUpgrade(int attempt, ReadOnlySpan<int> behind)
    {
        if (Is(ModelVariant.QueueDoesNotTellOfUpgrades))
        {
            return;
        }

        var told = 0UL;
        foreach (var waiter in behind)
        {
            _saidToWaitFor[waiter] |= Bit(attempt);
            told |= Bit(waiter);
        }

        for (; told != 0; told &= told - 1)
        {
            JudgeAct(Lowest(told));
        }
    }

    /// <summary>W1's promise of progress: the oldest ACT never dies of a lock. (An older one that is about to run again, or whose client has given up, may still have locks.)</summary>
    private void DieOfConflict(int attempt)
    {
        var isOldest = true;
        for (var live = _liveActs; live != 0; live &= live - 1)
        {
            var other = Lowest(live);
            isOldest &= other == attempt || !IsOlder(other, attempt);
        }

        for (var client = 0; client < _scenario.Count; client++)
        {
            var isThere = _clientState[client] is ClientState.Waiting or ClientState.Running || _gaveUp[client];
            isOldest &= !_scenario.Scripts[client].IsAct || !isThere || _age[client] >= _age[_client[attempt]];
        }

        if (isOldest)
        {
            Fail(ModelVerdict.BrokenInvariant, $"{Name(attempt)} is the oldest ACT that runs, and dies of a lock all the same.");
        }

        Kill(attempt, "conflict");
    }

    private void Hold(int attempt, int actor, bool writes)
    {
        if (writes)
        {
            _exclusiveHolder[actor] = attempt;
            _sharedHolders[actor] &= ~Bit(attempt);
        }
        else
        {
            _sharedHolders[actor] |= Bit(attempt);
        }

        // W1: on each grant, a waiter younger than a new holder dies.
        if (Is(ModelVariant.YoungerWaiterStays))
        {
            return;
        }

        for (var others = (writes ? _waiters[actor] : _waitersForWrite[actor]) & ~Bit(attempt); others != 0; others &= others - 1)
        {
            var other = Lowest(others);
            if (Has(_waitsFirst[actor], other))
            {
                continue; // it holds nothing
            }

            if (!IsOlder(other, attempt) && _firstComeFirstServed)
            {
                Fail(ModelVerdict.BrokenInvariant, $"First come, first served: {Name(other)} waits on {ActorName(actor)} for {Name(attempt)}, which is older.");
            }
            else if (!IsOlder(other, attempt) && !Is(ModelVariant.NobodyDies) && !Is(ModelVariant.WrongVictimInWaitDie))
            {
                DieOfConflict(other);
            }
        }
    }

    private void StopWaiting(int attempt, int actor)
    {
        if (!Has(_waiters[actor], attempt))
        {
            return;
        }

        _waiters[actor] &= ~Bit(attempt);
        _waitersForWrite[actor] &= ~Bit(attempt);
        _waitsFirst[actor] &= ~Bit(attempt);
        var queue = _lockQueue.AsSpan(actor * MaxAttempts, _lockQueueLength[actor]);
        var position = queue.IndexOf(attempt);
        queue[(position + 1)..].CopyTo(queue[position..]);
        _lockQueueLength[actor]--;
    }

    private void StopWaiting(int attempt)
    {
        for (var visited = _visited[attempt]; visited != 0; visited &= visited - 1)
        {
            StopWaiting(attempt, Lowest((ulong)visited));
        }
    }

    private void Release(int attempt, int actor)
    {
        StopWaiting(attempt, actor);
        _sharedHolders[actor] &= ~Bit(attempt);
        if (_exclusiveHolder[actor] == attempt)
        {
            _exclusiveHolder[actor] = -1;
        }
    }

    /// <summary>Lock and place go, and whoever waited gets what is free now.</summary>
    private void Leave(int attempt, int actor)
    {
        Unschedule(actor, ActEntry(attempt));
        Release(attempt, actor);
        GrantWaiters(actor);
    }

    private void ReleaseEverywhere(int attempt, bool placesToo)
    {
        for (var visited = _visited[attempt]; visited != 0; visited &= visited - 1)
        {
            var actor = Lowest((ulong)visited);
            if (placesToo)
            {
                Unschedule(actor, ActEntry(attempt));
            }

            Release(attempt, actor);
            GrantWaiters(actor);
        }
    }

    /// <summary>Grants from the head of the queue, or in any order: W1's other half, that a younger waiter dies, makes them all safe.</summary>
    private void GrantWaiters(int actor)
    {
        while (_firstComeFirstServed && _lockQueueLength[actor] > 0)
        {
            var head = _lockQueue[actor * MaxAttempts];
            if (ConflictingHolders(head, actor, Has(_waitersForWrite[actor], head)) != 0)
            {
                return;
            }

            Grant(head, actor);
        }

        GrantWaitersInAnyOrder(actor);
    }

    private void GrantWaitersInAnyOrder(int actor)
    {
        while (true)
        {
            var ready = 0UL;
            for (var waiting = _waiters[actor]; waiting != 0; waiting &= waiting - 1)
            {
                var waiter = Lowest(waiting);
                if (ConflictingHolders(waiter, actor, Has(_waitersForWrite[actor], waiter)) == 0)
                {
                    ready |= Bit(waiter);
                }
            }

            if (ready == 0)
            {
                break;
            }

            var pick = _random.Next(System.Numerics.BitOperations.PopCount(ready));
            while (pick-- > 0)
            {
                ready &= ready - 1;
            }

            Grant(Lowest(ready), actor);
        }

        // Whoever still waits, waits for the new holders now: that is the start of another lock wait (H5).
        if (_waiters[actor] != 0 && !Is(ModelVariant.NoTestAtGrants) && !Is(ModelVariant.NoTestAtLockWait))
        {
            for (var waiting = _waiters[actor]; waiting != 0; waiting &= waiting - 1)
            {
                JudgeAct(Lowest(waiting));
            }
        }
    }

    private void Grant(int attempt, int actor)
    {
        var writes = Has(_waitersForWrite[actor], attempt);
        StopWaiting(attempt, actor);
        Say($"{Name(attempt)} gets its lock on {ActorName(actor)}.");

        var script = ScriptOf(attempt);
        for (var operation = 0; operation < script.Operations; operation++)
        {
            if (script.ActorOf(operation) == actor && _operationState[attempt * O + operation] == WaitsForLock)
            {
                _operationState[attempt * O + operation] = Granted;
            }
        }

        Hold(attempt, actor, writes);
    }
}
