namespace Snapper.Judging.Serializability;

/// <summary>Recognizes the cycles that have names of their own.</summary>
internal static class CyclePattern
{
    /// <summary>The name, or null.</summary>
    public static string? Name(AnomalyKind kind, List<CycleStep> cycle)
    {
        var antiDependencies = cycle.Count(step => step.Kind == EdgeKind.ReadWrite);
        var realTime = cycle.Count(step => step.Kind == EdgeKind.RealTime);
        return kind switch
        {
            AnomalyKind.G0 => "dirty write",
            AnomalyKind.G1c => "circular information flow",
            AnomalyKind.GSingle => GSingle(cycle),
            AnomalyKind.G2 when cycle.Count == 2 => cycle[0].Key == cycle[1].Key ? "lost update" : "write skew",
            AnomalyKind.G2 when cycle.Count == 3 && antiDependencies == 2 && cycle.Exists(step => step.Kind == EdgeKind.WriteRead) => "read-only transaction anomaly",
            AnomalyKind.G2 when cycle.Count == 4 && Alternates(cycle) => "long fork",
            AnomalyKind.G0RealTime => "write order against real time",
            AnomalyKind.G1cRealTime when cycle.Count == 2 => "read of the future",
            AnomalyKind.GSingleRealTime when cycle.Count == 2 => "stale read",
            AnomalyKind.GSingleRealTime when cycle.Count == 3 && realTime == 1 && cycle.Exists(step => step.Kind == EdgeKind.WriteRead) => OfThree(cycle),
            _ => null,
        };
    }

    private static string? GSingle(List<CycleStep> cycle)
    {
        if (cycle.Count > 2)
        {
            return cycle.TrueForAll(step => step.Kind != EdgeKind.WriteWrite) ? "causality violation" : null;
        }

        var (other, antiDependency) = cycle[0].Kind == EdgeKind.ReadWrite ? (cycle[1], cycle[0]) : (cycle[0], cycle[1]);
        return other.Kind == EdgeKind.WriteRead ? other.Key == antiDependency.Key ? "unrepeatable read" : "read skew"
            : other.Key == antiDependency.Key ? "lost update" : null;
    }

    /// <summary>From the reader that missed the first writer: did the first writer's acknowledgement come next, or a reader that saw it?</summary>
    private static string OfThree(List<CycleStep> cycle)
    {
        var antiDependency = cycle.FindIndex(step => step.Kind == EdgeKind.ReadWrite);
        return cycle[(antiDependency + 1) % 3].Kind == EdgeKind.RealTime ? "causal reverse" : "non-monotonic reads";
    }

    private static bool Alternates(List<CycleStep> cycle)
    {
        for (var index = 0; index < cycle.Count; index++)
        {
            var other = cycle[(index + 1) % cycle.Count].Kind;
            if ((cycle[index].Kind, other) is not ((EdgeKind.ReadWrite, EdgeKind.WriteRead) or (EdgeKind.WriteRead, EdgeKind.ReadWrite)))
            {
                return false;
            }
        }

        return true;
    }
}
