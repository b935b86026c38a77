using System.Diagnostics;
using Snapper.Server.Supervision;

namespace Snapper.Server.Cli;

/// <summary>Runs the benchmarks, which are a program of their own: what measures must not be part of what is measured.</summary>
internal static class BenchCommand
{
    /// <summary>Arguments of <c>bench</c>; all are passed on.</summary>
    public static readonly CommandSyntax Syntax = new("bench", "benchmarks with their baselines, side by side", [], Rest: "NAME");

    /// <summary>Builds and runs <c>loadtest/Snapper.Benchmarks</c>; its exit code is ours.</summary>
    public static async Task<int> Run(ParsedArguments arguments, TextWriter output, TextWriter errors)
    {
        if (Repository.Find() is not { } root || !Directory.Exists(Path.Combine(root, "loadtest", "Snapper.Benchmarks")))
        {
            errors.WriteLine("snapper: loadtest/Snapper.Benchmarks was not found; 'bench' runs in a clone of the repository.");
            return ExitCode.Failure;
        }

        var start = new ProcessStartInfo("dotnet") { UseShellExecute = false, WorkingDirectory = root };
        foreach (var argument in (string[])["run", "-c", "Release", "--project", Path.Combine("loadtest", "Snapper.Benchmarks"), "--"]) start.ArgumentList.Add(argument);
        foreach (var argument in arguments.Rest) start.ArgumentList.Add(argument);

        // Build servers that stay behind would hold the caller's pipes open.
        start.Environment["MSBUILDDISABLENODEREUSE"] = "1";
        using var signals = new StopSignals();
        return await ForwardedProcess.Run(start, signals);
    }
}
