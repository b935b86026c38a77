using Snapper.Benchmarks.Statistics;
using Xunit;

namespace Snapper.Benchmarks.Tests;

public sealed class StatisticsTests
{
    [Fact]
    public void The_median_of_an_odd_count_is_the_middle_and_of_an_even_count_the_mean_of_the_two()
    {
        Assert.Equal(new Summary(3, 1, 9), Summary.Of([9, 1, 3]));
        Assert.Equal(new Summary(2.5, 1, 9), Summary.Of([9, 1, 3, 2]));
        Assert.Throws<ArgumentException>(() => Summary.Of([]));
    }

    [Fact]
    public void A_bootstrap_gives_the_same_interval_under_the_same_seed_and_another_under_another()
    {
        double[] a = [10.13, 11.7, 12.31, 13.9, 14.57];
        double[] b = [1.1, 2.3, 3.7, 2.9, 2.05];
        Assert.Equal(Bootstrap.RatioOfMedians(a, b, 7), Bootstrap.RatioOfMedians(a, b, 7));

        // The percentiles fall on one of few medians, so two seeds may agree; many do not all.
        var intervals = Enumerable.Range(0, 8).Select(seed => Bootstrap.DifferenceOfMedians(Noise(31, 5), Noise(31, 6), (ulong)seed)).Distinct();
        Assert.True(intervals.Count() > 1);
    }

    [Fact]
    public void A_bootstrap_interval_holds_the_ratio_and_is_one_point_when_nothing_varies()
    {
        double[] a = [19, 20, 21, 22, 18];
        double[] b = [10, 9.5, 10.5, 10.2, 9.9];
        var interval = Bootstrap.RatioOfMedians(a, b, 1);
        Assert.InRange(2.0, interval.Low, interval.High);
        Assert.InRange(interval.Low, 18 / 10.5, 2);
        Assert.InRange(interval.High, 2, 22 / 9.5);
        Assert.Equal(new Interval(2, 2), Bootstrap.RatioOfMedians([4, 4, 4], [2, 2], 1));
    }

    [Fact]
    public void Ratios_of_pairs_do_not_see_what_drifts_between_them()
    {
        double[] a = [11, 22, 44, 88, 176];
        double[] b = [10, 20, 40, 80, 160];
        var interval = Bootstrap.MedianOfRatios(a, b, 1);
        Assert.Equal(1.1, interval.Low, 9);
        Assert.Equal(1.1, interval.High, 9);
        Assert.Contains("5 runs", Assert.Throws<ArgumentException>(() => Bootstrap.MedianOfRatios(a, [10], 1)).Message, StringComparison.Ordinal);
    }

    [Fact]
    public void A_bootstrap_of_medians_covers_the_true_difference_about_as_often_as_it_says()
    {
        // 50 experiments with two samples from the same distribution: the interval of the difference must hold 0 in about 95 % of them.
        var covered = 0;
        for (ulong i = 0; i < 50; i++)
        {
            var interval = Bootstrap.DifferenceOfMedians(Noise(15, 1000 + i), Noise(15, 5000 + i), i);
            if (interval.Low <= 0 && interval.High >= 0)
            {
                covered++;
            }
        }

        Assert.InRange(covered, 42, 50);
    }

    [Theory]
    [InlineData(0)]
    [InlineData(0.9)]
    [InlineData(1)]
    [InlineData(1.5)]
    public void The_zipf_table_holds_the_exact_probabilities(double exponent)
    {
        const int Count = 10_000;
        var exact = ZipfSampler.Probabilities(Count, exponent);
        var table = new ZipfSampler(Count, exponent).TableProbabilities();
        Assert.Equal(1, exact.Sum(), 9);
        for (var i = 0; i < Count; i++)
        {
            Assert.Equal(Math.Pow(i + 1, -exponent), exact[i] / exact[0], 0.000000000001);
            Assert.Equal(exact[i], table[i], 12);
        }
    }

    [Fact]
    public void Zipf_draws_follow_the_distribution()
    {
        const int Draws = 200_000;
        var sampler = new ZipfSampler(50, 1.5);
        var random = new FastRandom(3);
        var counts = new int[50];
        for (var i = 0; i < Draws; i++)
        {
            counts[sampler.Draw(ref random)]++;
        }

        var exact = ZipfSampler.Probabilities(50, 1.5);
        var chiSquare = counts.Select((count, i) => Math.Pow(count - (exact[i] * Draws), 2) / (exact[i] * Draws)).Sum();

        // 49 degrees of freedom: above 85 with a probability of 0.001.
        Assert.True(chiSquare < 85, $"chi-square {chiSquare}");
    }

    [Fact]
    public void The_random_sequence_is_fixed_by_its_seed_and_stays_in_bounds()
    {
        var one = new FastRandom(11);
        var same = new FastRandom(11);
        var other = new FastRandom(12);
        var differs = false;
        for (var i = 0; i < 1000; i++)
        {
            var drawn = one.Next(10);
            Assert.Equal(drawn, same.Next(10));
            Assert.InRange(drawn, 0, 9);
            differs |= drawn != other.Next(10);
        }

        Assert.True(differs);
        Assert.InRange(one.NextDouble(), 0, 1);
    }

    private static double[] Noise(int count, ulong seed)
    {
        var random = new FastRandom(seed);
        var values = new double[count];
        for (var i = 0; i < count; i++)
        {
            values[i] = 100 + random.NextDouble() + random.NextDouble() + random.NextDouble();
        }

        return values;
    }
}
