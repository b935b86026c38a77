using Snapper.Benchmarks.Runs;
using Snapper.Benchmarks.Statistics;
using Snapper.Benchmarks.Systems;

namespace Snapper.Benchmarks.Suite;

/// <summary>What one local call to an actor costs: the denominator of the in-process ratios.</summary>
public sealed class NoopBenchmark : IBenchmark
{
    /// <inheritdoc />
    public string Name => "noop";

    /// <inheritdoc />
    public string What => "CPU of one local no-op actor call through the sidecar, load generator included";

    /// <inheritdoc />
    public async Task<BenchmarkResult> RunAsync(BenchmarkContext context)
    {
        await using var baseline = await BaselineSystem.StartAsync();
        var side = await SideBySide.RunOneAsync(BaselineSides.Noop(context, baseline), context.Plan, context.Progress);
        return Alone(side, static run => run.CpuPerTransaction, "us", context) with { Name = Name, What = What, Notes = Facts.Of(baseline) };
    }

    internal static BenchmarkResult Alone(SideRuns side, Func<RunResult, double> metric, string unit, BenchmarkContext context)
    {
        var result = new BenchmarkResult { Name = "", What = "", Unit = unit, Sides = [side] };
        return side.Void is { } reason
            ? result with { Missing = $"{side.Name}: {reason}" }
            : result with { Measured = side.Summary(metric).Median, Interval = Bootstrap.Median(side.Values(metric), context.Plan.Seed) };
    }
}

/// <summary>The baseline alone, for tuning it.</summary>
public sealed class NonTxnDaprBenchmark : IBenchmark
{
    /// <inheritdoc />
    public string Name => "nontxn-dapr";

    /// <inheritdoc />
    public string What => "NonTxn-Dapr: 4-actor MultiTransfer of plain Dapr actors through the sidecar";

    /// <inheritdoc />
    public async Task<BenchmarkResult> RunAsync(BenchmarkContext context)
    {
        await using var baseline = await BaselineSystem.StartAsync();
        var side = await SideBySide.RunOneAsync(BaselineSides.MultiTransfer(context, baseline), context.Plan, context.Progress);
        return NoopBenchmark.Alone(side, static run => run.PerSecond, "/s", context) with { Name = Name, What = What, Notes = Facts.Of(baseline) };
    }
}
