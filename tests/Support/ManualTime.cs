namespace Snapper.Tests.Support;

/// <summary>
/// A clock that stands until it is moved; timers run inside <see cref="Advance"/>, in the order of their times. Why not
/// <c>FakeTimeProvider</c>: docs/decisions/fake-time.md.
/// </summary>
internal sealed class ManualTime(DateTimeOffset start) : TimeProvider
{
    private readonly List<ManualTimer> _timers = [];
    private DateTimeOffset _now = start;

    public ManualTime()
        : this(new DateTimeOffset(2026, 1, 1, 0, 0, 0, TimeSpan.Zero))
    {
    }

    /// <summary>Timers that would ring some day.</summary>
    public int Armed => _timers.Count(timer => timer.At is not null);

    /// <summary>How long until the next timer rings; null: none would.</summary>
    public TimeSpan? NextIn => _timers.Where(timer => timer.At is not null).Min(timer => timer.At) - _now;

    public override long TimestampFrequency => TimeSpan.TicksPerSecond;

    public override long GetTimestamp() => (_now - DateTimeOffset.UnixEpoch).Ticks;

    public override DateTimeOffset GetUtcNow() => _now;

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
        while (_timers.Where(timer => timer.At <= end).MinBy(timer => timer.At) is { } next)
        {
            _now = next.At!.Value > _now ? next.At.Value : _now;
            next.Ring();
        }

        _now = end;
    }

    private sealed class ManualTimer(ManualTime time, TimerCallback callback, object? state) : ITimer
    {
        private TimeSpan _period;

        public DateTimeOffset? At { get; private set; }

        public bool Change(TimeSpan dueTime, TimeSpan period)
        {
            _period = period;
            At = dueTime == Timeout.InfiniteTimeSpan ? null : time._now + dueTime;
            return true;
        }

        public void Ring()
        {
            At = _period > TimeSpan.Zero ? At + _period : null;
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
