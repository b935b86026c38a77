namespace Snapper.Benchmarks.Statistics;

/// <summary>Median and range of repeated measurements.</summary>
public readonly record struct Summary(double Median, double Min, double Max)
{
    /// <summary>Summarises at least one value.</summary>
    /// <exception cref="ArgumentException">No values.</exception>
    public static Summary Of(IReadOnlyList<double> values)
    {
        if (values.Count == 0)
        {
            throw new ArgumentException("There is nothing to summarise.", nameof(values));
        }

        var sorted = values.ToArray();
        Array.Sort(sorted);
        return new Summary(MedianOfSorted(sorted), sorted[0], sorted[^1]);
    }

    /// <summary>The middle value, or the mean of the two middle ones.</summary>
    internal static double MedianOfSorted(ReadOnlySpan<double> sorted)
    {
        var middle = sorted.Length / 2;
        return sorted.Length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    }
}
