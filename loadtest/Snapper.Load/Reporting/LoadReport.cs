using Snapper.Scenarios.Changes;
using Snapper.Scenarios.Measures;
using Snapper.Scenarios.Workloads;

namespace Snapper.Load.Reporting;

/// <summary>All that is said of a run: the JSON is this, and the page shows it. Times are milliseconds where the name says so; seconds count from the beginning of the measured time.</summary>
internal sealed record LoadReport
{
    public required string Scenario { get; init; }

    public required string Summary { get; init; }

    public required string Workload { get; init; }

    public required string Shape { get; init; }

    public required string Arrivals { get; init; }

    public required double RatePerSecond { get; init; }

    public required double DurationSeconds { get; init; }

    public required double WarmUpSeconds { get; init; }

    public required ulong Seed { get; init; }

    public required DateTimeOffset Began { get; init; }

    public required IReadOnlyList<string> Addresses { get; init; }

    public required string Machine { get; init; }

    /// <summary>The command that runs it again.</summary>
    public required string Command { get; init; }

    /// <summary>Every threshold was kept, every invariant held, and what was to be done to the system was done.</summary>
    public bool Passed => Invariant.Passed && ChangeProblem is null && Thresholds.All(static threshold => threshold.Held);

    public required InvariantReport Invariant { get; init; }

    public required IReadOnlyList<ThresholdResult> Thresholds { get; init; }

    /// <summary>What was done to the system meanwhile; null: nothing.</summary>
    public string? Change { get; init; }

    /// <summary>Why it was not done.</summary>
    public string? ChangeProblem { get; init; }

    public required IReadOnlyDictionary<string, double> Measures { get; init; }

    /// <summary>How many ended how.</summary>
    public required IReadOnlyDictionary<string, long> Outcomes { get; init; }

    public required ArrivalErrorReport ArrivalError { get; init; }

    public required IReadOnlyList<LatencyPoint> LatencyByPercentile { get; init; }

    public required IReadOnlyList<CoursePoint> Course { get; init; }

    /// <summary>Before, during and after the change; empty without one.</summary>
    public required IReadOnlyList<WindowReport> Windows { get; init; }

    public required IReadOnlyList<Mark> Marks { get; init; }

    public required IReadOnlyList<Band> Bands { get; init; }
}

/// <summary>How late this program itself was.</summary>
/// <param name="P50Ms">Half of the transactions were handed over within that of their intended start.</param>
/// <param name="P99Ms">99 % of them.</param>
/// <param name="P999Ms">99.9 %.</param>
/// <param name="MaxMs">The latest.</param>
/// <param name="Timing">How it keeps the time.</param>
internal sealed record ArrivalErrorReport(double P50Ms, double P99Ms, double P999Ms, double MaxMs, string Timing);

/// <summary>A point of the latency distribution.</summary>
internal sealed record LatencyPoint(double Percentile, double Ms);

/// <summary>A stretch of the run. Rates are per second; latencies are of those that arrived in it, null when none did.</summary>
internal sealed record CoursePoint(
    double AtSeconds, double Offered, double Committed, double AbortedBySystem, double AbortedByApplication, double Errors, double? P50Ms, double? P99Ms, double? P999Ms, double? MaxMs);

/// <summary>A part of the run, by what was being done to the system.</summary>
internal sealed record WindowReport(string Name, long Arrivals, double P50Ms, double P99Ms, double P999Ms, double MaxMs, long AbortedBySystem);
