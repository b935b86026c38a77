namespace Snapper.Runtime.Tests.Support;

/// <summary>
/// The real clocks, and timers, but it can be told that time has passed, and its wall clock can be put forward and
/// back.
/// </summary>
internal sealed class SkewedTime : TimeProvider
{
    private long _ahead;
    private long _stepped;

    /// <summary>Timers that are made from now on never ring.</summary>
    public bool IsSilent { get; set; }

    public override long TimestampFrequency => System.TimestampFrequency;

    public override long GetTimestamp() => System.GetTimestamp() + Interlocked.Read(ref _ahead);

    public override DateTimeOffset GetUtcNow() => System.GetUtcNow().AddTicks(Interlocked.Read(ref _stepped)) + TimeSpan.FromSeconds(Interlocked.Read(ref _ahead) / (double)TimestampFrequency);

    public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period) =>
        IsSilent ? new SilentTimer() : base.CreateTimer(callback, state, dueTime, period);

    /// <summary>Time passes, by all clocks.</summary>
    public void Advance(TimeSpan by) => Interlocked.Add(ref _ahead, (long)(by.TotalSeconds * TimestampFrequency));

    /// <summary>The wall clock alone is changed.</summary>
    public void Step(TimeSpan by) => Interlocked.Add(ref _stepped, by.Ticks);
}

/// <summary>It never rings.</summary>
internal sealed class SilentTimer : ITimer
{
    public bool Change(TimeSpan dueTime, TimeSpan period) => true;

    public void Dispose()
    {
    }

    public ValueTask DisposeAsync() => default;
}
