using Snapper.Benchmarks.InProcess;
using Snapper.Benchmarks.Runs;

namespace Snapper.Benchmarks.Suite;

/// <summary>What PACTs that wait for something else than the worker cost the others (D2).</summary>
/// <param name="name">Its name on the command line.</param>
/// <param name="what">What the number is, in words.</param>
/// <param name="waits">
/// Share 1: one loop more, whose PACTs all wait; less: so many of the transactions of all loops do.
/// </param>
/// <param name="isLatency">True: 99th percentile − alone, in ms; false: throughput ÷ alone.</param>
/// <param name="goal">Of the number.</param>
public sealed class SlowPactBenchmark(string name, string what, Waits waits, bool isLatency, Goal goal)
    : InProcessBenchmark
{
    /// <inheritdoc />
    public override string Name => name;

    /// <inheritdoc />
    public override string What => what;

    /// <inheritdoc />
    protected override async Task<BenchmarkResult> MeasureAsync(BenchmarkContext context, IInProcessSystem system)
    {
        var loops = context.Options.Pipelines.Max();
        var extra = waits.Share < 1 ? 0 : 1;
        var (a, b) = await SideBySide.RunAsync(
            SideOf(context, system, "with those that wait", loops + extra, share: waits.Share),
            SideOf(context, system, "alone", loops, share: 0),
            context.Plan, context.Progress);
        return isLatency
            ? BenchmarkResult.Difference(Name, What, goal, a, b, static run => run.P99 / 1000.0, context.Plan.Seed)
            : BenchmarkResult.PairedRatio(Name, What, goal, a, b, static run => run.PerSecond, context.Plan.Seed);
    }

    private Side SideOf(BenchmarkContext context, IInProcessSystem system, string side, int loops, double share)
    {
        var chooser = context.Transfers(0);
        var made = 0;
        return new Side(
            side,
            [new LoadShape(loops)],
            (_, seed) =>
            {
                var loop = made++ % loops;
                var isExtra = share == 1 && loop == loops - 1;
                var own = waits with { Share = isExtra ? 1 : share == 1 ? 0 : share };
                return new WaitingPipeline(system, chooser, own, loop, seed);
            },
            system.Processes)
        {
            OwnRole = "runtime and driver",
        };
    }
}
