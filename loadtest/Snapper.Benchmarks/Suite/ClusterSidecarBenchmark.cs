using Snapper.Benchmarks.Clusters;
using Snapper.Benchmarks.Load;
using Snapper.Benchmarks.Runs;
using Snapper.Benchmarks.Systems;

namespace Snapper.Benchmarks.Suite;

/// <summary>
/// PACTs over two workers, one per request, through two sidecars, against plain actors on two hosts behind theirs. Every PACT has two accounts on each worker; the accounts of a
/// plain transfer lie where Dapr's placement puts them, one and a half of its three calls on the other host on average.
/// </summary>
public sealed class ClusterSidecarBenchmark : IBenchmark
{
    private const int Hosts = 2;

    /// <inheritdoc />
    public string Name => "cluster-sidecar";

    /// <inheritdoc />
    public string What => "PACT over 2 workers through 2 sidecars, one transaction per request ÷ NonTxn-Dapr on 2 hosts (throughput)";

    /// <inheritdoc />
    public async Task<BenchmarkResult> RunAsync(BenchmarkContext context)
    {
        await using var baseline = await BaselineSystem.StartAsync(Hosts);
        await using var snapper = await SnapperSystem.StartAsync(Hosts);
        using var client = new ClusterClient(snapper.Worker);
        var before = await client.WorkersAsync();
        var placed = new PlacedChooser(new PlacedTransfers(await client.OwnersAsync(context.Options.Accounts, snapper.Workers)), distributed: true);
        var turn = 0;
        var ours = new Side(
            "Snapper PACT over 2 workers",
            context.Connections,
            (_, seed) => new HttpPipeline(SnapperSystem.MultiTransfer(placed, snapper.Workers[turn++ % Hosts].Sidecar), seed),
            snapper.Processes);
        var plain = new Side(
            BaselineSystem.SystemName + " MultiTransfer, 2 hosts",
            context.Connections,
            (_, seed) => new HttpPipeline(BaselineSystem.MultiTransfer(context.Transfers(), baseline.Sidecars[turn++ % Hosts]), seed),
            baseline.Processes);
        var (a, b) = await SideBySide.RunAsync(ours, plain, context.Plan, context.Progress);
        var lost = ClusterWatch.TakenOver(before, await client.WorkersAsync());
        var result = BenchmarkResult.PairedRatio(Name, What, new Goal(1.5, 3, true), a, b, static run => run.PerSecond, context.Plan.Seed);
        return ClusterWatch.Judge(result with { Notes = Facts.Of(snapper, baseline) }, lost);
    }
}

/// <summary>Whether workers that were alive lost their actors: their epochs tell, for a worker that was taken for dead can only come back in a new life.</summary>
internal static class ClusterWatch
{
    /// <summary>Workers whose life ended between two looks.</summary>
    public static IReadOnlyList<string> TakenOver(IReadOnlyList<SeenWorker> before, IReadOnlyList<SeenWorker> after, params string[] killed) => before
        .Where(worker => !killed.Contains(worker.Name) && !after.Any(now => now.Name == worker.Name && now.Epoch == worker.Epoch && now.State == "live"))
        .Select(static worker => worker.Name).ToArray();

    /// <summary>The result with the count, or without its number when there was one.</summary>
    public static BenchmarkResult Judge(BenchmarkResult result, IReadOnlyList<string> lost)
    {
        var notes = new Dictionary<string, string>(result.Notes) { ["take-overs of a worker that was alive"] = $"{lost.Count}" };
        return lost.Count == 0 ? result with { Notes = notes } : result with
        {
            Notes = notes, Measured = null, Interval = null, Missing = $"taken for dead while it was alive: {string.Join(", ", lost)}",
        };
    }
}
