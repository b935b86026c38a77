namespace Snapper.Scenarios.Measures;

/// <summary>The numbers of a run that thresholds may name.</summary>
public static class MeasureNames
{
    /// <summary>Begins the share of one abort reason, in per cent of all arrivals.</summary>
    public const string AbortPercentOf = "abort-percent.";

    /// <summary>All, with what they are.</summary>
    public static IReadOnlyDictionary<string, string> Explained { get; } = new Dictionary<string, string>(StringComparer.Ordinal)
    {
        ["p50-ms"] = "latency that half of the transactions do not exceed, counted from the intended start",
        ["p90-ms"] = "the same of 90 %",
        ["p99-ms"] = "the same of 99 %",
        ["p99.9-ms"] = "the same of 99.9 %",
        ["p99.99-ms"] = "the same of 99.99 %",
        ["max-ms"] = "the longest latency",
        ["committed-per-second"] = "committed transactions",
        ["error-percent"] = "transactions that were refused, in doubt or not sent at all, of all arrivals",
        ["abort-percent"] = "transactions that the system aborted (every reason but application), of all arrivals",
        [AbortPercentOf + "REASON"] = "transactions that were aborted for one reason, of all arrivals",
        ["arrival-error-p99-ms"] = "how late the load generator itself handed over a transaction, 99 % of them",
        ["change-p99-ms"] = "p99 of the transactions that arrived while the system was changed",
        ["pause-p99-ms"] = "longest wait of an actor's callers while the system was changed, 99 % of the actors touched then",
        ["change-abort-percent"] = "transactions that arrived during the change and were aborted by the system",
        ["dip-percent"] = "least throughput of a second that the change touched, below that before it",
        ["change-ms"] = "how long the migration took",
        ["moved-keys"] = "partitions and single actors that it moved",
        ["most-frozen-requests"] = "requests that waited for it at a time, at most",
        ["recovery-ms"] = "from the kill to the worker's next life",
    };

    /// <summary>The names.</summary>
    public static IEnumerable<string> All => Explained.Keys;

    /// <summary>Whether a threshold may name it.</summary>
    public static bool IsKnown(string name) => Explained.ContainsKey(name) || (name.StartsWith(AbortPercentOf, StringComparison.Ordinal) && name.Length > AbortPercentOf.Length);
}
