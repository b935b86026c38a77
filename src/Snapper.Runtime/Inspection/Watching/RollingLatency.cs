using Snapper.Contracts;

namespace Snapper.Runtime.Inspection.Watching;

/// <summary>Latencies of the last half minute to minute, in microseconds. Recording is safe from several threads.</summary>
public sealed class RollingLatency(TimeProvider time)
{
    /// <summary>How long one histogram is filled before the next one takes its place.</summary>
    public static readonly TimeSpan Half = TimeSpan.FromSeconds(30);

    private readonly Lock _lock = new();
    private LatencyHistogram? _current;
    private LatencyHistogram? _previous;
    private long _since = time.GetTimestamp();

    /// <summary>Records one latency.</summary>
    /// <param name="microseconds">0 or more.</param>
    /// <param name="now">Timestamp of the clock.</param>
    public void Record(long microseconds, long now) => Current(now).Record(microseconds);

    /// <summary>What was recorded within the last half minute at least, and the last minute at most; null: nothing.</summary>
    public LatencyView? View()
    {
        var current = Current(time.GetTimestamp());
        var previous = _previous;
        var count = current.Count + (previous?.Count ?? 0);
        return count == 0 ? null : new LatencyView(count, Ms(50), Ms(90), Ms(99), Ms(99.9), Math.Max(current.Max, previous?.Max ?? 0) / 1000.0);

        double Ms(double percentile) => current.Percentile(percentile, previous) / 1000.0;
    }

    private LatencyHistogram Current(long now)
    {
        // A histogram is big; none is made before there is something to record.
        if (_current is { } current && time.GetElapsedTime(Volatile.Read(ref _since), now) < Half)
        {
            return current;
        }

        lock (_lock)
        {
            var age = time.GetElapsedTime(_since, now);
            if (_current is null || age >= Half)
            {
                _previous = age < 2 * Half ? _current : null;
                _current = new LatencyHistogram();
                Volatile.Write(ref _since, now);
            }

            return _current;
        }
    }
}
