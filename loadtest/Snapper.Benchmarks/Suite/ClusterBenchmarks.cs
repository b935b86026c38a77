using Snapper.Benchmarks.Clusters;
using Snapper.Benchmarks.InProcess;
using Snapper.Benchmarks.Runs;

namespace Snapper.Benchmarks.Suite;

/// <summary>What the benchmarks of several workers in this process have in common.</summary>
internal static class ClusterSides
{
    /// <summary>
    /// Both sides have the same number of loops, as many for each worker of the greater side as one worker is given at most elsewhere: what differs shall be the number of workers,
    /// not how full their batches are.
    /// </summary>
    public static LoadShape ShapeFor(BenchmarkContext context, int workers) => new(context.Options.Pipelines.Max() * workers);

    /// <summary>A comparison; both sides run once before it, unmeasured, for the just-in-time compiler.</summary>
    public static async Task<(SideRuns A, SideRuns B)> CompareAsync(BenchmarkContext context, Side a, Side b)
    {
        await a.RunAsync(a.Shapes[0], context.Plan.Times, context.Plan.Seed);
        await b.RunAsync(b.Shapes[0], context.Plan.Times, context.Plan.Seed);
        return await SideBySide.RunAsync(a, b, context.Plan, context.Progress);
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
        var shape = ClusterSides.ShapeFor(context, Many);
        var (a, b) = await ClusterSides.CompareAsync(
            context, ClusterSide.Of(four, "local PACT, 4 workers", mix, shape), ClusterSide.Of(one, "local PACT, 1 worker", mix, shape));
        var any = await SideBySide.RunOneAsync(
            ClusterSide.Of(four, "local PACT, 4 workers, sent to any of them", mix with { AnyWorker = true }, shape), context.Plan, context.Progress);
        var result = BenchmarkResult.PairedRatio(Name, What, new Goal(1.3, 1.1, false), a, b, static run => run.CpuPerTransaction, context.Plan.Seed, any);
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
        var shape = ClusterSides.ShapeFor(context, workers);
        var (a, b) = await ClusterSides.CompareAsync(
            context, ClusterSide.Of(cluster, upper.Name, upper.Mix, shape), ClusterSide.Of(cluster, lower.Name, lower.Mix, shape));
        return ClusterSides.Watched(BenchmarkResult.PairedRatio(Name, What, goal, a, b, metric, context.Plan.Seed), cluster);
    }
}
