using System.Globalization;
using Snapper.Client.Messages;

namespace Snapper.Cli.Demo;

/// <summary>What one phase measured. Filled by one loop each, then merged.</summary>
internal sealed class PhaseTally
{
    public long Committed { get; private set; }

    /// <summary>Transactions without an effect, by reason.</summary>
    public Dictionary<string, long> Aborts { get; } = new(StringComparer.Ordinal);

    /// <summary>Milliseconds per transaction, as its caller sees it.</summary>
    public List<double> LatenciesMs { get; } = [];

    /// <summary>Counts one answer.</summary>
    /// <exception cref="DemoFailedException">Its outcome is not known.</exception>
    public void Add(TransactionReply reply)
    {
        if (reply.Outcome == TransactionOutcome.Committed) Committed++;
        else if (reply.Outcome is TransactionOutcome.Aborted or TransactionOutcome.Rejected) Count(Words(reply), 1);
        else throw new DemoFailedException($"transaction {reply.Id} is still undecided: {Words(reply)}");
    }

    /// <summary>Why a transaction has not committed.</summary>
    public static string Words(TransactionReply reply) => reply.Rejection is { } refused
        ? refused.Status switch { 429 => "overloaded", 503 => "unavailable", _ => refused.Detail }
        : reply.Abort?.ReasonName ?? reply.Doubt ?? reply.Outcome.ToString();

    /// <summary>Adds another loop's numbers.</summary>
    public void Merge(PhaseTally other)
    {
        Committed += other.Committed;
        foreach (var (reason, count) in other.Aborts) Count(reason, count);
        LatenciesMs.AddRange(other.LatenciesMs);
    }

    /// <summary>The latency that <paramref name="share"/> of the transactions did not exceed, by nearest rank; 0 when there were none.</summary>
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
