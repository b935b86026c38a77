using Snapper.Simulation.Faults;
using Snapper.Simulation.Running;

namespace Snapper.Simulation.OwnActors;

/// <summary>Many runs in sum: a run in which nothing committed, or nothing failed, has shown little.</summary>
public sealed record ActorSimulationTotals
{
    /// <summary>Runs.</summary>
    public int Runs { get; private init; }

    /// <summary>Transactions whose clients heard of a commit.</summary>
    public int Committed { get; private init; }

    /// <summary>... of an abort.</summary>
    public int Aborted { get; private init; }

    /// <summary>... of nothing certain.</summary>
    public int Unknown { get; private init; }

    /// <summary>Faults that happened.</summary>
    public Tally<FaultKind> Faults { get; } = new();

    internal ActorSimulationTotals Plus(SimulationResult result)
    {
        Faults.Add(result.Faults);
        return this with { Runs = Runs + 1, Committed = Committed + result.Committed, Aborted = Aborted + result.Aborted, Unknown = Unknown + result.Unknown };
    }
}
