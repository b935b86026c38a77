namespace Snapper.Benchmarks.Statistics;

/// <summary>An interval that holds the true value with the stated confidence.</summary>
public readonly record struct Interval(double Low, double High);

/// <summary>
/// Percentile bootstrap: draws the repetitions again with replacement and looks how the statistic spreads. Seeded, so that a table can be
/// computed again. With a handful of repetitions the interval is coarse; it then mostly says how far the runs differed.
/// </summary>
public static class Bootstrap
{
    /// <summary>How often the repetitions are drawn again.</summary>
    public const int Resamples = 10_000;

    /// <summary>95 % interval of median(<paramref name="numerator"/>) ÷ median(<paramref name="denominator"/>).</summary>
    public static Interval RatioOfMedians(IReadOnlyList<double> numerator, IReadOnlyList<double> denominator, ulong seed) =>
        OfTwo(numerator, denominator, seed, static (a, b) => a / b);

    /// <summary>95 % interval of median(<paramref name="minuend"/>) − median(<paramref name="subtrahend"/>).</summary>
    public static Interval DifferenceOfMedians(IReadOnlyList<double> minuend, IReadOnlyList<double> subtrahend, ulong seed) =>
        OfTwo(minuend, subtrahend, seed, static (a, b) => a - b);

    /// <summary>
    /// 95 % interval of the median of <paramref name="numerator"/>[i] ÷ <paramref name="denominator"/>[i]: the i-th runs of both sides are neighbours in time, so that what
    /// drifts between the pairs falls out of it.
    /// </summary>
    /// <exception cref="ArgumentException">Not as many of the one as of the other, or none.</exception>
    public static Interval MedianOfRatios(IReadOnlyList<double> numerator, IReadOnlyList<double> denominator, ulong seed) => Median(Ratios(numerator, denominator), seed);

    /// <summary>The ratios of pairs of runs.</summary>
    /// <exception cref="ArgumentException">Not as many of the one as of the other.</exception>
    public static double[] Ratios(IReadOnlyList<double> numerator, IReadOnlyList<double> denominator) => numerator.Count == denominator.Count
        ? numerator.Zip(denominator, static (a, b) => a / b).ToArray()
        : throw new ArgumentException($"{numerator.Count} runs of one side have no {denominator.Count} partners.");

    /// <summary>95 % interval of the median.</summary>
    public static Interval Median(IReadOnlyList<double> values, ulong seed) => OfTwo(values, [1.0], seed, static (a, _) => a);

    private static Interval OfTwo(IReadOnlyList<double> first, IReadOnlyList<double> second, ulong seed, Func<double, double, double> combine)
    {
        if (first.Count == 0 || second.Count == 0)
        {
            throw new ArgumentException("A bootstrap needs at least one repetition of each side.");
        }

        var random = new FastRandom(seed);
        var a = new double[first.Count];
        var b = new double[second.Count];
        var statistics = new double[Resamples];
        for (var i = 0; i < Resamples; i++)
        {
            statistics[i] = combine(DrawMedian(first, a, ref random), DrawMedian(second, b, ref random));
        }

        Array.Sort(statistics);
        return new Interval(statistics[(int)(Resamples * 0.025)], statistics[(int)(Resamples * 0.975)]);
    }

    private static double DrawMedian(IReadOnlyList<double> values, double[] sample, ref FastRandom random)
    {
        for (var i = 0; i < sample.Length; i++)
        {
            sample[i] = values[random.Next(values.Count)];
        }

        Array.Sort(sample);
        return Summary.MedianOfSorted(sample);
    }
}
