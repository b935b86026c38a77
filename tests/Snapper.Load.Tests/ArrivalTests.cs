using Snapper.Scenarios;
using Snapper.Scenarios.Shapes;
using Xunit;

namespace Snapper.Load.Tests;

public sealed class ArrivalTests
{
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);

    [Fact]
    public void Poisson_arrivals_have_exponential_gaps()
    {
        const double rate = 1000;
        var gaps = Gaps(All(LoadShape.Steady(rate, 100 * Second), ArrivalProcess.Poisson, 7)).ToArray();
        Assert.InRange(gaps.Length, 98_500, 101_500);
        Assert.InRange(gaps.Average() * rate, 0.98, 1.02);

        // Of exponential gaps e^-t are longer than t times the mean; even ones would all be of the mean.
        foreach (var t in new[] { 0.1, 0.5, 1, 2, 4 })
        {
            Assert.InRange(gaps.Count(gap => gap * rate > t) / (double)gaps.Length, Math.Exp(-t) - 0.006, Math.Exp(-t) + 0.006);
        }
    }

    [Fact]
    public void Even_arrivals_are_evenly_spaced()
    {
        var times = All(LoadShape.Steady(200, 2 * Second), ArrivalProcess.Even, 1);
        Assert.Equal(400, times.Count);
        Assert.All(Gaps(times), static gap => Assert.Equal(0.005, gap, 9));
    }

    [Fact]
    public void The_same_seed_gives_the_same_moments_and_another_one_others()
    {
        var shape = LoadShape.Steady(100, 5 * Second);
        Assert.Equal(All(shape, ArrivalProcess.Poisson, 5), All(shape, ArrivalProcess.Poisson, 5));
        Assert.NotEqual(All(shape, ArrivalProcess.Poisson, 5), All(shape, ArrivalProcess.Poisson, 6));
    }

    [Theory]
    [InlineData(0, 1000)]
    [InlineData(1000, 0)]
    [InlineData(100, 900)]
    public void A_ramp_has_the_arrivals_of_each_of_its_parts(double from, double to)
    {
        var times = All(LoadShape.Ramp(from, to, 10 * Second), ArrivalProcess.Even, 1);
        Assert.InRange(times.Count, 4_999, 5_001);
        for (var second = 0; second < 10; second++)
        {
            var expected = from + ((to - from) * (second + 0.5) / 10);
            Assert.InRange(times.Count(time => time >= second && time < second + 1), expected - 2, expected + 2);
        }
    }

    [Fact]
    public void A_spike_is_three_times_the_rate_for_a_fifth_of_the_time()
    {
        var times = All(Scenario.ShapeOf(ShapeKind.Spike, 100, 10 * Second), ArrivalProcess.Even, 1);
        Assert.InRange(times.Count(static time => time < 4), 399, 401);
        Assert.InRange(times.Count(static time => time is >= 4 and < 6), 599, 601);
        Assert.InRange(times.Count(static time => time >= 6), 399, 401);
    }

    [Fact]
    public void The_warm_up_comes_before_the_shape_at_its_first_rate()
    {
        var times = All(LoadShape.Ramp(50, 100, 2 * Second).After(2 * Second), ArrivalProcess.Even, 1);
        Assert.InRange(times.Count(static time => time < 2), 99, 101);
        Assert.InRange(times.Count(static time => time >= 2), 149, 151);
    }

    [Fact]
    public void Moments_never_go_back()
    {
        var times = All(Scenario.ShapeOf(ShapeKind.Spike, 500, 4 * Second).After(Second), ArrivalProcess.Poisson, 9);
        Assert.All(Gaps(times), static gap => Assert.True(gap >= 0));
        Assert.InRange(times[^1], 4.9, 5);
    }

    [Fact]
    public void A_shape_without_arrivals_is_no_load()
    {
        Assert.Throws<ArgumentException>(static () => LoadShape.Steady(0, TimeSpan.FromSeconds(1)));
        Assert.Throws<ArgumentException>(static () => LoadShape.Steady(10, TimeSpan.Zero));
        Assert.Throws<ArgumentException>(static () => LoadShape.Ramp(-1, 10, TimeSpan.FromSeconds(1)));
    }

    private static List<double> All(LoadShape shape, ArrivalProcess process, ulong seed)
    {
        var arrivals = new Arrivals(shape, process, seed);
        var times = new List<double>();
        while (arrivals.Next() is { } at)
        {
            times.Add(at);
        }

        return times;
    }

    private static IEnumerable<double> Gaps(List<double> times) => times.Skip(1).Zip(times, static (later, earlier) => later - earlier);
}
