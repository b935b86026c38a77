using Snapper.Benchmarks.Statistics;
using Snapper.Scenarios.Choosing;
using Xunit;

namespace Snapper.Load.Tests;

public sealed class ChooserTests
{
    private const int Draws = 400_000;

    [Fact]
    public void A_uniform_chooser_draws_every_key_equally_often() =>
        Fits(new UniformChooser(20), static _ => 1 / 20.0);

    [Theory]
    [InlineData(0.0)]
    [InlineData(0.9)]
    [InlineData(1.5)]
    public void A_zipf_chooser_draws_by_rank(double skew)
    {
        var expected = ZipfSampler.Probabilities(50, skew);
        Fits(new ZipfChooser(50, skew), key => expected[key]);
    }

    [Fact]
    public void A_hotspot_gives_the_hot_keys_their_share_and_no_more() =>
        Fits(new HotspotChooser(40, hot: 4, share: 0.6), static key => key < 4 ? 0.6 / 4 : 0.4 / 36);

    [Theory]
    [InlineData(0, 0.5)]
    [InlineData(10, 0.5)]
    [InlineData(3, -0.1)]
    [InlineData(3, 1.1)]
    public void A_hotspot_of_nothing_or_everything_is_refused(int hot, double share) =>
        Assert.ThrowsAny<ArgumentException>(() => new HotspotChooser(10, hot, share));

    [Fact]
    public void The_keys_of_a_transaction_differ_also_when_all_weight_is_on_one()
    {
        var random = new FastRandom(3);
        var chooser = new HotspotChooser(8, 1, 1);
        Span<int> keys = stackalloc int[4];
        for (var i = 0; i < 100; i++)
        {
            DistinctKeys.Draw(chooser, ref random, keys);
            Assert.Equal(4, keys.ToArray().Distinct().Count());
            Assert.Contains(0, keys.ToArray());
        }
    }

    [Fact]
    public void The_hottest_key_pays_as_often_as_it_is_paid()
    {
        var random = new FastRandom(4);
        var chooser = new ZipfChooser(100, 1.2);
        var places = new int[4];
        var keys = new int[4];
        for (var i = 0; i < 40_000; i++)
        {
            DistinctKeys.Draw(chooser, ref random, keys);
            if (Array.IndexOf(keys, 0) is >= 0 and var at)
            {
                places[at]++;
            }
        }

        // First as often as in any of the other three places.
        Assert.InRange(places[0] / (double)places.Sum(), 0.235, 0.265);
    }

    [Fact]
    public void More_keys_than_there_are_cannot_differ()
    {
        var random = new FastRandom(1);
        Assert.Throws<ArgumentException>(() => DistinctKeys.Draw(new UniformChooser(3), ref random, new int[4]));
    }

    /// <summary>Within five standard deviations of every key's own frequency.</summary>
    private static void Fits(IKeyChooser chooser, Func<int, double> expected)
    {
        var random = new FastRandom(42);
        var counts = new int[chooser.Count];
        for (var i = 0; i < Draws; i++)
        {
            counts[chooser.Draw(ref random)]++;
        }

        for (var key = 0; key < counts.Length; key++)
        {
            var p = expected(key);
            Assert.InRange(counts[key], (Draws * p) - (5 * Math.Sqrt(Draws * p * (1 - p))), (Draws * p) + (5 * Math.Sqrt(Draws * p * (1 - p))));
        }
    }
}
