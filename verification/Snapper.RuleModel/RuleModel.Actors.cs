namespace Snapper.RuleModel;

/// <summary>Actors: their schedules (batches and places of ACTs, in order), their states, and who touched them.</summary>
internal sealed partial class RuleModel
{
    // A schedule entry: a batch is even, an ACT's place is odd.
    private readonly int[] _schedule = new int[A * ScheduleCapacity];
    private readonly int[] _scheduled = new int[A];
    private readonly int[] _current = new int[A];
    private readonly int[] _nodeWriter = new int[MaxNodes];
    private readonly int[] _nodeParent = new int[MaxNodes];
    private readonly int[] _touchAttempt = new int[A * TouchCapacity];
    private readonly int[] _touchBefore = new int[A * TouchCapacity];
    private readonly int[] _touches = new int[A];
    private readonly bool[] _closed = new bool[W];
    private int _nodes;

    private void ResetActors()
    {
        _nodes = 0;
        for (var actor = 0; actor < _actors; actor++)
        {
            _scheduled[actor] = 0;
            _touches[actor] = 0;
            _current[actor] = _nodes;
            _nodeWriter[_nodes] = -1;
            _nodeParent[_nodes++] = -1;
            _sharedHolders[actor] = 0;
            _exclusiveHolder[actor] = -1;
            _waiters[actor] = 0;
            _waitsFirst[actor] = 0;
            _waitersForWrite[actor] = 0;
            _lockQueueLength[actor] = 0;
        }

        Array.Clear(_closed);
        _crashes = 0;
        _masterCrashes = 0;
    }

    private static int BatchEntry(int batch) => batch << 1;

    private static int ActEntry(int attempt) => (attempt << 1) | 1;

    private int PositionOf(int actor, int entry)
    {
        for (var i = 0; i < _scheduled[actor]; i++)
        {
            if (_schedule[actor * ScheduleCapacity + i] == entry)
            {
                return i;
            }
        }

        return -1;
    }

    private void Schedule(int actor, int entry)
    {
        if (_scheduled[actor] == ScheduleCapacity)
        {
            _exhausted = true;
            return;
        }

        _schedule[actor * ScheduleCapacity + _scheduled[actor]++] = entry;
    }

    private void Unschedule(int actor, int entry)
    {
        var position = PositionOf(actor, entry);
        if (position >= 0)
        {
            var row = _schedule.AsSpan(actor * ScheduleCapacity, _scheduled[actor]);
            row[(position + 1)..].CopyTo(row[position..]);
            _scheduled[actor]--;
        }
    }

    /// <summary>Reads or writes an actor's state for an attempt; the turn or the lock is there.</summary>
    private void Touch(int attempt, int operation)
    {
        var script = ScriptOf(attempt);
        var actor = script.ActorOf(operation);
        var writes = script.Writes(operation);
        if (_nodes == MaxNodes || _touches[actor] == TouchCapacity)
        {
            _exhausted = true;
            return;
        }

        var touch = actor * TouchCapacity + _touches[actor]++;
        _touchAttempt[touch] = attempt;
        _touchBefore[touch] = writes ? _current[actor] : -1;
        if (writes)
        {
            _nodeWriter[_nodes] = attempt;
            _nodeParent[_nodes] = _current[actor];
            _current[actor] = _nodes++;
            _lastNode[attempt * A + actor] = _current[actor];
            _wrote[attempt] |= 1 << actor;
        }

        _seen[attempt * O + operation] = _current[actor];
        _touched[attempt] |= 1 << actor;
        _done[attempt] |= 1 << operation;
        if (_trace is not null)
        {
            var seen = writes ? _nodeParent[_current[actor]] : _current[actor];
            var author = _nodeWriter[seen] < 0 ? "its first state" : $"the state that {Name(_nodeWriter[seen])} wrote";
            Say($"{Name(attempt)} {(writes ? "writes" : "reads")} {ActorName(actor)} and sees {author}.");
        }
    }

    /// <summary>The next operation may be called: those before it are back, on the same actor at least.</summary>
    private bool IsCalled(int attempt, Script script, int operation)
    {
        var before = (1 << operation) - 1;
        var done = _done[attempt];
        if (Has(done, operation))
        {
            return false;
        }

        if (!script.IsParallel)
        {
            return (done & before) == before;
        }

        for (var i = 0; i < operation; i++)
        {
            if (!Has(done, i) && script.ActorOf(i) == script.ActorOf(operation))
            {
                return false;
            }
        }

        return true;
    }

    /// <summary>
    /// Puts back an actor's state from before the first write of the given attempts, and drops their touches and everything after that write (A5).
    /// </summary>
    /// <returns>Attempts whose touches were dropped though they are not among those given: they saw what is gone.</returns>
    private ulong Restore(int actor, ulong attempts)
    {
        var from = actor * TouchCapacity;
        var count = _touches[actor];
        var first = 0;
        while (first < count && !(Has(attempts, _touchAttempt[from + first]) && _touchBefore[from + first] >= 0))
        {
            first++;
        }

        var victims = 0UL;
        var end = first;
        if (first < count)
        {
            _current[actor] = _touchBefore[from + first];
            for (var i = first; i < count; i++)
            {
                victims |= Bit(_touchAttempt[from + i]);
            }

            if (Is(ModelVariant.RestoreKeepsTouches))
            {
                end = count;
            }
        }

        var kept = 0;
        for (var i = 0; i < end; i++)
        {
            if (!Has(attempts, _touchAttempt[from + i]) || Is(ModelVariant.RestoreKeepsTouches))
            {
                _touchAttempt[from + kept] = _touchAttempt[from + i];
                _touchBefore[from + kept++] = _touchBefore[from + i];
            }
        }

        _touches[actor] = kept;
        return victims & ~attempts;
    }

    /// <summary>An attempt that aborts by itself leaves the actor as it found it; if an undo was faster, nothing is left to put back.</summary>
    private void PutBack(int actor, int attempt, bool keepTouches)
    {
        var from = actor * TouchCapacity;
        var kept = 0;
        var restored = false;
        for (var i = 0; i < _touches[actor]; i++)
        {
            var mine = _touchAttempt[from + i] == attempt;
            if (mine && _touchBefore[from + i] >= 0 && !restored)
            {
                restored = true;
                _current[actor] = _touchBefore[from + i];
            }

            if (!mine || keepTouches)
            {
                _touchAttempt[from + kept] = _touchAttempt[from + i];
                _touchBefore[from + kept++] = mine ? -1 : _touchBefore[from + i];
            }
        }

        _touches[actor] = kept;
    }
}
