using Snapper.Benchmarks.InProcess;
using Snapper.Benchmarks.Load;
using Snapper.Benchmarks.Statistics;

namespace Snapper.Benchmarks.Clusters;

/// <summary>The mix of a load on several workers.</summary>
/// <param name="Kind">PACTs or ACTs.</param>
/// <param name="Distributed">Share of transfers over two workers, 0 to 1.</param>
/// <param name="AnyWorker">Requests come to any worker instead of the one that owns the root.</param>
public readonly record struct ClusterMix(TransactionKind Kind, double Distributed, bool AnyWorker = false);

/// <summary>A closed loop that calls the doors of several workers.</summary>
public sealed class ClusterPipeline(ClusterInProcess cluster, PlacedTransfers transfers, ClusterMix mix, ulong seed) : IPipeline
{
    private FastRandom _random = new(seed);

    /// <inheritdoc />
    public async ValueTask RunOnceAsync(Tally tally)
    {
        var distributed = mix.Distributed > 0 && _random.NextDouble() < mix.Distributed;
        var transfer = transfers.Draw(ref _random, distributed);
        var end = mix.AnyWorker
            ? await cluster.RunAtAsync(1 + _random.Next(cluster.Workers), mix.Kind, transfer)
            : await cluster.RunAsync(mix.Kind, transfer);
        end.CountIn(tally, mix.Kind == TransactionKind.Act);
        if (end.Committed && distributed)
        {
            tally.CountDistributed();
        }
    }

    /// <inheritdoc />
    public ValueTask DisposeAsync() => ValueTask.CompletedTask;
}
