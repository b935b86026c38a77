using Snapper.Simulation.Faults;

namespace Snapper.Simulation.Running;

/// <summary>What a simulated run showed.</summary>
public sealed record SimulationResult
{
    /// <summary>What was run.</summary>
    public required Scenario Scenario { get; init; }

    /// <summary>What is wrong, in words; empty when nothing is.</summary>
    public required IReadOnlyList<string> Violations { get; init; }

    /// <summary>Transactions whose clients heard of a commit.</summary>
    public required int Committed { get; init; }

    /// <summary>... of an abort.</summary>
    public required int Aborted { get; init; }

    /// <summary>... of nothing certain.</summary>
    public required int Unknown { get; init; }

    /// <summary>Faults that happened.</summary>
    public required FaultCounters Faults { get; init; }

    /// <summary>Steps of the one thread.</summary>
    public required long Steps { get; init; }

    /// <summary>Time that passed inside.</summary>
    public required TimeSpan VirtualTime { get; init; }

    /// <summary>Hash over everything that clients saw and when: equal for equal seeds.</summary>
    public required ulong Digest { get; init; }
}
