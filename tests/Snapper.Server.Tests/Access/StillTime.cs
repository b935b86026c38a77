namespace Snapper.Server.Tests.Access;

/// <summary>A clock that goes when it is told to.</summary>
internal sealed class StillTime : TimeProvider
{
    private TimeSpan _passed = TimeSpan.FromHours(1);

    public override long TimestampFrequency => TimeSpan.TicksPerSecond;

    public void Pass(TimeSpan time) => _passed += time;

    public override long GetTimestamp() => _passed.Ticks;

    public override DateTimeOffset GetUtcNow() => DateTimeOffset.UnixEpoch + _passed;
}
