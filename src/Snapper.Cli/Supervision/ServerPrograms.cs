using System.Diagnostics;
using System.Text.RegularExpressions;

namespace Snapper.Cli.Supervision;

/// <summary>A program that was found, or why none was.</summary>
/// <param name="Path">Null: none that can be used.</param>
/// <param name="Version">Null: unknown (placement does not tell).</param>
/// <param name="Finding">What was found, in words.</param>
internal sealed record FoundProgram(string? Path, Version? Version, string Finding);

/// <summary>Finds the servers that we work with, in versions that we work with.</summary>
internal static partial class ServerPrograms
{
    /// <summary>Below it, other hosts' comings and goings abort calls, and the placement client can lose the actor runtime.</summary>
    public static readonly Version LeastDapr = new(1, 18, 1);

    /// <summary>Below it, multi-part append-only options and streams differ from what the log was tested with.</summary>
    public static readonly Version LeastRedis = new(6, 2, 0);

    /// <summary>redis-server: <c>SNAPPER_REDIS_SERVER</c> or PATH.</summary>
    public static FoundProgram Redis(ExecutableFinder finder) => Find(finder, "redis-server", "SNAPPER_REDIS_SERVER", LeastRedis);

    /// <summary>daprd: <c>SNAPPER_DAPRD</c>, PATH or <c>~/.dapr/bin</c>.</summary>
    public static FoundProgram Daprd(ExecutableFinder finder) => Find(finder, "daprd", "SNAPPER_DAPRD", LeastDapr);

    /// <summary>Dapr's placement service: <c>SNAPPER_PLACEMENT</c>, PATH or <c>~/.dapr/bin</c>; it cannot say its version.</summary>
    public static FoundProgram Placement(ExecutableFinder finder)
    {
        var path = finder.Find("placement", "SNAPPER_PLACEMENT").FirstOrDefault();
        return path is null
            ? new FoundProgram(null, null, "no placement on PATH or in ~/.dapr/bin")
            : new FoundProgram(path, null, $"placement ({path})");
    }

    /// <summary>The first three numbers of a version in a program's answer; null: there is none.</summary>
    internal static Version? ParseVersion(string text) =>
        VersionPattern().Match(text) is { Success: true } match ? Version.Parse(match.Value) : null;

    private static FoundProgram Find(ExecutableFinder finder, string name, string variable, Version least)
    {
        var tooOld = new List<string>();
        foreach (var path in finder.Find(name, variable))
        {
            var version = AskVersion(path);
            if (version >= least) return new FoundProgram(path, version, $"{name} {version} ({path})");
            tooOld.Add(version is null ? $"{path} does not tell its version" : $"{path} is {version}, {least} or later is needed");
        }

        var where = name == "daprd" ? "on PATH or in ~/.dapr/bin" : "on PATH";
        return new FoundProgram(null, null, tooOld.Count > 0 ? string.Join("; ", tooOld) : $"no {name} {where}");
    }

    private static Version? AskVersion(string path)
    {
        try
        {
            using var process = Process.Start(
                new ProcessStartInfo(path, "--version") { RedirectStandardOutput = true, RedirectStandardError = true })!;
            var output = process.StandardOutput.ReadToEndAsync();
            var errors = process.StandardError.ReadToEndAsync();
            if (process.WaitForExit(TimeSpan.FromSeconds(20))) return ParseVersion(output.Result + "\n" + errors.Result);
            process.Kill();
        }
        catch (System.ComponentModel.Win32Exception)
        {
            // Not a program for this machine: as good as absent.
        }

        return null;
    }

    [GeneratedRegex(@"\d+\.\d+\.\d+", RegexOptions.CultureInvariant)]
    private static partial Regex VersionPattern();
}
