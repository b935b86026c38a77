namespace Snapper.Runtime.Tests.Cluster;

/// <summary>
/// A clock that stands still until it is told to go on; timers ring inside <see cref="Advance"/>, in order.
/// </summary>
internal sealed class ManualTime : TimeProvider
{
    private readonly List<ManualTimer> _timers = [];
    private long _now;

    public override long TimestampFrequency => TimeSpan.TicksPerSecond;

    /// <summary>Timers that would ring some day.</summary>
    public int Armed => _timers.Count(timer => timer.Due is not null);

    public override long GetTimestamp() => _now;

    public override DateTimeOffset GetUtcNow() => DateTimeOffset.UnixEpoch.AddTicks(_now);

    public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period)
    {
        var timer = new ManualTimer(this, callback, state);
        _timers.Add(timer);
        timer.Change(dueTime, period);
        return timer;
    }

    public void Advance(TimeSpan by)
    {
        var until = _now + by.Ticks;
        while (_timers.Where(timer => timer.Due <= until).MinBy(timer => timer.Due) is { } next)
        {
            _now = Math.Max(_now, next.Due!.Value);
            next.Ring();
        }

        _now = until;
    }

    private sealed class ManualTimer(ManualTime time, TimerCallback callback, object? state) : ITimer
    {
        private TimeSpan _period;

        public long? Due { get; private set; }

        public bool Change(TimeSpan dueTime, TimeSpan period)
        {
            _period = period;
            Due = dueTime < TimeSpan.Zero ? null : time._now + dueTime.Ticks;
            return true;
        }

        public void Ring()
        {
            Due = _period > TimeSpan.Zero ? Due + _period.Ticks : null;
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
