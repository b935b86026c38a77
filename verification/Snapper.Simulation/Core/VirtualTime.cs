namespace Snapper.Simulation.Core;

/// <summary>The clock and timers of one simulated process. A timer fires up to a millisecond late, as real ones do.</summary>
/// <param name="world">Where it is.</param>
/// <param name="scope">The process; null: none.</param>
/// <param name="wall">What its machine shows; null: nobody ever sets it, and it does not drift.</param>
internal sealed class VirtualTime(ISimulation world, ProcessScope? scope, WallClock? wall = null) : TimeProvider
{
    private static readonly DateTimeOffset s_origin = new(2030, 1, 1, 0, 0, 0, TimeSpan.Zero);

    public override long TimestampFrequency => TimeSpan.TicksPerSecond;

    public override TimeZoneInfo LocalTimeZone => TimeZoneInfo.Utc;

    public override long GetTimestamp() => world.Now;

    public override DateTimeOffset GetUtcNow() => s_origin.AddTicks(world.Now + world.ClockOffset + (wall?.Ahead(world.Now) ?? 0));

    public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period)
    {
        var timer = new Timer(world, scope, callback, state);
        timer.Change(dueTime, period);
        return timer;
    }

    private sealed class Timer(ISimulation world, ProcessScope? scope, TimerCallback callback, object? state) : ITimer
    {
        private long _setting;
        private long _fireSetting = -1;
        private Action? _fire; // of one setting, over all its periods
        private TimeSpan _period;

        public bool Change(TimeSpan dueTime, TimeSpan period)
        {
            if (_setting < 0)
            {
                return false;
            }

            _setting++;
            _period = period;
            if (dueTime >= TimeSpan.Zero)
            {
                Schedule(dueTime);
            }

            return true;
        }

        public void Dispose() => _setting = -1;

        public ValueTask DisposeAsync()
        {
            Dispose();
            return ValueTask.CompletedTask;
        }

        private void Schedule(TimeSpan due)
        {
            if (_fire is null || _fireSetting != _setting)
            {
                var setting = _fireSetting = _setting;
                _fire = () => Fire(setting);
            }

            world.After(due.Ticks + world.Chance.Between(0, 10_000), scope, _fire);
        }

        private void Fire(long setting)
        {
            if (setting != _setting)
            {
                return;
            }

            if (_period > TimeSpan.Zero)
            {
                Schedule(_period);
            }

            callback(state);
        }
    }
}
