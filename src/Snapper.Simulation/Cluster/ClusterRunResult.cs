using Snapper.Protocol;
using Snapper.Simulation.Faults;
using Snapper.Simulation.Running;

namespace Snapper.Simulation.Cluster;

/// <summary>What a simulated run of several workers showed.</summary>
public sealed record ClusterRunResult
{
    /// <summary>What was run.</summary>
    public required ClusterScenario Scenario { get; init; }

    /// <summary>What is wrong, in words; empty when nothing is.</summary>
    public required IReadOnlyList<string> Violations { get; init; }

    /// <summary>Transactions whose clients heard of a commit.</summary>
    public required int Committed { get; init; }

    /// <summary>... of an abort.</summary>
    public required int Aborted { get; init; }

    /// <summary>... of nothing certain.</summary>
    public required int Unknown { get; init; }

    /// <summary>Faults between clients and workers that happened.</summary>
    public required Tally<FaultKind> Faults { get; init; }

    /// <summary>Everything else that went wrong, or was done.</summary>
    public required Tally<ClusterFaultKind> Happened { get; init; }

    /// <summary>Transitions of single workers that were taken; nothing but zeros in a program that does not ask for counts (<see cref="Simulator.CountsTransitions"/>).</summary>
    public required Tally<Transition> Transitions { get; init; }

    /// <summary>... of several workers.</summary>
    public required Tally<ClusterTransition> ClusterTransitions { get; init; }

    /// <summary>Rare points that were used.</summary>
    public required Tally<RarePoint> RarePoints { get; init; }

    /// <summary>Steps of the one thread.</summary>
    public required long Steps { get; init; }

    /// <summary>Time that passed inside.</summary>
    public required TimeSpan VirtualTime { get; init; }

    /// <summary>Hash over everything that clients saw and when: equal for equal seeds.</summary>
    public required ulong Digest { get; init; }
}
