namespace Snapper.Storage.Tests.Support;

/// <summary>A clock that stands until it is moved; timers run inline, in the order of their times.</summary>
internal sealed class ManualTime(DateTimeOffset start) : TimeProvider
{
    private readonly List<ManualTimer> _timers = [];
    private DateTimeOffset _now = start;

    public ManualTime()
        : this(new DateTimeOffset(2026, 1, 1, 0, 0, 0, TimeSpan.Zero))
    {
    }

    /// <summary>Timers that are set.</summary>
    public int Due => _timers.Count(t => t.At is not null);

    public TimeSpan? NextIn => _timers.Where(t => t.At is not null).Min(t => t.At) - _now;

    public override DateTimeOffset GetUtcNow() => _now;

    public override long GetTimestamp() => _now.Ticks;

    public override long TimestampFrequency => TimeSpan.TicksPerSecond;

    public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period)
    {
        var timer = new ManualTimer(this, callback, state);
        _timers.Add(timer);
        timer.Change(dueTime, period);
        return timer;
    }

    public void Advance(TimeSpan by)
    {
        var end = _now + by;
        while (_timers.Where(t => t.At <= end).MinBy(t => t.At) is { } next)
        {
            _now = next.At!.Value > _now ? next.At.Value : _now;
            next.Fire();
        }

        _now = end;
    }

    private sealed class ManualTimer(ManualTime time, TimerCallback callback, object? state) : ITimer
    {
        public DateTimeOffset? At { get; private set; }

        public bool Change(TimeSpan dueTime, TimeSpan period)
        {
            At = dueTime == Timeout.InfiniteTimeSpan ? null : time._now + dueTime;
            return true;
        }

        public void Fire()
        {
            At = null;
            callback(state);
        }

        public void Dispose() => time._timers.Remove(this);

        public ValueTask DisposeAsync()
        {
            Dispose();
            return ValueTask.CompletedTask;
        }
    }
}
