using Snapper.Simulation.Core;

namespace Snapper.Simulation.Cluster;

/// <summary>Of which seeds the shared store loses what it did last: by numbers of their own, so that all others are drawn as ever.</summary>
internal static class StoreLoss
{
    /// <summary>The loss of a seed: what is done for so long after a time is gone; null: nothing is lost.</summary>
    public static PlannedClusterFault? Draw(ulong seed, int workers)
    {
        var chance = SeededChance.For(seed, ChanceOf.StoreLoss);
        return chance.Percent(8)
            ? new PlannedClusterFault(chance.Between(50, 800), ClusterFaultKind.StoreLosesTail, chance.Between(1, workers), chance.Between(1, chance.Percent(50) ? 20 : 300), 0)
            : null;
    }
}
