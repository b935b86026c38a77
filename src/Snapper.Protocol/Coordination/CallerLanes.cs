namespace Snapper.Protocol.Coordination;

/// <summary>
/// What waits, in a lane for each caller: within a lane in the order of coming, and the lanes in turn. Not thread-safe.
/// </summary>
/// <typeparam name="T">What waits.</typeparam>
internal sealed class CallerLanes<T>
{
    private const int LanesKept = 16;
    private const int PausedKept = 64;

    private readonly Dictionary<string, Lane> _named = new(StringComparer.Ordinal);
    private readonly Lane _unnamed = new();
    private readonly List<Lane> _waiting = []; // not empty, in the order of their turns
    private readonly Stack<Lane> _unused = new();
    private int _turn;
    private int _paused; // named lanes without items, kept for their pause

    /// <summary>Items that wait.</summary>
    public int Count { get; private set; }

    /// <summary>Lanes with items.</summary>
    public int Waiting => _waiting.Count;

    /// <summary>Callers of whom something is kept.</summary>
    public int Named => _named.Count;

    /// <summary>The lane whose turn it is; one must wait.</summary>
    public Lane Current
    {
        get
        {
            _turn = _turn < _waiting.Count ? _turn : 0;
            return _waiting[_turn];
        }
    }

    /// <summary>Adds an item behind those of its caller; null: of all unknown ones.</summary>
    public void Add(string? caller, T item)
    {
        var lane = LaneOf(caller);
        if (lane.Items.Count == 0)
        {
            // Behind all that wait now: its turn comes last.
            var at = Math.Min(_turn, _waiting.Count);
            _waiting.Insert(at, lane);
            _turn = at + 1;
        }

        lane.Items.Enqueue(item);
        Count++;
    }

    /// <summary>Takes the first item of the current lane, whose turn goes on.</summary>
    public T Dequeue()
    {
        Count--;
        return Current.Items.Dequeue();
    }

    /// <summary>
    /// The turn of the current lane is over. Of a caller that waits no more nothing stays, unless it is kept.
    /// </summary>
    /// <param name="keeps">It may have to pause: it is kept until its pause is over.</param>
    /// <param name="now">Pauses up to then are over.</param>
    public void Next(bool keeps = false, long now = 0)
    {
        var lane = Current;
        if (lane.Items.Count > 0)
        {
            _turn++;
            return;
        }

        _waiting.RemoveAt(_turn);
        if (lane.Caller is null)
        {
            return;
        }

        if (!keeps)
        {
            Forget(lane);
            return;
        }

        SweepIfMany(now);
        Keep(lane);
    }

    /// <summary>The lane of a caller, which is kept until its pause is over, if it has no items.</summary>
    /// <param name="caller">The caller; null: all unknown ones.</param>
    /// <param name="now">Pauses up to then are over.</param>
    public Lane Of(string? caller, long now)
    {
        SweepIfMany(now);
        var lane = LaneOf(caller);
        if (lane.Items.Count == 0 && caller is not null)
        {
            Keep(lane);
        }

        return lane;
    }

    /// <summary>Takes out the items that go; turns and pauses stay as they are.</summary>
    public void RemoveWhere(Func<T, bool> goes)
    {
        for (var i = _waiting.Count - 1; i >= 0; i--)
        {
            var lane = _waiting[i];
            for (var left = lane.Items.Count; left > 0; left--)
            {
                var item = lane.Items.Dequeue();
                if (goes(item))
                {
                    Count--;
                }
                else
                {
                    lane.Items.Enqueue(item);
                }
            }

            if (lane.Items.Count == 0)
            {
                _waiting.RemoveAt(i);
                _turn -= i < _turn ? 1 : 0;
                if (lane.Caller is not null && Math.Max(lane.PausesUntil, lane.UsedUntil) > 0)
                {
                    Keep(lane);
                }
                else if (lane.Caller is not null)
                {
                    Forget(lane);
                }
            }
        }
    }

    private Lane LaneOf(string? caller)
    {
        if (caller is null)
        {
            return _unnamed;
        }

        if (!_named.TryGetValue(caller, out var lane))
        {
            lane = _unused.TryPop(out var unused) ? unused : new Lane();
            lane.Caller = caller;
            _named.Add(caller, lane);
        }
        else if (lane.IsKept)
        {
            lane.IsKept = false;
            _paused--;
        }

        return lane;
    }

    private void Keep(Lane lane)
    {
        lane.IsKept = true;
        _paused++;
    }

    private void SweepIfMany(long now)
    {
        if (_paused >= PausedKept)
        {
            Sweep(now);
        }
    }

    private void Sweep(long now)
    {
        foreach (var lane in _named.Values)
        {
            if (lane.IsKept && lane.PausesUntil <= now && lane.UsedUntil <= now)
            {
                _paused--;
                Forget(lane);
            }
        }
    }

    private void Forget(Lane lane)
    {
        _named.Remove(lane.Caller!);
        lane.Caller = null;
        lane.PausesUntil = 0;
        lane.UsedUntil = 0;
        lane.HeldUntil = null;
        lane.IsKept = false;
        if (_unused.Count < LanesKept)
        {
            _unused.Push(lane);
        }
    }

    /// <summary>What one caller waits for.</summary>
    internal sealed class Lane
    {
        public string? Caller { get; set; }

        public Queue<T> Items { get; } = new();

        /// <summary>A timestamp; 0: it does not pause. For those who take items: turns come all the same.</summary>
        public long PausesUntil { get; set; }

        /// <summary>A timestamp: where its pause would end if all that was done for the caller paused.</summary>
        public long UsedUntil { get; set; }

        /// <summary>What <see cref="PausesUntil"/> was when its first item was refused; null: it was not.</summary>
        public long? HeldUntil { get; set; }

        /// <summary>It has no items, and is kept for its pause.</summary>
        public bool IsKept { get; set; }
    }
}
