using Snapper.Contracts;
using Snapper.Dashboard.Pages;
using Snapper.Dashboard.Store;

namespace Snapper.Dashboard.Tests.Units;

/// <summary>What is told of a migration is of the time that it says.</summary>
public sealed class MigrationTimesTests
{
    private const double Start = 1_000_000;

    private static readonly MigrationStatus s_migration = new()
    {
        Id = "m", State = "done", Keys = 2,
        Parts = [Part(0, 200, null, ("planned", 10), ("freezing", 20), ("draining", 100), ("handingover", 150), ("done", 205)), Part(0, 344, null, ("planned", 259), ("freezing", 262), ("draining", 300), ("done", 340))],
    };

    [Fact]
    public void A_bar_is_as_long_as_the_part_took()
    {
        foreach (var part in s_migration.Parts)
        {
            var bar = MigrationTimes.Stretches(part, Start + 5000).ToArray();
            Assert.Equal(MigrationTimes.Took(part), bar[^1].ToMs - bar[0].FromMs);
            Assert.All(bar.Skip(1).Zip(bar), pair => Assert.Equal(pair.Second.ToMs, pair.First.FromMs));
            Assert.DoesNotContain(bar, one => one.Css.Contains("open", StringComparison.Ordinal));
        }

        Assert.Equal(344, MigrationTimes.Took(s_migration.Parts[1]));
        Assert.Equal(["planned 262 ms", "freezing 38 ms", "draining 44 ms"], MigrationTimes.Stretches(s_migration.Parts[1], Start).Select(one => one.Title));
        Assert.Equal((Start, Start + 344), MigrationTimes.Span(s_migration));
    }

    [Fact]
    public void What_is_not_over_goes_on_until_now()
    {
        var part = Part(0, null, null, ("planned", 10), ("freezing", 20));
        var bar = MigrationTimes.Stretches(part, Start + 500).ToArray();
        Assert.Equal(Start + 500, bar[^1].ToMs);
        Assert.EndsWith("open", bar[^1].Css, StringComparison.Ordinal);
        Assert.Null(MigrationTimes.Took(part));
        Assert.Equal("", MigrationTimes.Effect(new MigrationStatus { Id = "m", Parts = [part] }, [], Start + 100_000));
    }

    [Fact]
    public void Latencies_after_it_are_told_when_a_whole_minute_is_after_it()
    {
        // Ten milliseconds before, two after: what workers tell of their last minute follows by and by.
        var samples = Enumerable.Range(-20, 120).Select(second => new Sample
        {
            AtMs = Start + (second * 1000), PactPerSecond = second <= 0 ? 100 : 300, Latency = new LatencyByMode(new LatencyView(9, 1, 1, second <= 0 ? 10 : second < 61 ? 8 : 2, 1, 1), null),
        }).ToArray();
        string At(double seconds) => MigrationTimes.Effect(s_migration, samples, Start + (seconds * 1000));
        Assert.Equal("Before: 100 committed/s, PACT p99 10 ms in its minute. After: not yet known.", At(5));
        Assert.Equal("Before: 100 committed/s, PACT p99 10 ms in its minute. After: 300 committed/s; latency not yet known: workers tell it of a whole minute.", At(11));
        Assert.Contains("latency not yet known", At(60), StringComparison.Ordinal);
        Assert.Equal("Before: 100 committed/s, PACT p99 10 ms in its minute. After: 300 committed/s, PACT p99 2 ms in its minute.", At(62));
    }

    private static MigrationPart Part(double created, double? ended, string? why, params (string Phase, double At)[] phases) => new()
    {
        Plan = "m.0", From = "w1", To = "w2", Keys = 1, State = ended is null ? "planned" : "done", Why = why, Created = At(created), Ended = ended is { } end ? At(end) : null,
        Phases = [.. phases.Select(one => new MigrationPhase(one.Phase, At(one.At)))],
    };

    private static DateTimeOffset At(double ms) => DateTimeOffset.UnixEpoch.AddMilliseconds(Start + ms);
}
