using Snapper.Protocol;
using Snapper.Simulation.Faults;
using Snapper.Simulation.Marks;

namespace Snapper.Simulation.Running;

/// <summary>What a simulated run showed.</summary>
/// <typeparam name="TScenario">What runs: <see cref="Running.Scenario"/>, or that of several workers.</typeparam>
public abstract record RunResult<TScenario>
{
    /// <summary>What was run.</summary>
    public required TScenario Scenario { get; init; }

    /// <summary>What is wrong, in words; empty when nothing is.</summary>
    public required IReadOnlyList<string> Violations { get; init; }

    /// <summary>Transactions whose clients heard of a commit.</summary>
    public required int Committed { get; init; }

    /// <summary>... of an abort.</summary>
    public required int Aborted { get; init; }

    /// <summary>... of nothing certain.</summary>
    public required int Unknown { get; init; }

    /// <summary>Faults that happened; of several workers, those between clients and workers.</summary>
    public required Tally<FaultKind> Faults { get; init; }

    /// <summary>Transitions of single workers that were taken; nothing but zeros in a build that does not count them
    /// (<see cref="Simulator.CountsTransitions"/>).</summary>
    public required Tally<Transition> Transitions { get; init; }

    /// <summary>Scheduling choices that were taken the other way.</summary>
    public required Tally<SchedulingChoice> SchedulingChoices { get; init; }

    /// <summary>Steps of the one thread.</summary>
    public required long Steps { get; init; }

    /// <summary>Time that passed inside.</summary>
    public required TimeSpan VirtualTime { get; init; }

    /// <summary>Hash over everything that clients saw and when: equal for equal seeds.</summary>
    public required ulong Digest { get; init; }
}
