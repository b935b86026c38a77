namespace Snapper.Simulation.Cluster;

/// <summary>Runs scenarios of several workers. A run uses the calling thread alone; several may run at once on threads of their own.</summary>
public static class ClusterSimulator
{
    /// <summary>Names of the mutations that only several workers have; empty unless this is the verification build (<c>-c Planted</c>).</summary>
    public static IReadOnlyList<string> Mutations { get; } =
#if MUTATIONS
        MutationSwitch.SeveralWorkers;
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
