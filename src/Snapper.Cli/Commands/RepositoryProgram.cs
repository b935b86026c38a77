using System.Diagnostics;
using Snapper.Cli.Supervision;
using Snapper.Server.Processes;

namespace Snapper.Cli.Commands;

/// <summary>A program of the repository that is not shipped: what measures or attacks the product must not be part of it.</summary>
internal static class RepositoryProgram
{
    /// <summary>Builds and runs it; its exit code is ours.</summary>
    /// <param name="project">Folder of its project, from the root.</param>
    /// <param name="configuration">Build configuration.</param>
    /// <param name="command">Who asks, for the message when there is no repository.</param>
    /// <param name="arguments">Passed on.</param>
    /// <param name="errors">Takes that message.</param>
    /// <param name="environment">Variables that it gets unless they are set.</param>
    public static async Task<int> Run(
        string project, string configuration, string command, IReadOnlyList<string> arguments, TextWriter errors,
        params IEnumerable<KeyValuePair<string, string>> environment)
    {
        if (Repository.Find() is not { } root || !Directory.Exists(Path.Combine(root, project)))
        {
            errors.WriteLine($"snapper: {project} was not found; {command} runs in a clone of the repository.");
            return ExitCode.Failure;
        }

        var start = new ProcessStartInfo("dotnet") { UseShellExecute = false, WorkingDirectory = root };
        foreach (var argument in (string[])["run", "-c", configuration, "--project", project, "--", .. arguments]) start.ArgumentList.Add(argument);

        // Build servers that stay behind would hold the caller's pipes open.
        start.Environment["MSBUILDDISABLENODEREUSE"] = "1";

        // It runs in the root, whose SDK and settings its build needs; paths among its arguments are the caller's.
        start.Environment["SNAPPER_CALLED_FROM"] = Environment.CurrentDirectory;
        foreach (var (name, value) in environment) start.Environment.TryAdd(name, value);

        using var signals = new StopSignals();
        return await ForwardedProcess.Run(start, signals);
    }
}
