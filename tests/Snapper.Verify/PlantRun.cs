using System.Diagnostics;
using Snapper.Simulation.Running;

namespace Snapper.Verify;

/// <summary>The table of planted faults: which seed catches each, by what, and how long that takes.</summary>
internal static class PlantRun
{
    public static int Run(VerifyOptions options)
    {
        if (Simulator.PlantedFaults.Count == 0)
        {
            Console.Error.WriteLine("This build has no faults to plant; './snapper verify --plant' makes one that has.");
            return 2;
        }

        var names = options.Faults.Count > 0 ? options.Faults : Simulator.PlantedFaults;
        if (options.Rotate > 0)
        {
            names = OfToday(names, options.Rotate);
        }

        var missed = 0;
        Console.WriteLine(options.Markdown ? "| planted fault | caught by | seeds | seconds |\n|---|---|---|---|" : $"{"planted fault",-34} seeds  seconds  caught by");
        foreach (var name in names)
        {
            Simulator.Plant(name);
            var watch = Stopwatch.StartNew();
            var (seeds, by) = Search(options.Limit);
            Simulator.Plant(null);
            missed += by is null ? 1 : 0;
            var seconds = watch.Elapsed.TotalSeconds;
            var word = by ?? "MISSED";
            Console.WriteLine(options.Markdown ? $"| {name} | {word} | {seeds} | {seconds:0.0} |" : $"{name,-34} {seeds,5}  {seconds,7:0.0}  {word}");
        }

        Console.WriteLine(options.Markdown ? $"\n{names.Count - missed} of {names.Count} caught." : $"{names.Count - missed} of {names.Count} caught");
        return missed == 0 ? 0 : 1;
    }

    /// <summary>Some of them, the next ones each day, so that all come round.</summary>
    private static List<string> OfToday(IReadOnlyList<string> names, int count)
    {
        var first = (DateTimeOffset.UtcNow.ToUnixTimeSeconds() / 86_400) * count;
        return [.. Enumerable.Range(0, Math.Min(count, names.Count)).Select(i => names[(int)((first + i) % names.Count)])];
    }

    private static (int Seeds, string? By) Search(int limit)
    {
        for (var seed = 1; seed <= limit; seed++)
        {
            if (Simulator.Run((ulong)seed).Violations is [var first, ..])
            {
                return (seed, Shorten(first));
            }
        }

        return (limit, null);
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
