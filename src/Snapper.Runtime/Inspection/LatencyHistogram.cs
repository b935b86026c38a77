using System.Numerics;

namespace Snapper.Runtime.Inspection;

/// <summary>
/// Counts durations in buckets of HdrHistogram's layout: linear up to 2,048, then twice as wide per power of two, so that every recorded value
/// is known to three significant digits. Values are microseconds by convention. Recording is safe from several threads.
/// </summary>
public sealed class LatencyHistogram
{
    /// <summary>Greatest value that is told apart, one hour in microseconds; greater ones count as this.</summary>
    public const long ValueMax = 3_600_000_000;

    private const int SubBucketBits = 11;
    private const int SubBucketCount = 1 << SubBucketBits;
    private const int SubBucketHalf = SubBucketCount / 2;

    private static readonly int BucketCount = IndexOf(ValueMax) + 1;

    private readonly long[] _counts = new long[BucketCount];
    private long _recorded;
    private long _max;

    /// <summary>How many values were recorded.</summary>
    public long Count => Volatile.Read(ref _recorded);

    /// <summary>The greatest recorded value, exact; 0 when there is none.</summary>
    public long Max => Volatile.Read(ref _max);

    /// <summary>Records one value; negative ones count as 0.</summary>
    public void Record(long value)
    {
        value = Math.Clamp(value, 0, ValueMax);
        Interlocked.Increment(ref _counts[IndexOf(value)]);
        Interlocked.Increment(ref _recorded);
        AtomicMax.Raise(ref _max, value);
    }

    /// <summary>Takes over what another one has recorded, which nobody records into meanwhile.</summary>
    public void Add(LatencyHistogram other)
    {
        for (var i = 0; i < _counts.Length; i++)
        {
            Interlocked.Add(ref _counts[i], other._counts[i]);
        }

        Interlocked.Add(ref _recorded, other.Count);
        AtomicMax.Raise(ref _max, other.Max);
    }

    /// <summary>
    /// The smallest value such that <paramref name="percentile"/> per cent of the recorded ones are at most as great (nearest rank),
    /// up to three digits; 0 when nothing was recorded.
    /// </summary>
    /// <param name="percentile">0 to 100.</param>
    public long Percentile(double percentile) => Percentile(percentile, null);

    /// <summary>As <see cref="Percentile(double)"/>, of what this one and another one have recorded together.</summary>
    /// <param name="percentile">0 to 100.</param>
    /// <param name="other">The other one; null: none.</param>
    public long Percentile(double percentile, LatencyHistogram? other)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(percentile, 0);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(percentile, 100);
        var total = Count + (other?.Count ?? 0);
        if (total == 0)
        {
            return 0;
        }

        var most = Math.Max(Max, other?.Max ?? 0);
        var rank = Math.Max(1, (long)Math.Ceiling(percentile / 100 * total));
        var seen = 0L;
        for (var i = 0; i < _counts.Length; i++)
        {
            seen += _counts[i] + (other?._counts[i] ?? 0);
            if (seen >= rank)
            {
                return Math.Min(HighestOf(i), most);
            }
        }

        return most;
    }

    private static int IndexOf(long value)
    {
        // Values below 2,048 have a bucket each. Above, `shift` low bits are dropped, so that 1,024..2,047 remain.
        var shift = Math.Max(0, BitOperations.Log2((ulong)value | 1) - (SubBucketBits - 1));
        return (shift * SubBucketHalf) + (int)(value >> shift);
    }

    private static long HighestOf(int index)
    {
        if (index < SubBucketCount)
        {
            return index;
        }

        var shift = (index / SubBucketHalf) - 1;
        var sub = index - (shift * SubBucketHalf);
        return ((sub + 1L) << shift) - 1;
    }
}
