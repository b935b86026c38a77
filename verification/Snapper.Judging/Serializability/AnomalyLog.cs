namespace Snapper.Judging.Serializability;

/// <summary>Collects anomalies: counts all, keeps the words of the first few of each kind.</summary>
internal sealed class AnomalyLog(int explainedPerKind)
{
    private readonly SortedDictionary<AnomalyKind, long> _counts = [];
    private readonly List<Anomaly> _explained = [];

    public IReadOnlyDictionary<AnomalyKind, long> Counts => _counts;

    public IReadOnlyList<Anomaly> Explained => [.. _explained.OrderBy(anomaly => anomaly.Kind)];

    /// <summary>Counts one; true when the caller should explain it with <see cref="Explain"/>, so that words are made only for those that are kept.</summary>
    public bool Count(AnomalyKind kind)
    {
        _counts[kind] = _counts.GetValueOrDefault(kind) + 1;
        return _counts[kind] <= explainedPerKind;
    }

    public void Explain(AnomalyKind kind, string explanation, params string[] transactions) =>
        _explained.Add(new Anomaly(kind, transactions, $"{kind}: {explanation}"));

    public void ExplainCycle(AnomalyKind kind, string? pattern, string explanation, string[] transactions) =>
        _explained.Add(new Anomaly(kind, transactions, $"{kind}{(pattern is null ? "" : $" ({pattern})")}: {explanation}") { Pattern = pattern });
}
