using Snapper.Benchmarks.Load;
using Snapper.Benchmarks.Runs;
using Snapper.Benchmarks.Systems;

namespace Snapper.Benchmarks.Suite;

/// <summary>What a lone transaction adds to a lone call through the same sidecar.</summary>
public sealed class LatencyBenchmark : IBenchmark
{
    private static readonly LoadShape[] One = [new LoadShape(1)];

    /// <inheritdoc />
    public string Name => "latency";

    /// <inheritdoc />
    public string What => "lone PACT through the sidecar, idle system: median − median of the same sidecar's no-op actor call";

    /// <inheritdoc />
    public async Task<BenchmarkResult> RunAsync(BenchmarkContext context)
    {
        SideRuns plain;
        await using (var baseline = await BaselineSystem.StartAsync())
        {
            plain = await SideBySide.RunOneAsync(BaselineSides.Noop(context, baseline) with { Shapes = One }, context.Plan, context.Progress);
        }

        await using var snapper = await SnapperSystem.StartAsync();
        var pact = new Side("Snapper PACT", One, (_, seed) => new HttpPipeline(snapper.MultiTransfer(context.Transfers()), seed), snapper.Processes);
        var noop = new Side("Snapper's sidecar, no-op", One, (_, seed) => new HttpPipeline(snapper.Noop(context.Transfers()), seed), snapper.Processes);
        var (a, b) = await SideBySide.RunAsync(pact, noop, context.Plan, context.Progress);
        var result = BenchmarkResult.Difference(
            Name, What, new Goal(5, 1.5, false), a, b, P50, context.Plan.Seed, plain);
        if (result.Missing is not null)
        {
            return result;
        }

        return result with
        {
            Notes = new Dictionary<string, string>(Facts.Of(snapper))
            {
                ["p99 − p99 of the no-op"] = $"{a.Summary(P99).Median - b.Summary(P99).Median:F2} ms",
            },
        };
    }

    private static double P50(RunResult run) => run.P50 / 1000.0;

    private static double P99(RunResult run) => run.P99 / 1000.0;
}
