using Snapper.Benchmarks.Clusters;
using Snapper.Benchmarks.InProcess;
using Snapper.Benchmarks.Runs;

namespace Snapper.Benchmarks.Suite;

/// <summary>What the benchmarks of several workers in this process have in common.</summary>
internal static class ClusterSides
{
    /// <summary>Loops to try: the workers share the load, and each needs enough of it to fill its batches.</summary>
    public static IReadOnlyList<LoadShape> Shapes(BenchmarkContext context) => context.Options.Pipelines.Select(static count => new LoadShape(count)).ToArray();

    /// <summary>A workload on a cluster.</summary>
    public static Side Of(BenchmarkContext context, ClusterInProcess cluster, string name, ClusterMix mix)
    {
        var owners = new int[cluster.Keys.Count];
        for (var i = 0; i < owners.Length; i++)
        {
            owners[i] = cluster.OwnerOf(i);
        }

        var transfers = new PlacedTransfers(owners);
        return new Side(name, Shapes(context), (_, seed) => new ClusterPipeline(cluster, transfers, mix, seed), cluster.Processes)
        {
            OwnRole = "runtime and driver",

            // ACTs may conflict; a PACT never aborts for another's sake, and here nothing else can abort it.
            AbortsAllowed = mix.Kind == TransactionKind.Act,
        };
    }

    /// <summary>The result with its facts, or without its number when a worker that was alive lost its actors, or one stopped.</summary>
    public static BenchmarkResult Watched(BenchmarkResult result, params ClusterInProcess[] clusters)
    {
        var notes = new Dictionary<string, string>(result.Notes);
        foreach (var (name, value) in clusters[0].Facts)
        {
            notes[name] = value;
        }

        notes["take-overs of a worker that was alive"] = $"{clusters.Sum(static cluster => cluster.Vigil.TakeOvers)}";
        var problem = clusters.Select(static cluster => cluster.Vigil.Problem).FirstOrDefault(static problem => problem is not null);
        return problem is null ? result with { Notes = notes } : result with { Notes = notes, Measured = null, Interval = null, Missing = problem };
    }
}

/// <summary>CPU per local PACT with four workers ÷ with one.</summary>
public sealed class ClusterLocalCpuBenchmark : IBenchmark
{
    private const int Many = 4;

    /// <inheritdoc />
    public string Name => "cluster-local-cpu";

    /// <inheritdoc />
    public string What => "CPU per local PACT with 4 workers ÷ with 1 worker, in process, Redis included";

    /// <inheritdoc />
    public async Task<BenchmarkResult> RunAsync(BenchmarkContext context)
    {
        await using var four = await ClusterInProcess.StartAsync(Many, context.Options.Accounts);
        await using var one = await ClusterInProcess.StartAsync(1, context.Options.Accounts);
        var mix = new ClusterMix(TransactionKind.Pact, 0);
        var (a, b) = await SideBySide.RunAsync(
            ClusterSides.Of(context, four, "local PACT, 4 workers", mix), ClusterSides.Of(context, one, "local PACT, 1 worker", mix), context.Plan, context.Progress);
        var any = await SideBySide.RunOneAsync(
            ClusterSides.Of(context, four, "local PACT, 4 workers, sent to any of them", mix with { AnyWorker = true }), context.Plan, context.Progress);
        var result = BenchmarkResult.Ratio(Name, What, new Goal(1.3, 1.1, false), a, b, static run => run.CpuPerTransaction, context.Plan.Seed, any);
        return ClusterSides.Watched(result, four, one);
    }
}

/// <summary>One mix ÷ another on the same workers.</summary>
public sealed class ClusterRatioBenchmark(
    string name, string what, int workers, (string Name, ClusterMix Mix) upper, (string Name, ClusterMix Mix) lower, Func<RunResult, double> metric, Goal goal) : IBenchmark
{
    /// <inheritdoc />
    public string Name => name;

    /// <inheritdoc />
    public string What => what;

    /// <inheritdoc />
    public async Task<BenchmarkResult> RunAsync(BenchmarkContext context)
    {
        await using var cluster = await ClusterInProcess.StartAsync(workers, context.Options.Accounts);
        var (a, b) = await SideBySide.RunAsync(
            ClusterSides.Of(context, cluster, upper.Name, upper.Mix), ClusterSides.Of(context, cluster, lower.Name, lower.Mix), context.Plan, context.Progress);
        return ClusterSides.Watched(BenchmarkResult.Ratio(Name, What, goal, a, b, metric, context.Plan.Seed), cluster);
    }
}
