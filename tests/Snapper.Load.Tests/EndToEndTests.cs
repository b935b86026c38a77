using System.Text.Json;
using NBomber.Contracts.Stats;
using Snapper.Live.Harness;
using Snapper.NBomberHost;
using Snapper.NBomberStandIn;
using Xunit;

[assembly: CollectionBehavior(DisableTestParallelization = true)]

namespace Snapper.Load.Tests;

/// <summary>A running system for all tests of a class: one process, a log in a file.</summary>
public sealed class OneWorker : IAsyncLifetime
{
    private SnapperProcess? _process;

    internal string Url => _process!.Worker.Url.AbsoluteUri;

    public async Task InitializeAsync() => _process = await SnapperProcess.Start(UpOptions.Random(embedded: true));

    public async Task DisposeAsync()
    {
        await using (_process!)
        {
            await _process!.Stop();
        }

        Directory.Delete(_process.Options.Data, recursive: true);
    }
}

/// <summary>Short runs against a real system.</summary>
public sealed class EndToEndTests(OneWorker worker) : IClassFixture<OneWorker>, IDisposable
{
    // What the machine has left for a test decides over latencies: only what does not depend on it is bounded here.
    private const string Lenient = "p99-ms<=60000";

    private readonly string _folder = Directory.CreateTempSubdirectory("snapper-load-").FullName;

    public void Dispose() => Directory.Delete(_folder, recursive: true);

    [Theory]
    [InlineData("smallbank-pact")]
    [InlineData("smallbank-act")]
    [InlineData("smallbank-hotspot")]
    [InlineData("listappend")]
    [InlineData("spike")]
    public async Task A_short_run_holds_and_writes_its_report(string scenario)
    {
        var (code, output, errors) = await Run(scenario, "--threshold", Lenient);
        Assert.True(code == 0, $"{output}\n{errors}");
        using var json = JsonDocument.Parse(await File.ReadAllTextAsync(Path.Combine(_folder, "report.json")));
        Assert.True(json.RootElement.GetProperty("passed").GetBoolean());
        Assert.True(json.RootElement.GetProperty("outcomes").GetProperty("committed").GetInt64() > 50);
        Assert.Contains("<svg", await File.ReadAllTextAsync(Path.Combine(_folder, "report.html")), StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_bound_that_cannot_be_kept_ends_with_1()
    {
        var (code, output, _) = await Run("smallbank-mixed", "--threshold", "p50-ms<=0.001", "--threshold", Lenient);
        Assert.Equal(1, code);
        Assert.Contains("BROKEN p50-ms<=0.001", output, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_killed_worker_is_started_again_and_no_money_is_lost()
    {
        var (code, output, errors) = await Run("kill-worker", "--threshold", "error-percent<=100", "--threshold", "pause-p99-ms<=60000", "--threshold", "recovery-ms<=60000");
        Assert.True(code == 0, $"{output}\n{errors}");
        Assert.Contains("is killed", output, StringComparison.Ordinal);
    }

    [Fact]
    public async Task What_needs_several_workers_says_so()
    {
        var (code, output, _) = await Run("drain");
        Assert.Equal(1, code);
        Assert.Contains("./snapper up --workers 2", output, StringComparison.Ordinal);
    }

    [Fact]
    public async Task The_host_for_NBomber_runs_a_scenario_and_its_check()
    {
        var code = await Host.Run(["smallbank-mixed", "--rate", "40", "--duration", "3", "--warm-up", "0", "--url", worker.Url, "--accounts", "50"]);
        var stats = StandInRun.Last!.Value.Stats;
        var transactions = Of(stats, "smallbank-mixed");
        Assert.Equal(transactions.Ok.Latency.Percent99 > 250 ? 1 : 0, code); // the bound on latencies is kept or not as the machine has it; all others are
        Assert.True(transactions.AllOkCount > 80);
        Assert.Contains(transactions.Ok.StatusCodes, static status => status.StatusCode == "committed");
        Assert.Equal(3, stats.Thresholds.Count(static threshold => threshold.ScenarioName == "smallbank-mixed"));

        // The workers' own times, as steps.
        var steps = Of(stats, "phases").StepStats;
        Assert.Equal(["phase:execute", "phase:log", "phase:order"], steps.Select(static step => step.StepName).Order());
        Assert.All(steps, static step => Assert.True(step.Ok.Request.Count > 0));
        Assert.Contains(steps, static step => step.StepName == "phase:log" && step.Ok.Latency.MaxMs > 0);
    }

    private static ScenarioStats Of(NodeStats stats, string name) => Assert.Single(stats.ScenarioStats, one => one.ScenarioName == name);

    private Task<(int Code, string Output, string Errors)> Run(string scenario, params string[] more) => CommandLineTests.Run(
        [scenario, "--url", worker.Url, "--rate", "40", "--duration", "3s", "--warm-up", "0s", "--accounts", "40", "--timeout", "30s", "--report", _folder, .. more]);
}
