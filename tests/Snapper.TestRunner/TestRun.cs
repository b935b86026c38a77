using System.Diagnostics;
using System.Globalization;
using Snapper.Server.Processes;

namespace Snapper.TestRunner;

/// <summary>
/// Runs the test assemblies one after another, or in two queues beside each other. One queue has the assemblies that start whole systems and browsers for most of their time, so
/// that only one of them does at once; the other one has all others, those that compute first. Beside each other they need two thirds of the time, and tests of bounds of time
/// may fail on a machine that is slow for that.
/// </summary>
/// <param name="root">The repository.</param>
/// <param name="results">Folder for the result files, one per assembly.</param>
/// <param name="servers">Environment of the tests.</param>
/// <param name="filter">Only these tests; null: all.</param>
/// <param name="signals">End the run.</param>
/// <param name="output">Takes a line for each assembly, and all output of those that failed.</param>
internal sealed class TestRun(string root, string results, TestServers servers, string? filter, StopSignals signals, TextWriter output)
{
    private static readonly string[] s_startSystems = ["Snapper.Integration.Tests", "Snapper.Dashboard.Tests", "Snapper.Server.Tests"];

    // The longest first. Those at the end start servers, too, and are left out of the core.
    private static readonly string[] s_computeFirst = ["Snapper.Simulation.Tests", "Snapper.Runtime.Tests", "Snapper.RuleModel.Tests", "Snapper.Testing.Tests"];
    private static readonly string[] s_startServers =
        ["Snapper.Storage.Tests", "Snapper.Load.Tests", "Snapper.Sidecar.Tests", "Snapper.Client.Tests", "Snapper.Benchmarks.Tests"];

    private readonly Lock _gate = new();

    /// <summary>Runs them.</summary>
    /// <param name="coreOnly">Only those that compute.</param>
    /// <param name="beside">Two queues.</param>
    /// <returns>Every assembly's run ended well.</returns>
    public async Task<bool> Run(bool coreOnly, bool beside)
    {
        var names = Directory.EnumerateDirectories(Path.Combine(root, "tests"), "*.Tests").Select(folder => Path.GetFileName(folder)!).Order(StringComparer.Ordinal).ToList();
        var core = s_computeFirst.Concat(names).Except(s_startSystems).Except(s_startServers).ToList();
        if (coreOnly)
        {
            return await RunQueue(core);
        }

        if (!beside)
        {
            return await RunQueue([.. core, .. s_startServers, .. s_startSystems]);
        }

        var systems = RunQueue(s_startSystems);
        return await RunQueue([.. core, .. s_startServers]) & await systems;
    }

    private async Task<bool> RunQueue(IEnumerable<string> names)
    {
        var passed = true;
        foreach (var name in names)
        {
            if (signals.Stop.IsCancellationRequested)
            {
                return false;
            }

            passed &= await RunAssembly(name);
        }

        return passed;
    }

    private async Task<bool> RunAssembly(string name)
    {
        var began = Stopwatch.GetTimestamp();
        var start = new ProcessStartInfo("dotnet") { UseShellExecute = false, WorkingDirectory = root, RedirectStandardOutput = true, RedirectStandardError = true };
        var assembly = Path.Combine("tests", name, "bin", "Release", "net10.0", name + ".dll");
        foreach (var argument in (string[])["test", assembly, "--nologo", "--logger", $"trx;LogFileName={name}.trx", "--results-directory", results])
        {
            start.ArgumentList.Add(argument);
        }

        if (filter is not null)
        {
            start.ArgumentList.Add("--filter");
            start.ArgumentList.Add(filter);
        }

        foreach (var (variable, value) in servers.Environment)
        {
            start.Environment[variable] = value;
        }

        // Build servers that stay behind would hold the caller's pipes open.
        start.Environment["MSBUILDDISABLENODEREUSE"] = "1";
        start.Environment["DOTNET_CLI_TELEMETRY_OPTOUT"] = "1";
        using var process = Process.Start(start)!;
        await using var stop = signals.Stop.Register(() => Posix.Send(process.Id, Posix.Terminate));
        await using var force = signals.Force.Register(() => process.Kill(entireProcessTree: true));
        var text = await Task.WhenAll(process.StandardOutput.ReadToEndAsync(), process.StandardError.ReadToEndAsync());
        await process.WaitForExitAsync();
        lock (_gate)
        {
            if (process.ExitCode != 0)
            {
                output.WriteLine(text[0]);
                output.WriteLine(text[1]);
            }

            output.WriteLine(string.Create(
                CultureInfo.InvariantCulture, $"{name}: {(process.ExitCode == 0 ? "passed" : "FAILED")}, {Stopwatch.GetElapsedTime(began).TotalSeconds:0} s"));
            output.Flush();
        }

        return process.ExitCode == 0;
    }
}
