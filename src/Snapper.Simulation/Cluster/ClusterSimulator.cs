#if PLANTED_FAULTS
using Snapper.Protocol;

#endif
namespace Snapper.Simulation.Cluster;

/// <summary>Runs scenarios of several workers. A run uses the calling thread alone; several may run at once on threads of their own.</summary>
public static class ClusterSimulator
{
    /// <summary>Names of the faults that can be planted and that only several workers have; empty unless this is the verification build (<c>-c Planted</c>).</summary>
    public static IReadOnlyList<string> PlantedFaults { get; } =
#if PLANTED_FAULTS
        [.. Enum.GetNames<PlantedFault>()[(int)PlantedFault.EarlierLifeHeard..(int)PlantedFault.WindowFromQueueing]];
#else
        [];
#endif

    /// <summary>Runs the scenario of a seed.</summary>
    public static ClusterRunResult Run(ulong seed) => Run(ClusterScenario.Draw(seed));

    /// <summary>Runs a scenario to its end and judges what its clients saw.</summary>
    public static ClusterRunResult Run(ClusterScenario scenario)
    {
        ArgumentNullException.ThrowIfNull(scenario);
        return new ClusterWorld(scenario).Run();
    }
}
