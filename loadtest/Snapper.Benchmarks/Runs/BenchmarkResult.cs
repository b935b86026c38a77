using Snapper.Benchmarks.Statistics;

namespace Snapper.Benchmarks.Runs;

/// <summary>What a number must be.</summary>
/// <param name="Bar">It must be met.</param>
/// <param name="Aim">It is hoped for.</param>
/// <param name="HigherIsBetter">Which side of them is good.</param>
public sealed record Goal(double Bar, double Aim, bool HigherIsBetter)
{
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
    public string Verdict => Missing is not null ? "NO RESULT" : Goal is null || Measured is null ? "information" : Goal.Judge(Measured.Value);

    /// <summary>metric(A) ÷ metric(B), or no number when a run of either is void.</summary>
    public static BenchmarkResult Ratio(
        string name, string what, Goal goal, SideRuns a, SideRuns b, Func<RunResult, double> metric, ulong seed, params SideRuns[] beside)
    {
        var result = new BenchmarkResult { Name = name, What = what, Goal = goal, Sides = [a, b, .. beside] };
        if ((a.Void is null ? null : $"{a.Name}: {a.Void}") is { } voidA)
        {
            return result with { Missing = voidA };
        }

        if ((b.Void is null ? null : $"{b.Name}: {b.Void}") is { } voidB)
        {
            return result with { Missing = voidB };
        }

        return result with
        {
            Measured = a.Summary(metric).Median / b.Summary(metric).Median,
            Interval = Bootstrap.RatioOfMedians(a.Values(metric), b.Values(metric), seed),
        };
    }
}
