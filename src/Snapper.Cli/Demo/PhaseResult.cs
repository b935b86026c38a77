using System.Globalization;
using System.Text.Json.Nodes;

namespace Snapper.Cli.Demo;

/// <summary>What one phase measured. Filled by one loop each, then merged.</summary>
internal sealed class PhaseTally
{
    /// <summary>Committed transactions.</summary>
    public long Committed { get; private set; }

    /// <summary>Aborted transactions by reason.</summary>
    public Dictionary<string, long> Aborts { get; } = new(StringComparer.Ordinal);

    /// <summary>Transactions whose outcome the client does not know.</summary>
    public List<JsonObject> Undecided { get; } = [];

    /// <summary>Milliseconds per HTTP request.</summary>
    public List<double> LatenciesMs { get; } = [];

    /// <summary>Counts one answer.</summary>
    public void Add(BankAnswer answer, JsonObject transaction)
    {
        if (answer.Outcome == "committed") Committed++;
        else if (answer.IsUndecided) Undecided.Add(transaction);
        else Count(answer.Reason ?? answer.Outcome, 1);
    }

    /// <summary>Removes and returns the undecided ones.</summary>
    public IReadOnlyList<JsonObject> TakeUndecided()
    {
        JsonObject[] taken = [.. Undecided];
        Undecided.Clear();
        return taken;
    }

    /// <summary>Adds another loop's numbers.</summary>
    public void Merge(PhaseTally other)
    {
        Committed += other.Committed;
        foreach (var (reason, count) in other.Aborts) Count(reason, count);
        Undecided.AddRange(other.Undecided);
        LatenciesMs.AddRange(other.LatenciesMs);
    }

    /// <summary>The latency that <paramref name="share"/> of the requests did not exceed, by nearest rank; 0 when there were none.</summary>
    public double Percentile(double share)
    {
        if (LatenciesMs.Count == 0) return 0;
        var sorted = LatenciesMs.Order().ToArray();
        return sorted[Math.Clamp((int)Math.Ceiling(share * sorted.Length) - 1, 0, sorted.Length - 1)];
    }

    /// <summary>The aborts as text, most frequent first.</summary>
    public string AbortsText() => Aborts.Count == 0
        ? "none"
        : string.Join(", ", Aborts.OrderByDescending(a => a.Value).ThenBy(a => a.Key, StringComparer.Ordinal)
            .Select(a => string.Create(CultureInfo.InvariantCulture, $"{a.Value:N0} {a.Key}")));

    private void Count(string reason, long count) => Aborts[reason] = Aborts.GetValueOrDefault(reason) + count;
}
