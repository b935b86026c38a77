using System.Globalization;
using System.Text;

namespace Snapper.Judging.Serializability;

/// <summary>One thing that is wrong.</summary>
/// <param name="Kind">Its class.</param>
/// <param name="Transactions">The transactions involved, by id; for a cycle in its order, the first not repeated at the end.</param>
/// <param name="Explanation">Several lines that a person can follow: who read what, who wrote it, why that cannot be.</param>
public sealed record Anomaly(AnomalyKind Kind, IReadOnlyList<string> Transactions, string Explanation)
{
    /// <summary>The name that the literature has for a cycle of this shape, such as "lost update" or "write skew"; null when it has none.</summary>
    public string? Pattern { get; init; }
}

/// <summary>What was looked at.</summary>
public sealed record CheckStatistics
{
    /// <summary>Transactions in the history.</summary>
    public required int Transactions { get; init; }

    /// <summary>Acknowledged commits.</summary>
    public required int Committed { get; init; }

    /// <summary>Reported aborts.</summary>
    public required int Aborted { get; init; }

    /// <summary>Without a known outcome.</summary>
    public required int Unknown { get; init; }

    /// <summary>Those of <see cref="Unknown"/> that somebody has seen, so they count as committed.</summary>
    public required int UnknownSeen { get; init; }

    /// <summary>Keys touched.</summary>
    public required int Keys { get; init; }

    /// <summary>Appends and writes, of all transactions.</summary>
    public required int Appends { get; init; }

    /// <summary>Reads with a result, of committed transactions. A check without reads proves nothing.</summary>
    public required int Reads { get; init; }

    /// <summary>Edges of the graph, helper nodes included.</summary>
    public required long Edges { get; init; }

    /// <summary>How long the check took.</summary>
    public required TimeSpan Elapsed { get; init; }
}

/// <summary>The verdict.</summary>
public sealed class CheckReport
{
    internal CheckReport(
        IReadOnlyList<Anomaly> anomalies, IReadOnlyDictionary<AnomalyKind, long> counts, IReadOnlyList<(string Id, InDoubtOutcome Outcome)> inDoubt, CheckStatistics statistics)
    {
        Anomalies = anomalies;
        Counts = counts;
        InDoubt = inDoubt;
        Statistics = statistics;
    }

    /// <summary>True when nothing is wrong.</summary>
    public bool Passed => Counts.Count == 0;

    /// <summary>The explained anomalies, in the order of <see cref="AnomalyKind"/>.</summary>
    public IReadOnlyList<Anomaly> Anomalies { get; }

    /// <summary>How many anomalies of each kind there are, explained or not; for cycles, one per strongly connected component.</summary>
    public IReadOnlyDictionary<AnomalyKind, long> Counts { get; }

    /// <summary>The transactions of unknown outcome, and what the history tells about each.</summary>
    public IReadOnlyList<(string Id, InDoubtOutcome Outcome)> InDoubt { get; }

    /// <summary>What was looked at.</summary>
    public CheckStatistics Statistics { get; }

    /// <summary>The verdict in words.</summary>
    public override string ToString()
    {
        var text = new StringBuilder();
        var s = Statistics;
        text.Append(CultureInfo.InvariantCulture, $"{(Passed ? "No anomaly" : "ANOMALIES")} in {s.Transactions} transactions ({s.Committed} committed, {s.Aborted} aborted, {s.Unknown} unknown, ");
        text.AppendLine(CultureInfo.InvariantCulture, $"{s.UnknownSeen} of them seen) on {s.Keys} keys: {s.Appends} writes, {s.Reads} reads, {s.Edges} edges, {s.Elapsed.TotalSeconds:0.00} s.");
        if (Passed && s.Reads == 0)
        {
            text.AppendLine("No committed transaction has read anything: that nothing is wrong proves nothing.");
        }

        foreach (var (kind, count) in Counts.OrderBy(pair => pair.Key))
        {
            text.AppendLine(CultureInfo.InvariantCulture, $"{kind}: {count}");
            foreach (var anomaly in Anomalies.Where(anomaly => anomaly.Kind == kind))
            {
                text.AppendLine().AppendLine(anomaly.Explanation);
            }
        }

        return text.ToString();
    }
}
