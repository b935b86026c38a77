using Snapper.Scenarios;
using Snapper.Scenarios.Measures;
using Xunit;

namespace Snapper.Load.Tests;

public sealed class ThresholdTests
{
    private static readonly Dictionary<string, double> Measures = new() { ["p99-ms"] = 12.5, ["committed-per-second"] = 400, ["abort-percent.conflict"] = 2 };

    [Theory]
    [InlineData("p99-ms<=12.5", true)]
    [InlineData("p99-ms<=12.4", false)]
    [InlineData("committed-per-second>=400", true)]
    [InlineData("committed-per-second>=401", false)]
    [InlineData("abort-percent.conflict<=1", false)]
    [InlineData("abort-percent.deadlock<=0", true)]
    public void A_bound_is_kept_up_to_itself(string text, bool held)
    {
        var result = Threshold.Parse(text).Against(Measures);
        Assert.Equal((text, held), (result.Text, result.Held));
    }

    [Fact]
    public void A_bound_on_what_was_not_measured_is_not_kept()
    {
        var result = Threshold.Parse("pause-p99-ms<=1000000").Against(Measures);
        Assert.False(result.Held);
        Assert.Null(result.Actual);
    }

    [Theory]
    [InlineData("p99-ms")]
    [InlineData("p99-ms=3")]
    [InlineData("p99-ms<3")]
    [InlineData("p99-ms<=")]
    [InlineData("p99-ms<=fast")]
    [InlineData("p99-ms<=NaN")]
    [InlineData("<=3")]
    [InlineData("p98-ms<=3")]
    [InlineData("abort-percent.<=3")]
    public void What_is_no_bound_is_refused(string text)
    {
        var wrong = Assert.Throws<FormatException>(() => Threshold.Parse(text));
        Assert.Contains(text.StartsWith("p98", StringComparison.Ordinal) || text.StartsWith("abort", StringComparison.Ordinal) ? "p99-ms" : text, wrong.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void A_bound_of_the_command_line_takes_the_place_of_the_scenarios_own()
    {
        var scenario = ScenarioCatalog.Find("smallbank-pact")!;
        var all = scenario.With([new Threshold("p99-ms", 7), new Threshold("committed-per-second", 1, AtLeast: true)]);
        Assert.Equal(7, Assert.Single(all, static one => one.Measure == "p99-ms").Limit);
        Assert.Single(all, static one => one.Measure == "committed-per-second");
        Assert.Single(all, static one => one.Measure == "error-percent");
    }

    [Fact]
    public void Every_scenario_has_bounds_on_measures_that_exist_and_a_name_of_its_own()
    {
        Assert.All(ScenarioCatalog.All, static scenario =>
        {
            Assert.NotEmpty(scenario.Thresholds);
            Assert.All(scenario.Thresholds, static one => Assert.True(MeasureNames.IsKnown(one.Measure), one.Measure));
        });
        Assert.Equal(ScenarioCatalog.All.Count, ScenarioCatalog.All.Select(static one => one.Name).Distinct().Count());
    }
}
