using System.Diagnostics;
using Snapper.Simulation.Cluster;
using Snapper.Simulation.Running;

namespace Snapper.Verify;

/// <summary>The table of mutations: which seed catches each, by what, and how long that takes.</summary>
internal static class PlantRun
{
    /// <summary>Seeds within which each must be caught; the default of <c>--limit</c>.</summary>
    public const int EnoughForAll = 10_000;

    public static int Run(VerifyOptions options, CancellationToken interrupted)
    {
        if (Simulator.Mutations.Count == 0)
        {
            Console.Error.WriteLine("This build has no mutations; './snapper verify --plant' makes one that has.");
            return 2;
        }

        var names = options.Faults.Count > 0 ? options.Faults : options.Workers is null ? Simulator.Mutations : ClusterSimulator.Mutations;
        var (missed, caught) = (0, 0);
        Console.WriteLine(options.Markdown ? "| mutation | caught by | seeds | seconds |\n|---|---|---|---|" : $"{"mutation",-34} seeds  seconds  caught by");
        foreach (var name in names)
        {
            if (interrupted.IsCancellationRequested)
            {
                break;
            }

            Simulator.Select(name);
            var watch = Stopwatch.StartNew();
            var (seeds, by) = Search(options, interrupted);
            Simulator.Select(null);
            if (by is null && interrupted.IsCancellationRequested)
            {
                Console.WriteLine(options.Markdown ? $"\n`{name}` was being looked for, {seeds} seeds so far." : $"{name} was being looked for, {seeds} seeds so far");
                break;
            }

            missed += by is null ? 1 : 0;
            caught += by is null ? 0 : 1;
            var seconds = watch.Elapsed.TotalSeconds;
            var word = by ?? "MISSED";
            Console.WriteLine(options.Markdown ? $"| {name} | {word} | {seeds} | {seconds:0.0} |" : $"{name,-34} {seeds,5}  {seconds,7:0.0}  {word}");
        }

        Console.WriteLine(options.Markdown ? $"\n{caught} of {names.Count} caught." : $"{caught} of {names.Count} caught");
        if (interrupted.IsCancellationRequested)
        {
            Console.WriteLine($"INTERRUPTED: {missed} missed, {names.Count - caught - missed} not looked for to the end.");
        }
        else if (missed > 0 && options.Limit < EnoughForAll)
        {
            Console.WriteLine($"What is missed in {options.Limit:N0} seeds may only need more of them: every mutation is to be caught within {EnoughForAll:N0} (--limit {EnoughForAll}).");
        }

        return missed == 0 ? 0 : 1;
    }

    private static (int Seeds, string? By) Search(VerifyOptions options, CancellationToken interrupted)
    {
        for (var run = 1; run <= options.Limit; run++)
        {
            if (interrupted.IsCancellationRequested)
            {
                return (run - 1, null);
            }

            var seed = options.FirstPlanted + (ulong)run - 1;
            var violations = options.Workers is { } workers
                ? ClusterSimulator.Run(ClusterScenario.Draw(seed, workers)).Violations
                : Simulator.Run(seed).Violations;
            if (violations is [var first, ..])
            {
                return (run, Shorten(first));
            }
        }

        return (options.Limit, null);
    }

    /// <summary>The checker's class of anomaly, or the beginning of what is wrong.</summary>
    private static string Shorten(string violation)
    {
        var lines = violation.Split('\n', StringSplitOptions.RemoveEmptyEntries);
        var line = lines[0].StartsWith("ANOMALIES", StringComparison.Ordinal) && lines.Length > 1 ? "checker: " + lines[1] : lines[0];
        line = line.Replace("Snapper.Protocol.ProtocolViolationException: ", string.Empty, StringComparison.Ordinal).Replace('|', '/').Trim();
        return line.Length > 110 ? line[..110] + "…" : line;
    }
}
