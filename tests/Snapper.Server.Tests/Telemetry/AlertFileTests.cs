using System.Text.Json;
using System.Text.RegularExpressions;
using Snapper.Cli.Supervision;
using Snapper.Contracts;
using Snapper.Runtime.Inspection;
using Snapper.Server.Tests.Api;
using Xunit;

namespace Snapper.Server.Tests.Telemetry;

/// <summary>The files for Prometheus and Grafana ask only for what <c>/metrics</c> has, and the docs list it.</summary>
public sealed partial class AlertFileTests
{
    [Theory]
    [InlineData("telemetry/prometheus-rules.yaml")]
    [InlineData("telemetry/grafana-dashboard.json")]
    [InlineData("docs/telemetry.md")]
    public async Task Every_metric_that_a_file_names_is_there(string file)
    {
        var emitted = await Emitted();
        var named = Names().Matches(await File.ReadAllTextAsync(Path.Combine(Repository.Find()!, file))).Select(match => match.Value).Distinct().ToArray();
        Assert.NotEmpty(named);
        foreach (var name in named)
        {
            Assert.True(emitted.Contains(name) || emitted.Contains(Suffix().Replace(name, string.Empty)), $"{file} asks for {name}, which /metrics does not have.");
        }
    }

    [Fact]
    public async Task Every_metric_that_is_there_is_documented()
    {
        var docs = await File.ReadAllTextAsync(Path.Combine(Repository.Find()!, "docs", "telemetry.md"));
        foreach (var name in (await Emitted()).Where(name => name.StartsWith("snapper_", StringComparison.Ordinal)))
        {
            Assert.Contains($"`{name}`", docs, StringComparison.Ordinal);
        }
    }

    [Fact]
    public async Task The_dashboard_is_json_whose_panels_all_have_queries_and_units()
    {
        using var dashboard = JsonDocument.Parse(await File.ReadAllBytesAsync(Path.Combine(Repository.Find()!, "telemetry", "grafana-dashboard.json")));
        var panels = dashboard.RootElement.GetProperty("panels").EnumerateArray().Where(panel => panel.GetProperty("type").GetString() != "row").ToArray();
        Assert.True(panels.Length >= 8, $"{panels.Length} panels");
        Assert.Equal(panels.Length, panels.Select(panel => panel.GetProperty("id").GetInt32()).Distinct().Count());
        foreach (var panel in panels)
        {
            Assert.NotEmpty(panel.GetProperty("title").GetString()!);
            Assert.NotEmpty(panel.GetProperty("fieldConfig").GetProperty("defaults").GetProperty("unit").GetString()!);
            Assert.All(panel.GetProperty("targets").EnumerateArray(), target => Assert.NotEmpty(target.GetProperty("expr").GetString()!));
        }
    }

    private static async Task<HashSet<string>> Emitted()
    {
        var inspection = new FakeInspection
        {
            Cluster = new ClusterStatusView("w1", 3, 7) { Peers = [new PeerView("w2", 1)] },
        };
        await using var host = await ApiHost.Start(new FakeTransactionService(), inspection);
        var text = (await host.Get("/metrics")).Text;
        return [.. text.Split('\n').Where(line => line.StartsWith("# TYPE ", StringComparison.Ordinal)).Select(line => line.Split(' ')[2])];
    }

    [GeneratedRegex(@"\b(snapper|process|dotnet)_[a-z0-9]+_[a-z0-9_]*[a-z0-9]\b")]
    private static partial Regex Names();

    [GeneratedRegex("_(bucket|sum|count)$")]
    private static partial Regex Suffix();
}
