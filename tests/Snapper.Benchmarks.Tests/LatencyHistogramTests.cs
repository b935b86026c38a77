using Snapper.Runtime.Inspection;
using Snapper.Benchmarks.Statistics;
using Xunit;

namespace Snapper.Benchmarks.Tests;

public sealed class LatencyHistogramTests
{
    [Fact]
    public void What_another_one_has_recorded_is_taken_over()
    {
        var (all, first, second) = (new LatencyHistogram(), new LatencyHistogram(), new LatencyHistogram());
        foreach (var value in (long[])[1, 5, 5_000]) first.Record(value);
        foreach (var value in (long[])[2, 700_000]) second.Record(value);

        all.Add(first);
        all.Add(second);
        all.Add(new LatencyHistogram());

        Assert.Equal((5, 700_000, 5), (all.Count, all.Max, all.Percentile(60)));
        Assert.Equal(first.Percentile(50, second), all.Percentile(50));
    }

    [Fact]
    public void Percentiles_agree_with_the_sorted_values_to_three_digits()
    {
        var random = new FastRandom(5);
        var histogram = new LatencyHistogram();
        var values = new long[100_000];
        for (var i = 0; i < values.Length; i++)
        {
            // Spread over six powers of ten, as latencies under load are.
            values[i] = (long)Math.Pow(10, random.NextDouble() * 6);
            histogram.Record(values[i]);
        }

        Array.Sort(values);
        foreach (var percentile in new[] { 0.1, 1, 10, 25, 50, 75, 90, 99, 99.9, 99.99, 100 })
        {
            var exact = values[(int)Math.Ceiling(percentile / 100 * values.Length) - 1];
            var measured = histogram.Percentile(percentile);
            Assert.True(measured >= exact && measured - exact <= exact * 0.001, $"p{percentile}: {measured} instead of {exact}");
        }

        Assert.Equal(values[^1], histogram.Max);
        Assert.Equal(values.Length, histogram.Count);
    }

    [Fact]
    public void Values_below_2048_are_exact()
    {
        for (var value = 0; value < 2048; value++)
        {
            var histogram = new LatencyHistogram();
            histogram.Record(value);
            histogram.Record(5000);
            Assert.Equal(value, histogram.Percentile(50));
        }
    }

    [Fact]
    public void Every_power_of_two_and_its_neighbours_keep_three_digits()
    {
        for (var power = 11; power < 32; power++)
        {
            foreach (var value in new[] { (1L << power) - 1, 1L << power, (1L << power) + 1 })
            {
                if (value > LatencyHistogram.ValueMax)
                {
                    continue;
                }

                var histogram = new LatencyHistogram();
                histogram.Record(value);
                histogram.Record(LatencyHistogram.ValueMax);
                Assert.InRange(histogram.Percentile(50), value, value + (value / 1000));
            }
        }
    }

    [Fact]
    public void Out_of_range_values_are_clamped_and_an_empty_histogram_says_0()
    {
        var histogram = new LatencyHistogram();
        Assert.Equal(0, histogram.Percentile(99));
        histogram.Record(-5);
        histogram.Record(long.MaxValue);
        Assert.Equal(0, histogram.Percentile(50));
        Assert.Equal(LatencyHistogram.ValueMax, histogram.Percentile(100));
    }

    [Fact]
    public void Recording_from_several_threads_loses_nothing()
    {
        var histogram = new LatencyHistogram();
        Parallel.For(0, 4, thread =>
        {
            for (var i = 0; i < 10_000; i++)
            {
                histogram.Record(thread + 1);
            }
        });
        Assert.Equal(40_000, histogram.Count);
        Assert.Equal(4, histogram.Max);
        Assert.Equal(2, histogram.Percentile(50));
    }
}
