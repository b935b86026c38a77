namespace Snapper.Judging.Serializability;

/// <summary>How a history is judged.</summary>
public sealed record CheckOptions
{
    /// <summary>True (default): strict serializability. False: plain serializability; times are ignored, and stale reads and lost appends are legal where no cycle shows.</summary>
    public bool RealTime { get; init; } = true;

    /// <summary>How many anomalies of each kind are explained; all are counted. At least 1.</summary>
    public int ExplainedPerKind { get; init; } = 5;

    /// <summary>
    /// Edges looked at in one search for a short cycle; a bound for time, not for the verdict. When it is reached, the cycle reported may not be the
    /// shortest, and a cycle with one anti-dependency edge may be filed as one with several.
    /// </summary>
    public long SearchBudget { get; init; } = 20_000_000;
}
