namespace Snapper.Runtime.Inspection;

/// <summary>Durations counted in fixed buckets, since the start. Thread-safe.</summary>
internal sealed class DurationBuckets
{
    /// <summary>Upper bounds in seconds, inclusive; beyond the last one there is one bucket more.</summary>
    public static readonly double[] Bounds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

    private readonly long[] _counts = new long[Bounds.Length + 1];
    private long _microseconds;

    public void Count(double seconds)
    {
        var bucket = 0;
        while (bucket < Bounds.Length && seconds > Bounds[bucket])
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

        return new DurationsView(Bounds, upTo, Volatile.Read(ref _microseconds) / 1e6);
    }
}
