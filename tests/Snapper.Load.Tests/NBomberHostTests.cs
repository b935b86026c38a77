using NBomber.Contracts;
using NBomber.Contracts.Stats;
using Snapper.Client.Messages;
using Snapper.NBomberHost;
using Snapper.Scenarios;
using Snapper.Terminal;
using Xunit;

namespace Snapper.Load.Tests;

public sealed class NBomberHostTests
{
    [Theory]
    [InlineData("conflict", "abort.conflict", true)]
    [InlineData("timeout", "abort.timeout", true)]
    [InlineData("application", "abort.application", false)]
    public void An_abort_has_its_reason_as_status_code(string reason, string code, bool isError)
    {
        var answer = Answers.Of(FakeBank.Aborted("x", reason, retryable: true));
        Assert.Equal((code, isError), (answer.StatusCode, answer.IsError));
    }

    [Fact]
    public void A_refusal_and_a_doubt_are_failures()
    {
        var refused = Answers.Of(new TransactionReply { Id = "x", Outcome = TransactionOutcome.Rejected, Rejection = new RejectionDetails(503, "starting") });
        Assert.Equal(("refused.503", true, "starting"), (refused.StatusCode, refused.IsError, refused.Message));
        Assert.Equal("in-doubt", Answers.Of(new TransactionReply { Id = "x", Outcome = TransactionOutcome.InDoubt }).StatusCode);
        Assert.False(Answers.Of(new TransactionReply { Id = "x", Outcome = TransactionOutcome.Committed }).IsError);
    }

    [Fact]
    public void Thresholds_count_aborts_and_errors_apart()
    {
        var checks = Bounds.Of([new("error-percent", 1), new("abort-percent", 3), new("abort-percent.conflict", 1), new("p99-ms", 50), new("pause-p99-ms", 1)])
            .Select(static threshold => threshold.CheckScenario.Compile()).ToArray();
        Assert.Equal(4, checks.Length); // NBomber has no number for the pause
        var stats = Stats(ok: 97, p99: 40, ("abort.conflict", 1), ("abort.timeout", 1), ("in-doubt", 1));
        Assert.Equal([true, true, true, true], checks.Select(check => check(stats)));
        stats = Stats(ok: 94, p99: 60, ("abort.conflict", 2), ("abort.timeout", 2), ("refused.503", 2));
        Assert.Equal([false, false, false, false], checks.Select(check => check(stats)));
    }

    [Fact]
    public void Shapes_become_load_simulations()
    {
        var second = TimeSpan.FromSeconds(1);
        Assert.Equal([new LoadSimulation.Injecting(50, second, 10 * second)], Host.Simulations(Scenario.ShapeOf(ShapeKind.Steady, 50, 10 * second)));
        Assert.Equal(
            [new LoadSimulation.Injecting(5, second, second), new LoadSimulation.RampingInjecting(50, second, 10 * second)],
            Host.Simulations(Scenario.ShapeOf(ShapeKind.Ramp, 50, 10 * second)));
        Assert.Equal([50, 150, 50], Host.Simulations(Scenario.ShapeOf(ShapeKind.Spike, 50, 10 * second)).Cast<LoadSimulation.Injecting>().Select(static one => one.Rate));
    }

    [Theory]
    [InlineData("Name a scenario", "nonsense")]
    [InlineData("'NAME'", "--rate", "5")]
    [InlineData("--rate must be", "spike", "--rate", "0.5")]
    [InlineData("'--rate'", "spike", "--rate")]
    [InlineData("'--speed'", "spike", "--speed", "1")]
    public async Task A_wrong_line_says_what_is_wrong(string expected, params string[] arguments)
    {
        using var errors = new StringWriter();
        var exit = await CommandLines.Run(HostOptions.Program(_ => 0), arguments, TextWriter.Null, errors);
        Assert.Equal(2, exit);
        Assert.Contains(expected, errors.ToString(), StringComparison.Ordinal);
    }

    private static ScenarioStats Stats(int ok, double p99, params (string Code, int Count)[] failed) => new(
        "x",
        new MeasurementStats(new RequestStats(ok), new LatencyStats(1, 2, p99, 2, 3, 4, p99), [new StatusCodeStats("committed", false, "", ok)]),
        new MeasurementStats(new RequestStats(failed.Sum(static one => one.Count)), new LatencyStats(0, 0, 0, 0, 0, 0, 0), [.. failed.Select(static one => new StatusCodeStats(one.Code, true, "", one.Count))]),
        [],
        ok + failed.Sum(static one => one.Count),
        ok,
        failed.Sum(static one => one.Count));
}
