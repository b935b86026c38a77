using Snapper.Benchmarks.Statistics;

namespace Snapper.Benchmarks.Runs;

/// <summary>What a number must be.</summary>
/// <param name="Bar">It must be met.</param>
/// <param name="Aim">It is hoped for.</param>
/// <param name="HigherIsBetter">Which side of them is good.</param>
public sealed record Goal(double Bar, double Aim, bool HigherIsBetter)
{
    /// <summary>True: the worse end of the 95 % interval must be on the good side, not the number alone.</summary>
    public bool WholeInterval { get; init; }

    /// <summary>"aim met", "bar met" or "below the bar".</summary>
    public string Judge(double measured)
    {
        bool Meets(double goal) => HigherIsBetter ? measured >= goal : measured <= goal;
        return Meets(Aim) ? "aim met" : Meets(Bar) ? "bar met" : "BAR MISSED";
    }
}

/// <summary>The outcome of a benchmark.</summary>
public sealed record BenchmarkResult
{
    /// <summary>Its name on the command line.</summary>
    public required string Name { get; init; }

    /// <summary>What the number is, in words.</summary>
    public required string What { get; init; }

    /// <summary>Unit of the number; empty for a ratio.</summary>
    public string Unit { get; init; } = "";

    /// <summary>The number; null when it was not measured or is void.</summary>
    public double? Measured { get; init; }

    /// <summary>95 % bootstrap interval of the number, where there are repetitions.</summary>
    public Interval? Interval { get; init; }

    /// <summary>What it must be; null: for information.</summary>
    public Goal? Goal { get; init; }

    /// <summary>Why there is no number; null when there is one.</summary>
    public string? Missing { get; init; }

    /// <summary>The sides, in the order of the ratio.</summary>
    public IReadOnlyList<SideRuns> Sides { get; init; } = [];

    /// <summary>Further numbers and settings, by name.</summary>
    public IReadOnlyDictionary<string, string> Notes { get; init; } = new Dictionary<string, string>();

    /// <summary>The command that measures this again.</summary>
    public string Command { get; init; } = "";

    /// <summary>One word or two for the table.</summary>
    public string Verdict => Missing is not null ? "NO RESULT" : Goal is null || Measured is null ? "information" : Goal.Judge(Judged);

    private double Judged => Goal!.WholeInterval && Interval is { } interval ? (Goal.HigherIsBetter ? interval.Low : interval.High) : Measured!.Value;

    /// <summary>median(metric(A)) ÷ median(metric(B)), or no number when a run of either is void.</summary>
    public static BenchmarkResult Ratio(
        string name, string what, Goal goal, SideRuns a, SideRuns b, Func<RunResult, double> metric, ulong seed, params SideRuns[] beside) => Compared(
        name, what, goal, a, b, beside,
        () => (a.Summary(metric).Median / b.Summary(metric).Median, Bootstrap.RatioOfMedians(a.Values(metric), b.Values(metric), seed)));

    /// <summary>The median of metric(A) ÷ metric(B) of neighbouring runs: for a machine that others use as well. No number when a run of either is void.</summary>
    public static BenchmarkResult PairedRatio(
        string name, string what, Goal? goal, SideRuns a, SideRuns b, Func<RunResult, double> metric, ulong seed, params SideRuns[] beside) => Compared(
        name, what, goal, a, b, beside,
        () => (Summary.Of(Bootstrap.Ratios(a.Values(metric), b.Values(metric))).Median, Bootstrap.MedianOfRatios(a.Values(metric), b.Values(metric), seed)));

    /// <summary>median(metric(A)) − median(metric(B)) in ms, or no number when a run of either is void.</summary>
    public static BenchmarkResult Difference(
        string name, string what, Goal goal, SideRuns a, SideRuns b, Func<RunResult, double> metric, ulong seed,
        params SideRuns[] beside) => Compared(
        name, what, goal, a, b, beside,
        () => (
            a.Summary(metric).Median - b.Summary(metric).Median,
            Bootstrap.DifferenceOfMedians(a.Values(metric), b.Values(metric), seed))) with { Unit = "ms" };

    private static BenchmarkResult Compared(
        string name, string what, Goal? goal, SideRuns a, SideRuns b, SideRuns[] beside, Func<(double Measured, Interval Interval)> compare)
    {
        var result = new BenchmarkResult { Name = name, What = what, Goal = goal, Sides = [a, b, .. beside] };
        foreach (var side in new[] { a, b })
        {
            if (side.Void is { } reason)
            {
                return result with { Missing = $"{side.Name}: {reason}" };
            }
        }

        var (measured, interval) = compare();
        return result with { Measured = measured, Interval = interval };
    }
}
