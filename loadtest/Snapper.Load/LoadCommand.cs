using System.Globalization;
using Snapper.Load.Calibration;
using Snapper.Load.Reporting;
using Snapper.Scenarios;
using Snapper.Scenarios.Measures;
using Snapper.Scenarios.Targets;
using Snapper.Terminal;

namespace Snapper.Load;

/// <summary>The command line of the load tests.</summary>
internal static class LoadCommand
{
    public const int Held = 0;
    public const int Broken = 1;

    /// <summary>Runs one command line to its end.</summary>
    /// <returns>0 all held, 1 something did not or nobody answered, 2 the line was wrong.</returns>
    public static Task<int> Run(IReadOnlyList<string> arguments, TextWriter output, TextWriter errors, CancellationToken cancellation) =>
        CommandLines.Run(
            LoadOptions.Program(
                options => Run(options, output, cancellation),
                async options => await Calibrator.Run(options, output, cancellation) ? Held : Broken,
                () => List(output)),
            arguments, output, errors);

    private static async Task<int> Run(LoadOptions options, TextWriter output, CancellationToken cancellation)
    {
        options = options with { Join = stop => Clone.Join(Clone.PathOf(options.Data), stop) };
        var settings = new TargetSettings
        {
            Workers = options.Urls, Sidecar = options.Sidecar, Discovers = options.Discovers, Timeout = options.Timeout, Connections = options.Connections,
        };
        await using var target = await SnapperTarget.Connect(settings, cancellation);
        var workload = options.Scenario.Workload(options.Workload);
        output.WriteLine($"{options.Scenario.Name}: {workload.Describe()}");
        output.WriteLine(string.Create(
            CultureInfo.InvariantCulture, $"  {options.LoadShape.Name}, {options.Rate:0.##}/s for {options.Duration.TotalSeconds:0.#} s after {options.WarmUp.TotalSeconds:0.#} s, against {string.Join(", ", target.Addresses.Select(static address => address.AbsoluteUri))}"));
        var report = await new LoadRun(options, output).Run(workload, target, target, cancellation);
        Verdict(report, output);
        var folder = options.ReportFolder is { } given
            ? Clone.PathOf(given)
            : Path.Combine(Clone.Root() is { } root ? Path.Combine(root, "loadtest", "results", "today") : Environment.CurrentDirectory, "load-" + options.Scenario.Name);
        Write(report, folder);
        output.WriteLine($"written to {Path.Combine(folder, "report.html")} and report.json");
        return report.Passed ? Held : Broken;
    }

    private static void Verdict(LoadReport report, TextWriter output)
    {
        foreach (var (label, count) in report.Outcomes.OrderByDescending(static outcome => outcome.Value))
        {
            output.WriteLine(string.Create(CultureInfo.InvariantCulture, $"  {count,9:N0} {label}"));
        }

        output.WriteLine(string.Create(
            CultureInfo.InvariantCulture,
            $"  latency p50 {report.Measures["p50-ms"]:0.##}, p99 {report.Measures["p99-ms"]:0.##}, p99.9 {report.Measures["p99.9-ms"]:0.##}, p99.99 {report.Measures["p99.99-ms"]:0.##}, max {report.Measures["max-ms"]:0.##} ms from the intended start; own error of arrivals p99 {report.ArrivalError.P99Ms:0.###} ms"));
        foreach (var threshold in report.Thresholds)
        {
            output.WriteLine(string.Create(CultureInfo.InvariantCulture, $"  {(threshold.Held ? "held  " : "BROKEN")} {threshold.Text}, measured {(threshold.Actual is { } actual ? actual.ToString("0.###", CultureInfo.InvariantCulture) : "nothing")}"));
        }

        output.WriteLine($"  {(report.Invariant.Passed ? "held  " : "BROKEN")} {report.Invariant.Name}: {report.Invariant.Summary}");
        foreach (var problem in report.Invariant.Problems)
        {
            output.WriteLine("         " + problem);
        }

        if (report.ChangeProblem is { } why)
        {
            output.WriteLine($"  BROKEN {report.Change}: {why}");
        }
    }

    private static void Write(LoadReport report, string folder)
    {
        Directory.CreateDirectory(folder);
        File.WriteAllText(Path.Combine(folder, "report.json"), ReportJson.Of(report));
        File.WriteAllText(Path.Combine(folder, "report.html"), ReportHtml.Of(report));
    }

    private static int List(TextWriter output)
    {
        output.WriteLine("scenarios:");
        foreach (var scenario in ScenarioCatalog.All)
        {
            output.WriteLine($"  {scenario.Name,-18} {scenario.Summary}");
            output.WriteLine($"  {"",-18} {string.Join(", ", scenario.Thresholds)}");
        }

        output.WriteLine();
        output.WriteLine("measures that --threshold may name:");
        foreach (var (name, what) in MeasureNames.Explained)
        {
            output.WriteLine($"  {name,-22} {what}");
        }

        return Held;
    }
}
