namespace Snapper.Runtime.Tests.Support;

/// <summary>The real clock, and timers, but it can be told that time has passed.</summary>
internal sealed class SkewedTime : TimeProvider
{
    private long _ahead;

    public override long TimestampFrequency => System.TimestampFrequency;

    public override long GetTimestamp() => System.GetTimestamp() + Interlocked.Read(ref _ahead);

    public void Advance(TimeSpan by) => Interlocked.Add(ref _ahead, (long)(by.TotalSeconds * TimestampFrequency));
}
