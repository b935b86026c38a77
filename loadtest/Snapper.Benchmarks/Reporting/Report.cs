using System.Globalization;
using System.Text;
using System.Text.Json;
using System.Text.Json.Serialization;
using Snapper.Benchmarks.Measurement;
using Snapper.Benchmarks.Runs;
using Snapper.Benchmarks.Statistics;

namespace Snapper.Benchmarks.Reporting;

/// <summary>Everything that one invocation measured, as text and as JSON.</summary>
public sealed record Report(MachineFacts Machine, BenchmarkOptions Options, IReadOnlyList<BenchmarkResult> Results)
{
    private const int MeasuredSecondsMin = 5;
    private const int RepetitionsMin = 3;

    private static readonly JsonSerializerOptions Json = new()
    {
        WriteIndented = true,
        PropertyNamingPolicy = JsonNamingPolicy.CamelCase,
        NumberHandling = JsonNumberHandling.AllowNamedFloatingPointLiterals,
        IncludeFields = true,
    };

    /// <summary>The whole report in Markdown.</summary>
    public string ToMarkdown()
    {
        var text = new StringBuilder("# Benchmarks\n\n");
        text.Append(MachineLines()).Append('\n').Append(SummaryTable()).Append('\n');
        foreach (var result in Results)
        {
            text.Append(DetailsOf(result)).Append('\n');
        }

        return text.ToString();
    }

    /// <summary>The whole report as JSON, every run with every number.</summary>
    public string ToJson() => JsonSerializer.Serialize(this, Json);

    /// <summary>Writes <c>benchmarks.md</c> and <c>benchmarks.json</c> into a folder.</summary>
    public void WriteTo(string folder)
    {
        Directory.CreateDirectory(folder);
        File.WriteAllText(Path.Combine(folder, "benchmarks.md"), ToMarkdown());
        File.WriteAllText(Path.Combine(folder, "benchmarks.json"), ToJson());
    }

    /// <summary>One line per benchmark: number, interval, bar, aim, verdict, command.</summary>
    public string SummaryTable()
    {
        var table = new Table("benchmark", "measured", "95 % interval", "bar", "aim", "verdict", "measure again");
        foreach (var result in Results)
        {
            table.Add(
                result.Name,
                result.Measured is { } measured ? Number(measured) + Unit(result) : "-",
                result.Interval is { } interval ? $"{Number(interval.Low)}–{Number(interval.High)}" : "-",
                GoalText(result, static goal => goal.Bar),
                GoalText(result, static goal => goal.Aim),
                result.Verdict,
                $"`{result.Command}`");
        }

        return table.ToString();
    }

    /// <summary>A number with three significant digits or all of its integer part.</summary>
    internal static string Number(double value) => Math.Abs(value) switch
    {
        >= 100 => value.ToString("F0", CultureInfo.InvariantCulture),
        >= 10 => value.ToString("F1", CultureInfo.InvariantCulture),
        >= 1 => value.ToString("F2", CultureInfo.InvariantCulture),
        _ => value.ToString("F3", CultureInfo.InvariantCulture),
    };

    private static string Unit(BenchmarkResult result) => result.Unit.Length == 0 ? "" : " " + result.Unit;

    private static string GoalText(BenchmarkResult result, Func<Goal, double> which) => result.Goal is { } goal
        ? $"{(goal.HigherIsBetter ? "≥" : "≤")} {which(goal).ToString("0.##", CultureInfo.InvariantCulture)}{Unit(result)}"
        : "-";

    private string MachineLines() => MeasuredAt() + (Options.Duration < MeasuredSecondsMin || Options.Repeat < RepetitionsMin
        ? $"- **a smoke test, not a measurement**: below {MeasuredSecondsMin} s or {RepetitionsMin} repetitions the numbers mean little\n"
        : "");

    private string MeasuredAt() => string.Create(CultureInfo.InvariantCulture, $"""
        - machine: {Machine.Cores} cores, {Machine.Cpu}, {Machine.OperatingSystem}, load average before {Machine.LoadAverage}
        - {Machine.Dotnet}, GC of the load generator: {Machine.GeneratorGc}; commit {Machine.Commit}; {Machine.MeasuredAt:yyyy-MM-dd HH:mm} UTC
        - closed loop, {Options.Warmup} s warm-up, {Options.Duration} s measured, {Options.Repeat} repetitions in A-B-B-A order, {Options.Accounts} accounts, seed {Options.Seed}; medians, [min–max]; the load generator shares the cores and counts on both sides

        """);

    private static string DetailsOf(BenchmarkResult result)
    {
        var text = new StringBuilder();
        text.Append(CultureInfo.InvariantCulture, $"## {result.Name}\n\n{result.What}\n\n");
        if (result.Missing is { } reason)
        {
            text.Append(CultureInfo.InvariantCulture, $"No result: {reason}\n\n");
        }

        if (result.Sides.Count > 0)
        {
            text.Append(SidesTable(result.Sides)).Append('\n');
        }

        foreach (var side in result.Sides)
        {
            var reasons = side.Runs.SelectMany(static run => run.Aborts).GroupBy(static pair => pair.Key).ToDictionary(static group => group.Key, static group => group.Sum(static pair => pair.Value));
            if (reasons.Count > 0)
            {
                text.Append(CultureInfo.InvariantCulture, $"- {side.Name}, transactions aborted: {RunResult.Describe(reasons)}\n");
            }
        }

        foreach (var (name, value) in result.Notes)
        {
            text.Append(CultureInfo.InvariantCulture, $"- {name}: {value.ReplaceLineEndings(" ")}\n");
        }

        return text.ToString();
    }

    private static string SidesTable(IReadOnlyList<SideRuns> sides)
    {
        var table = new Table("side", "loops", "committed/s", "CPU us per transaction", "of it", "p50 ms", "p99 ms", "attempts", "aborted", "valid");
        foreach (var side in sides)
        {
            table.Add(
                side.Name,
                side.Shape.ToString(),
                Spread(side.Summary(static run => run.PerSecond)),
                Spread(side.Summary(static run => run.CpuPerTransaction)),
                string.Join(", ", Roles(side).Select(role => $"{role} {Number(side.Summary(run => run.CpuOf(role)).Median)}")),
                Number(side.Summary(static run => run.P50 / 1000.0).Median),
                Number(side.Summary(static run => run.P99 / 1000.0).Median),
                side.Runs.Sum(static run => run.Attempts).ToString(CultureInfo.InvariantCulture),
                Number(side.Summary(static run => run.AbortShare * 100).Median) + " %",
                side.Void is null ? "yes" : "VOID");
        }

        return table.ToString();
    }

    private static IEnumerable<string> Roles(SideRuns side) => side.Runs.SelectMany(static run => run.Cpu).Select(static share => share.Role).Distinct();

    private static string Spread(Summary summary) => $"{Number(summary.Median)} [{Number(summary.Min)}–{Number(summary.Max)}]";
}
