namespace Snapper.Runtime.Inspection;

/// <summary>Durations counted in fixed buckets, since the start. Thread-safe.</summary>
public sealed class DurationBuckets
{
    // Beyond the last bound there is one bucket more.
    private static readonly double[] s_bounds = [.. DurationsView.UsualBounds];

    private readonly long[] _counts = new long[s_bounds.Length + 1];
    private long _microseconds;

    public void Count(double seconds)
    {
        var bucket = 0;
        while (bucket < s_bounds.Length && seconds > s_bounds[bucket])
        {
            bucket++;
        }

        Interlocked.Increment(ref _counts[bucket]);
        Interlocked.Add(ref _microseconds, (long)(seconds * 1e6));
    }

    /// <summary>Counts up to each bound, and of all; and the sum in seconds.</summary>
    public DurationsView View()
    {
        var upTo = new long[_counts.Length];
        var sum = 0L;
        for (var i = 0; i < _counts.Length; i++)
        {
            sum += Volatile.Read(ref _counts[i]);
            upTo[i] = sum;
        }

        return new DurationsView(s_bounds, upTo, Volatile.Read(ref _microseconds) / 1e6);
    }
}
