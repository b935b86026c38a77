using Snapper.Simulation.Cluster;
using Snapper.Simulation.Running;

namespace Snapper.Simulation.OwnActors;

/// <summary>Many updates in sum: one in which nothing committed, or nothing moved, has shown little.</summary>
public sealed record UpdateTotals
{
    /// <summary>Runs.</summary>
    public int Runs { get; private init; }

    /// <summary>Transactions that were committed, as their clients know.</summary>
    public int Committed { get; private init; }

    /// <summary>... aborted; among them those that met a newer state on an older worker.</summary>
    public int Aborted { get; private init; }

    /// <summary>... of which no clear answer came.</summary>
    public int Unknown { get; private init; }

    /// <summary>What went wrong, or was done.</summary>
    public Tally<ClusterFaultKind> Happened { get; } = new();

    internal UpdateTotals Plus(ClusterRunResult result)
    {
        Happened.Add(result.Happened);
        return this with
        {
            Runs = Runs + 1,
            Committed = Committed + result.Committed,
            Aborted = Aborted + result.Aborted,
            Unknown = Unknown + result.Unknown,
        };
    }
}
