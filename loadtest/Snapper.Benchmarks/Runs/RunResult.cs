using Snapper.Runtime.Inspection;
using Snapper.Benchmarks.Load;
using Snapper.Benchmarks.Measurement;
using Snapper.Benchmarks.Statistics;

namespace Snapper.Benchmarks.Runs;

/// <summary>What one run measured.</summary>
public sealed record RunResult
{
    /// <summary>Closed loops.</summary>
    public required int Pipelines { get; init; }

    /// <summary>Length of the measured window.</summary>
    public required double Seconds { get; init; }

    /// <summary>Transactions that committed in the window.</summary>
    public required long Committed { get; init; }

    /// <summary>Those of them that touched several workers.</summary>
    public long Distributed { get; init; }

    /// <summary>Attempts in the window.</summary>
    public required long Attempts { get; init; }

    /// <summary>Attempts of ACTs.</summary>
    public required long ActAttempts { get; init; }

    /// <summary>Attempts of ACTs that did not commit.</summary>
    public required long ActAborted { get; init; }

    /// <summary>Ended aborted, by reason.</summary>
    public required IReadOnlyDictionary<string, long> Aborts { get; init; }

    /// <summary>Neither committed nor aborted, by description; warm-up included.</summary>
    public required IReadOnlyDictionary<string, long> Errors { get; init; }

    /// <summary>CPU time of the window by role.</summary>
    public required IReadOnlyList<CpuShare> Cpu { get; init; }

    /// <summary>Median time of a request in microseconds.</summary>
    public required long P50 { get; init; }

    /// <summary>99th percentile in microseconds.</summary>
    public required long P99 { get; init; }

    /// <summary>Longest request in microseconds.</summary>
    public required long Max { get; init; }

    /// <summary>Why the run is worth nothing; null when it is valid. A fast run with wrong answers is no result.</summary>
    public required string? Void { get; init; }

    /// <summary>Committed transactions per second.</summary>
    public double PerSecond => Committed / Seconds;

    /// <summary>Committed transactions of one worker alone, per second.</summary>
    public double LocalPerSecond => (Committed - Distributed) / Seconds;

    /// <summary>CPU microseconds per committed transaction, all processes.</summary>
    public double CpuPerTransaction => Cpu.Sum(share => share.Microseconds) / Math.Max(1, Committed);

    /// <summary>Share of ACT attempts that did not commit, 0 to 1.</summary>
    public double ActAbortShare => ActAttempts == 0 ? 0 : (double)ActAborted / ActAttempts;

    /// <summary>Share of all attempts that did not commit, 0 to 1.</summary>
    public double AbortShare => Attempts == 0 ? 0 : (double)(Attempts - Committed) / Attempts;

    /// <summary>CPU microseconds per committed transaction of one role.</summary>
    public double CpuOf(string role) => Cpu.Where(share => share.Role == role).Sum(share => share.Microseconds) / Math.Max(1, Committed);

    /// <summary>Judges and packs what was counted.</summary>
    public static RunResult Of(
        Tally tally, int pipelines, double seconds, IReadOnlyList<CpuShare> cpu, LatencyHistogram latency, string? failure) => new()
        {
            Pipelines = pipelines,
            Seconds = seconds,
            Committed = tally.Committed,
            Distributed = tally.Distributed,
            Attempts = tally.Attempts,
            ActAttempts = tally.ActAttempts,
            ActAborted = tally.ActAborted,
            Aborts = tally.Aborts,
            Errors = tally.Errors,
            Cpu = cpu,
            P50 = latency.Percentile(50),
            P99 = latency.Percentile(99),
            Max = latency.Max,
            Void = failure ?? Judge(tally),
        };

    /// <summary>The same run where aborts are wrong as well: PACTs without conflicts of their own, plain calls.</summary>
    public RunResult WithoutAborts() =>
        Void is null && Aborts.Count > 0 ? this with { Void = $"aborted: {Describe(Aborts)}" } : this;

    /// <summary>Counts by name, the most frequent first.</summary>
    public static string Describe(IReadOnlyDictionary<string, long> counts) => counts.Count == 0
        ? "none"
        : string.Join(", ", counts.OrderByDescending(pair => pair.Value).Select(pair => $"{pair.Value} × {pair.Key}"));

    private static string? Judge(Tally tally)
    {
        if (tally.Errors.Count > 0)
        {
            return $"errors: {Describe(tally.Errors)}";
        }

        return tally.Committed == 0 ? "nothing committed in the measured time" : null;
    }
}
