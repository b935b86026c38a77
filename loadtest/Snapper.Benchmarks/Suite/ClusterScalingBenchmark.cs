using Snapper.Benchmarks.Clusters;
using Snapper.Benchmarks.InProcess;
using Snapper.Benchmarks.Runs;

namespace Snapper.Benchmarks.Suite;

/// <summary>
/// Throughput and CPU per transaction by number of workers, share of transfers over two workers, and kind. All clusters live for the whole benchmark on the same cores; the cells
/// are run forwards, then backwards, and so on, so that what drifts falls on all of them. Hardware is fixed: more workers cannot be faster here, only cost little.
/// </summary>
public sealed class ClusterScalingBenchmark : IBenchmark
{
    private static readonly int[] Sizes = [1, 2, 4];
    private static readonly double[] Shares = [0, 0.1, 0.5, 1];

    /// <inheritdoc />
    public string Name => "cluster-scaling";

    /// <inheritdoc />
    public string What => "throughput and CPU per transaction of 1, 2 and 4 workers at 0, 10, 50 and 100 % of transfers over two workers, in process, on fixed hardware";

    /// <inheritdoc />
    public async Task<BenchmarkResult> RunAsync(BenchmarkContext context)
    {
        var clusters = new List<ClusterInProcess>();
        try
        {
            foreach (var size in Sizes)
            {
                clusters.Add(await ClusterInProcess.StartAsync(size, context.Options.Accounts));
            }

            var cells = CellsOf(context, clusters);
            foreach (var cell in cells)
            {
                await cell.WarmUpAsync();
            }

            for (var round = 0; round < context.Plan.Repetitions; round++)
            {
                foreach (var cell in round % 2 == 0 ? cells : cells.AsEnumerable().Reverse())
                {
                    await cell.RunAsync();
                }
            }

            var sides = cells.Select(static cell => cell.Runs).ToArray();
            var result = new BenchmarkResult { Name = Name, What = What, Sides = sides };
            var spoilt = sides.FirstOrDefault(static side => side.Void is not null);
            return ClusterSides.Watched(spoilt is null ? result : result with { Missing = $"{spoilt.Name}: {spoilt.Void}" }, [.. clusters]);
        }
        finally
        {
            foreach (var cluster in clusters)
            {
                await cluster.DisposeAsync();
            }
        }
    }

    private static List<Cell> CellsOf(BenchmarkContext context, List<ClusterInProcess> clusters)
    {
        var shape = ClusterSides.ShapeFor(context, Sizes[^1]);
        var cells = new List<Cell>();
        foreach (var kind in new[] { TransactionKind.Pact, TransactionKind.Act })
        {
            foreach (var cluster in clusters)
            {
                foreach (var share in cluster.Workers == 1 ? Shares[..1] : Shares)
                {
                    var name = $"{(kind == TransactionKind.Pact ? "PACT" : "ACT")}, {cluster.Workers} worker{(cluster.Workers == 1 ? "" : "s")}, {share * 100:0} % over two";
                    cells.Add(new Cell(context, ClusterSide.Of(cluster, name, new ClusterMix(kind, share), shape)));
                }
            }
        }

        return cells;
    }

    private sealed class Cell(BenchmarkContext context, Side side)
    {
        private readonly List<RunResult> _runs = [];

        public SideRuns Runs => new(side.Name, side.Shapes[0], _runs, []);

        public Task WarmUpAsync() => side.RunAsync(side.Shapes[0], context.Plan.SweepTimes, context.Plan.Seed);

        public async Task RunAsync()
        {
            var run = await side.RunAsync(side.Shapes[0], context.Plan.Times, context.Plan.Seed + (ulong)_runs.Count);
            _runs.Add(run);
            context.Progress($"  {side.Name}: {run.PerSecond:F0}/s, {run.CpuPerTransaction:F0} us CPU{(run.Void is null ? "" : $", VOID: {run.Void}")}");
        }
    }
}
