using Snapper.Simulation.Marks;
using Snapper.Simulation.Running;

namespace Snapper.Simulation.Cluster;

/// <summary>What a simulated run of several workers showed.</summary>
public sealed record ClusterRunResult : RunResult<ClusterScenario>
{
    /// <summary>Everything that went wrong, or was done, beside the faults between clients and workers.</summary>
    public required Tally<ClusterFaultKind> Happened { get; init; }

    /// <summary>Transitions of several workers that were taken.</summary>
    public required Tally<ClusterTransition> ClusterTransitions { get; init; }
}
