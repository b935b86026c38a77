using System.Diagnostics;
using System.Text.RegularExpressions;
using Snapper.Server.Processes;

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

    /// <summary>A file that is about to become daprd or placement runs on this machine, in a version that we work with.</summary>
    /// <param name="file">The program.</param>
    /// <param name="name"><c>daprd</c> or <c>placement</c>, which cannot say its version: that it runs is all that is asked of it.</param>
    /// <param name="exactly">The version that it must have; null: any from <see cref="LeastDapr"/> on.</param>
    /// <exception cref="StartupException">It does not.</exception>
    public static void RequireDapr(string file, string name, Version? exactly)
    {
        var (runs, text) = Ask(file, name == "daprd" ? "--version" : "--help");
        if (!runs) throw new StartupException($"{name} is no program that runs on this machine");
        if (name != "daprd") return;
        var version = ParseVersion(text);
        if (exactly is not null ? version != exactly : !(version >= LeastDapr))
        {
            throw new StartupException($"daprd says that it is {version?.ToString() ?? "nothing that can be understood"}, and {(exactly is null ? $"{LeastDapr} or later" : exactly)} is needed");
        }
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

    private static Version? AskVersion(string path) => ParseVersion(Ask(path, "--version").Text);

    private static (bool Runs, string Text) Ask(string path, string argument)
    {
        try
        {
            using var process = Process.Start(new ProcessStartInfo(path, argument) { RedirectStandardOutput = true, RedirectStandardError = true })!;
            var output = process.StandardOutput.ReadToEndAsync();
            var errors = process.StandardError.ReadToEndAsync();
            if (!process.WaitForExit(TimeSpan.FromSeconds(20)))
            {
                process.Kill();
                return (true, "");
            }

            return (true, output.Result + "\n" + errors.Result);
        }
        catch (System.ComponentModel.Win32Exception)
        {
            // Not a program for this machine: as good as absent.
            return (false, "");
        }
    }

    [GeneratedRegex(@"\d+\.\d+\.\d+", RegexOptions.CultureInvariant)]
    private static partial Regex VersionPattern();
}
