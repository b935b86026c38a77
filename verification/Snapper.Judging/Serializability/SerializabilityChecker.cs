using System.Diagnostics;
using Snapper.Judging.Histories;

namespace Snapper.Judging.Serializability;

/// <summary>
/// Judges from outside whether a system kept its promise of strict serializability, by what its clients saw.
/// </summary>
/// <remarks>
/// <para>
/// Clients append integers, each used once per key, to lists, and read whole lists. A list tells its own past, so a read proves the order of the
/// versions of a key, who wrote each, and which version was read. From that come the edges "must be before": write-write, write-read, read-write
/// (anti-dependency) and "acknowledged before invoked". A history is strictly serializable exactly when it has none of the direct anomalies and no cycle of these edges.
/// The idea is Elle's (Kingsbury and Alvaro, VLDB 2020), the names are Adya's.
/// </para>
/// <para>
/// Registers whose versions are numbered are judged in the same way: the numbers are the order. A key is a list or a register.
/// </para>
/// <para>
/// Sound: what it reports cannot happen in a strictly serializable system. Complete for what was read: an append that nobody reads afterwards proves little,
/// so end a run with reads of all keys.
/// </para>
/// <para>Cost: about linear in the history; a million transactions take a few seconds and less than 3 GiB.</para>
/// </remarks>
public static class SerializabilityChecker
{
    /// <summary>Judges a history that is complete: no more transactions are being added.</summary>
    /// <exception cref="InvalidHistoryException">
    /// Two appends to a key have the same value, or a committed write of a register tells no version, so nothing can be told.
    /// </exception>
    public static CheckReport Check(History history, CheckOptions? options = null)
    {
        ArgumentNullException.ThrowIfNull(history);
        options ??= new CheckOptions();
        ArgumentOutOfRangeException.ThrowIfLessThan(options.ExplainedPerKind, 1);
        var started = Stopwatch.GetTimestamp();
        var anomalies = new AnomalyLog(options.ExplainedPerKind);
        var narrator = new Narrator(history);
        var order = new VersionOrder(history, narrator, anomalies);
        var reads = new ReadChecks(history, order, narrator, anomalies);
        var lost = options.RealTime ? LostAppends.Find(history, order, reads, narrator, anomalies) : new bool[history.OperationCount];
        var graph = BuildGraph(history, options, order, reads, lost);
        var classifier = new CycleClassifier(history, options);
        var cycles = new CycleNarrator(history, order, reads, narrator);
        foreach (var component in StrongComponents.Find(graph, ~0))
        {
            var (kind, cycle) = classifier.Classify(graph, component);
            if (anomalies.Count(kind))
            {
                anomalies.ExplainCycle(kind, CyclePattern.Name(kind, cycle), cycles.Explain(cycle), [.. cycle.Select(step => history.Id(step.From))]);
            }
        }

        return new CheckReport(anomalies.Explained, anomalies.Counts, InDoubt.Deduce(history, order, reads), Statistics(history, order, reads, graph, Stopwatch.GetElapsedTime(started)));
    }

    private static DependencyGraph BuildGraph(History history, CheckOptions options, VersionOrder order, ReadChecks reads, bool[] lost)
    {
        var builder = new DependencyGraph.Builder(history.Count, history.Count);
        new DataDependencies(history, order, reads, lost, builder).Add();
        if (options.RealTime)
        {
            RealTimeOrder.Add(history, order, builder);
        }

        return builder.Build();
    }

    private static CheckStatistics Statistics(History history, VersionOrder order, ReadChecks reads, DependencyGraph graph, TimeSpan elapsed)
    {
        var (committed, aborted, unknown, seen) = (0, 0, 0, 0);
        for (var transaction = 0; transaction < history.Count; transaction++)
        {
            switch (history.Outcome(transaction))
            {
                case ObservedOutcome.Committed: committed++; break;
                case ObservedOutcome.Aborted: aborted++; break;
                default:
                    unknown++;
                    seen += order.Counts[transaction] ? 1 : 0;
                    break;
            }
        }

        return new CheckStatistics
        {
            Transactions = history.Count,
            Committed = committed,
            Aborted = aborted,
            Unknown = unknown,
            UnknownSeen = seen,
            Keys = history.KeyCount,
            Appends = history.OperationIsWrite.Count(true),
            Reads = reads.Reads,
            Edges = graph.Edges,
            Elapsed = elapsed,
        };
    }
}
