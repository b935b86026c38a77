using Snapper.Benchmarks.Clusters;
using Snapper.Benchmarks.Load;
using Snapper.Benchmarks.Measurement;
using Snapper.Benchmarks.Runs;
using Snapper.Benchmarks.Statistics;
using Snapper.Benchmarks.Systems;

namespace Snapper.Benchmarks.Suite;

/// <summary>
/// One side of a <see cref="TwoWorkersBenchmark"/>: processes as <c>./snapper up</c> starts them, and what is sent to
/// them.
/// </summary>
/// <param name="Name">What the tables call it.</param>
/// <param name="Workers">How many.</param>
public sealed record WorkersLoad(string Name, int Workers)
{
    /// <summary>
    /// Straight to the workers, to the root's owner, in batches; else one per request, through the sidecars in turn.
    /// </summary>
    public bool Direct { get; init; }

    /// <summary>One at a time, on one connection.</summary>
    public bool Alone { get; init; }

    /// <summary>Two accounts on each of two workers; else four of all.</summary>
    public bool Distributed { get; init; }

    /// <summary>Without a declaration.</summary>
    public bool Act { get; init; }

    /// <summary>Packets between workers through the sidecars, not by direct links.</summary>
    public bool ThroughSidecars { get; init; }
}

/// <summary>Several workers in processes of their own beside others: throughput, CPU or latency.</summary>
/// <param name="name">Its name.</param>
/// <param name="what">What its number is.</param>
/// <param name="a">One side.</param>
/// <param name="b">The other.</param>
/// <param name="metric">Of a run.</param>
/// <param name="goal">The bar.</param>
/// <param name="isDifference">A's number less B's, in ms; else A's divided by B's.</param>
public sealed class TwoWorkersBenchmark(
    string name, string what, WorkersLoad a, WorkersLoad b, Func<RunResult, double> metric, Goal goal,
        bool isDifference = false) : IBenchmark
{
    private const int DirectLoops = 4;
    private static readonly int[] s_batches = [64];

    /// <inheritdoc />
    public string Name => name;

    /// <inheritdoc />
    public string What => what;

    /// <summary>CPU of everything but the load generator, in µs per transaction.</summary>
    public static double ServerCpu(RunResult run) => run.CpuPerTransaction - run.CpuOf(CpuMeter.Generator);

    /// <summary>Median latency in ms.</summary>
    public static double P50(RunResult run) => run.P50 / 1000.0;

    /// <inheritdoc />
    public async Task<BenchmarkResult> RunAsync(BenchmarkContext context)
    {
        await using var systemA = await StartAsync(a);
        await using var systemB = a.Workers == b.Workers && a.ThroughSidecars == b.ThroughSidecars ? null
            : await StartAsync(b);
        var (runsA, runsB) = await SideBySide.RunAsync(
            await SideOf(a, systemA, context), await SideOf(b, systemB ?? systemA, context), context.Plan,
                context.Progress);
        var result = isDifference
            ? BenchmarkResult.Difference(name, what, goal, runsA, runsB, metric, context.Plan.Seed)
            : BenchmarkResult.PairedRatio(name, what, goal, runsA, runsB, metric, context.Plan.Seed);
        return result with { Notes = Facts.Of(systemA) };
    }

    private static Task<SnapperSystem> StartAsync(WorkersLoad load) => SnapperSystem.StartAsync(
        load.Workers,
        load.ThroughSidecars ? new Dictionary<string, string?> { ["Snapper__Cluster__Links"] = "sidecar" } : null);

    private static async Task<Side> SideOf(WorkersLoad load, SnapperSystem system, BenchmarkContext context)
    {
        var chooser = context.Transfers();
        int[]? owners = null;
        if (load.Workers > 1)
        {
            using var client = new ClusterClient(system.Worker);
            owners = await client.OwnersAsync(context.Options.Accounts, system.Workers);
            if (load.Distributed)
            {
                chooser = new PlacedChooser(new PlacedTransfers(owners), distributed: true);
            }
        }

        var turn = 0;
        return new Side(load.Name, Shapes(load, context), Pipeline, system.Processes) { AbortsAllowed = load.Act };

        IPipeline Pipeline(LoadShape shape, ulong seed)
        {
            var at = turn++ % load.Workers;
            var worker = system.Workers[at];
            var rooted = load.Direct && owners is not null ? new RootedChooser(chooser, owners, at + 1) : chooser;
            return new HttpPipeline(
                load.Direct
                    ? SnapperSystem.DirectBatchedMultiTransfer(rooted, worker.Url, shape.Batch, load.Act)
                    : SnapperSystem.MultiTransfer(rooted, worker.Sidecar), seed);
        }
    }

    private static IReadOnlyList<LoadShape> Shapes(WorkersLoad load, BenchmarkContext context) =>
        load.Alone ? [new LoadShape(1)]
        : load.Direct ? [.. s_batches.Select(static batch => new LoadShape(DirectLoops, batch))]
        : context.Connections;
}
