namespace Snapper.Runtime.Inspection.Watching;

/// <summary>Timestamps as Unix milliseconds.</summary>
public sealed class WatchClock(TimeProvider time)
{
    private readonly long _base = time.GetTimestamp();
    private readonly double _baseMs = (time.GetUtcNow() - DateTimeOffset.UnixEpoch).TotalMilliseconds;

    public long Now => time.GetTimestamp();

    public double NowMs => Ms(Now);

    public double Ms(long timestamp) => _baseMs + ((timestamp - _base) * 1000.0 / time.TimestampFrequency);

    public double? MsOrNull(long timestamp) => timestamp == 0 ? null : Ms(timestamp);

    public double Elapsed(long from, long to) => (to - from) * 1000.0 / time.TimestampFrequency;

    public long Ticks(TimeSpan span) => (long)(span.TotalSeconds * time.TimestampFrequency);
}
