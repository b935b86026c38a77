using static System.Threading.Timeout;

namespace Snapper.Testing;

/// <summary>
/// A clock that goes as real time does, and can be put forward: timers that are due by then ring at once. Deadlines,
/// windows and <c>Context.UtcNow</c> of the worker follow it.
/// Thread-safe.
/// </summary>
public sealed class TestClock : TimeProvider
{
    private readonly TimeProvider _real;
    private readonly DateTimeOffset _startsAt;
    private readonly long _began;
    private readonly Lock _gate = new();
    private readonly HashSet<Timer> _timers = [];
    private static readonly TimeSpan s_most = TimeSpan.FromDays(3_660);
    private long _ahead; // in units of the timestamp

    internal TestClock(TimeProvider real, DateTimeOffset startsAt)
    {
        _real = real;
        _startsAt = startsAt;
        _began = real.GetTimestamp();
    }

    /// <inheritdoc/>
    public override long TimestampFrequency => _real.TimestampFrequency;

    /// <inheritdoc/>
    public override TimeZoneInfo LocalTimeZone => TimeZoneInfo.Utc;

    /// <inheritdoc/>
    public override long GetTimestamp() => _real.GetTimestamp() + Volatile.Read(ref _ahead);

    /// <inheritdoc/>
    public override DateTimeOffset GetUtcNow() => _startsAt + GetElapsedTime(_began, GetTimestamp());

    /// <summary>Puts the clock forward.</summary>
    /// <param name="by">Zero to 3,660 days.</param>
    /// <exception cref="ArgumentOutOfRangeException">
    /// It is negative, or more: no clock of a worker goes back.
    /// </exception>
    public void Advance(TimeSpan by)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(by, TimeSpan.Zero);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(by, s_most);
        Timer[] timers;
        lock (_gate)
        {
            Volatile.Write(ref _ahead, _ahead + (long)(by.TotalSeconds * TimestampFrequency));
            timers = [.. _timers];
        }

        foreach (var timer in timers)
        {
            timer.Rearm();
        }
    }

    /// <inheritdoc/>
    public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period)
    {
        ArgumentNullException.ThrowIfNull(callback);
        var timer = new Timer(this, callback, state);
        timer.Change(dueTime, period);
        return timer;
    }

    private sealed class Timer : ITimer
    {
        private readonly TestClock _clock;
        private readonly TimerCallback _callback;
        private readonly object? _state;
        private readonly ITimer _real;
        private TimeSpan _period;
        private long? _due; // null: it rings no more
        private bool _isDisposed;

        public Timer(TestClock clock, TimerCallback callback, object? state)
        {
            (_clock, _callback, _state) = (clock, callback, state);
            _real = clock._real.CreateTimer(static timer => ((Timer)timer!).Ring(), this, InfiniteTimeSpan,
                InfiniteTimeSpan);
        }

        public bool Change(TimeSpan dueTime, TimeSpan period)
        {
            lock (_clock._gate)
            {
                if (_isDisposed)
                {
                    return false;
                }

                _period = period;
                Due(dueTime == InfiniteTimeSpan ? null : _clock.GetTimestamp() + _clock.Units(dueTime));
                return Arm();
            }
        }

        /// <summary>The clock was put forward.</summary>
        public void Rearm()
        {
            lock (_clock._gate)
            {
                if (_due is not null && !_isDisposed)
                {
                    Arm();
                }
            }
        }

        public void Dispose()
        {
            lock (_clock._gate)
            {
                _isDisposed = true;
                Due(null);
            }

            _real.Dispose();
        }

        public ValueTask DisposeAsync()
        {
            Dispose();
            return ValueTask.CompletedTask;
        }

        private void Ring()
        {
            lock (_clock._gate)
            {
                if (_due is not { } due || _isDisposed)
                {
                    return; // changed or disposed of while it rang
                }

                if (due > _clock.GetTimestamp())
                {
                    Arm(); // timers of the system may be early by less than a millisecond
                    return;
                }

                Due(_period > TimeSpan.Zero ? Math.Max(due + _clock.Units(_period), _clock.GetTimestamp()) : null);
                if (_due is not null)
                {
                    Arm();
                }
            }

            _callback(_state);
        }

        private void Due(long? at)
        {
            _due = at;
            if (at is null)
            {
                _clock._timers.Remove(this);
            }
            else
            {
                _clock._timers.Add(this);
            }
        }

        private bool Arm()
        {
            if (_due is not { } due)
            {
                return _real.Change(InfiniteTimeSpan, InfiniteTimeSpan);
            }

            var left = _clock.GetElapsedTime(_clock.GetTimestamp(), due);
            return _real.Change(left > TimeSpan.Zero ? left : TimeSpan.Zero, InfiniteTimeSpan);
        }
    }

    private long Units(TimeSpan time) => (long)(time.TotalSeconds * TimestampFrequency);
}
