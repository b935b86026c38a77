using Snapper.Benchmarks.InProcess;
using Snapper.Benchmarks.Runs;

namespace Snapper.Benchmarks.Clusters;

/// <summary>Makes a side of a comparison from a workload on several workers.</summary>
public static class ClusterSide
{
    /// <summary>A workload on a cluster.</summary>
    public static Side Of(ClusterInProcess cluster, string name, ClusterMix mix, LoadShape shape)
    {
        var owners = new int[cluster.Keys.Count];
        for (var i = 0; i < owners.Length; i++)
        {
            owners[i] = cluster.OwnerOf(i);
        }

        var transfers = new PlacedTransfers(owners);
        return new Side(name, [shape], (_, seed) => new ClusterPipeline(cluster, transfers, mix, seed), cluster.Processes)
        {
            OwnRole = "runtime and driver",

            // ACTs may conflict; a PACT never aborts for another's sake, and here nothing else can abort it.
            AbortsAllowed = mix.Kind == TransactionKind.Act,
        };
    }
}
