using Snapper.Judging.Histories;

namespace Snapper.Judging.Serializability;

/// <summary>Finds the worst cycle of a strongly connected component and its name.</summary>
internal sealed class CycleClassifier(History history, CheckOptions options)
{
    private static readonly int Writes = DependencyGraph.Mask(EdgeKind.WriteWrite);
    private static readonly int WritesAndReads = DependencyGraph.Mask(EdgeKind.WriteWrite, EdgeKind.WriteRead);
    private static readonly int Data = DependencyGraph.Mask(EdgeKind.WriteWrite, EdgeKind.WriteRead, EdgeKind.ReadWrite);
    private static readonly int RealTime = DependencyGraph.Mask(EdgeKind.RealTime);

    /// <summary>A cycle of the component; its steps name transactions of the history.</summary>
    public (AnomalyKind Kind, List<CycleStep> Cycle) Classify(DependencyGraph graph, int[] component)
    {
        var part = graph.Among(component);
        var search = new CycleSearch(part, options.SearchBudget);

        // From the worst to the mildest: a cycle found here has at least one edge of the kind just added, for without it none was found.
        var (kind, cycle) =
            search.AnyCycle(Writes) is { } g0 ? (AnomalyKind.G0, g0)
            : search.AnyCycle(WritesAndReads) is { } g1 ? (AnomalyKind.G1c, g1)
            : search.CycleWithOneAntiDependency(WritesAndReads, Promise) is { } single ? (AnomalyKind.GSingle, single)
            : search.AnyCycle(Data) is { } g2 ? (AnomalyKind.G2, g2)
            : search.AnyCycle(Writes | RealTime) is { } g0Late ? (AnomalyKind.G0RealTime, g0Late)
            : search.AnyCycle(WritesAndReads | RealTime) is { } g1Late ? (AnomalyKind.G1cRealTime, g1Late)
            : search.CycleWithOneAntiDependency(WritesAndReads | RealTime, Promise) is { } singleLate ? (AnomalyKind.GSingleRealTime, singleLate)
            : search.AnyCycle(Data | RealTime) is { } g2Late ? (AnomalyKind.G2RealTime, g2Late)
            : throw new InvalidOperationException("A strongly connected component without a cycle: the checker is broken.");
        return (kind, cycle.ConvertAll(step => step with { From = component[step.From], To = component[step.To] }));

        // A reader invoked long after the completion of the writer it precedes is the shortest cycle there is.
        long Promise(int reader, int writer) =>
            history.Completed[component[writer]] is var completed and not long.MaxValue ? completed - history.Invoked[component[reader]] : long.MaxValue;
    }
}
