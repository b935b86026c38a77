using System.Text.Json;
using System.Xml.Linq;
using Snapper.Load.Reporting;
using Snapper.Scenarios.Changes;
using Snapper.Scenarios.Measures;
using Snapper.Scenarios.Workloads;
using Xunit;

namespace Snapper.Load.Tests;

public sealed class ReportTests
{
    [Fact]
    public void The_page_needs_nothing_from_elsewhere_and_is_well_formed()
    {
        var page = ReportHtml.Of(Report());
        Assert.DoesNotContain("<script", page, StringComparison.OrdinalIgnoreCase);
        Assert.DoesNotContain("src=", page, StringComparison.OrdinalIgnoreCase);
        Assert.DoesNotContain("<link", page, StringComparison.OrdinalIgnoreCase);
        Assert.DoesNotContain("url(", page, StringComparison.OrdinalIgnoreCase);
        foreach (var svg in Svgs(page))
        {
            Assert.NotNull(XElement.Parse(svg).Attribute("aria-label"));
        }
    }

    [Fact]
    public void The_page_says_what_was_held_and_what_was_broken()
    {
        var page = ReportHtml.Of(Report());
        Assert.Contains("A threshold or an invariant did not hold.", page, StringComparison.Ordinal);
        Assert.Contains("<td class=\"held\">p99-ms&lt;=250</td><td class=\"n\">12.5</td>", page, StringComparison.Ordinal);
        Assert.Contains("<td class=\"broken\">dip-percent&lt;=25</td><td class=\"n\">40</td>", page, StringComparison.Ordinal);
        Assert.Contains("<td class=\"broken\">pause-p99-ms&lt;=250</td><td class=\"n\">not measured</td>", page, StringComparison.Ordinal);
        Assert.Contains("a-000001 holds 1", page, StringComparison.Ordinal);
    }

    [Fact]
    public void The_changes_and_their_phases_are_marked_on_both_time_axes()
    {
        var page = ReportHtml.Of(Report());
        var charts = Svgs(page).Select(XElement.Parse).Where(static svg => svg.Attribute("aria-label")!.Value.Contains("over time", StringComparison.Ordinal)).ToArray();
        Assert.Equal(2, charts.Length);
        foreach (var chart in charts)
        {
            var band = Assert.Single(chart.Elements("rect"), static rect => rect.Attribute("class")!.Value == "band");
            Assert.Equal("rebalance", band.Element("title")!.Value);
            Assert.Contains(chart.Elements("line"), static line => line.Attribute("class")!.Value == "mark" && line.Element("title")!.Value.Contains("freezing (w1 to w3, 1024)", StringComparison.Ordinal));
            Assert.Equal(4, chart.Elements("path").Count());
        }
    }

    [Fact]
    public void Aborts_outcomes_and_the_error_of_arrivals_are_there()
    {
        var page = ReportHtml.Of(Report());
        Assert.Contains("<td>aborted: conflict</td><td class=\"n\">30</td><td class=\"n\">3</td>", page, StringComparison.Ordinal);
        Assert.Contains("Aborts by reason", page, StringComparison.Ordinal);
        Assert.Contains("own error: p50 0.01 ms, p99 0.2 ms", page, StringComparison.Ordinal);
    }

    [Fact]
    public void What_others_wrote_is_text_and_no_markup()
    {
        var page = ReportHtml.Of(Report() with { ChangeProblem = "<b>&\"", Outcomes = new Dictionary<string, long> { ["aborted: <i>"] = 1, ["Exception: <img>"] = 2 } });
        Assert.DoesNotContain("<b>", page, StringComparison.Ordinal);
        Assert.DoesNotContain("<i>", page, StringComparison.Ordinal);
        Assert.DoesNotContain("<img>", page, StringComparison.Ordinal);
    }

    [Fact]
    public void The_json_has_the_verdict_and_all_numbers()
    {
        using var json = JsonDocument.Parse(ReportJson.Of(Report()));
        var root = json.RootElement;
        Assert.False(root.GetProperty("passed").GetBoolean());
        Assert.Equal(12.5, root.GetProperty("measures").GetProperty("p99-ms").GetDouble());
        Assert.Equal(0.2, root.GetProperty("arrivalError").GetProperty("p99Ms").GetDouble());
        Assert.Equal("rebalance", root.GetProperty("bands")[0].GetProperty("name").GetString());
        Assert.Equal(2, root.GetProperty("course").GetArrayLength());
        Assert.Equal(JsonValueKind.Null, root.GetProperty("course")[1].GetProperty("p99Ms").ValueKind);
        Assert.Equal("a-000001 holds 1; its transactions explain 2", root.GetProperty("invariant").GetProperty("problems")[0].GetString());
    }

    [Fact]
    public void A_run_passes_only_when_all_of_it_does()
    {
        var good = Report() with { Invariant = new InvariantReport("money", "right", []), Thresholds = [new("p99-ms<=250", "p99-ms", 250, false, 12.5, true)] };
        Assert.True(good.Passed);
        Assert.False((good with { ChangeProblem = "refused" }).Passed);
        Assert.False((good with { Invariant = new InvariantReport("money", "wrong", ["1 is missing"]) }).Passed);
        Assert.False((good with { Thresholds = [new("p99-ms<=1", "p99-ms", 1, false, 12.5, false)] }).Passed);
    }

    private static IEnumerable<string> Svgs(string page)
    {
        for (var at = page.IndexOf("<svg", StringComparison.Ordinal); at >= 0; at = page.IndexOf("<svg", at + 1, StringComparison.Ordinal))
        {
            yield return page[at..(page.IndexOf("</svg>", at, StringComparison.Ordinal) + 6)];
        }
    }

    private static LoadReport Report() => new()
    {
        Scenario = "scale-out",
        Summary = "two workers join",
        Workload = "SmallBank",
        Shape = "steady",
        Arrivals = "Poisson",
        RatePerSecond = 100,
        DurationSeconds = 10,
        WarmUpSeconds = 1,
        Seed = 3,
        Began = DateTimeOffset.UnixEpoch,
        Addresses = ["http://127.0.0.1:5101/"],
        Machine = "2 cores",
        Command = "./snapper load scale-out",
        Invariant = new InvariantReport("all money is explained", "1 is missing", ["a-000001 holds 1; its transactions explain 2"]),
        Thresholds =
        [
            new("p99-ms<=250", "p99-ms", 250, false, 12.5, true), new("dip-percent<=25", "dip-percent", 25, false, 40, false), new("pause-p99-ms<=250", "pause-p99-ms", 250, false, null, false),
        ],
        Change = "two workers join",
        Measures = new Dictionary<string, double> { ["p99-ms"] = 12.5 },
        Outcomes = new Dictionary<string, long> { ["committed"] = 970, ["aborted: conflict"] = 30 },
        ArrivalError = new ArrivalErrorReport(0.01, 0.2, 0.4, 1.5, "kernel sleep"),
        LatencyByPercentile = [new(50, 3), new(99.99, 40)],
        Course = [new(2.5, 100, 97, 3, 0, 0, 3, 12, 20, 40), new(7.5, 0, 0, 0, 0, 0, null, null, null, null)],
        Windows = [new("before", 500, 3, 10, 20, 40, 0), new("during", 20, 3, 10, 20, 40, 1)],
        Marks = [new(4, "freezing (w1 to w3, 1024)")],
        Bands = [new("rebalance", 3.9, 4.2)],
    };
}
