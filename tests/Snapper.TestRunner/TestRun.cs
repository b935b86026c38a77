using System.Collections.Concurrent;
using System.Diagnostics;
using System.Globalization;
using Snapper.AspNetCore.Processes;
using Snapper.Server.Commands;

namespace Snapper.TestRunner;

/// <summary>
/// Runs the test assemblies beside each other, or one after another. Most wait for servers, browsers and bounds of time
/// for much of their time: two of them at once, the longest first. The others compute, one after another and at the
/// lowest priority, so that they delay nothing.
/// </summary>
/// <param name="root">The repository.</param>
/// <param name="results">Folder for the result files, one per assembly.</param>
/// <param name="servers">Environment of the tests.</param>
/// <param name="filter">Only these tests; null: all.</param>
/// <param name="signals">End the run.</param>
/// <param name="output">Takes a line for each assembly, and all output of those that failed.</param>
internal sealed class TestRun(
    string root, string results, TestServers servers, string? filter, StopSignals signals, TextWriter output)
{
    // They start servers, longest first, and are left out of the core.
    private static readonly string[] s_servers =
    [
        "Snapper.Integration.Tests", "Snapper.Dashboard.Tests", "Snapper.Server.Tests", "Snapper.Cli.Tests",
        "Snapper.Storage.Tests", "Snapper.Load.Tests", "Snapper.Benchmarks.Tests", "Snapper.Sidecar.Tests",
        "Snapper.DaprCompatibility.Tests", "Snapper.Client.Tests",
    ];

    private const string WaitsForBounds = "Snapper.Runtime.Tests";
    private const string Longest = "Snapper.Simulation.Tests";
    private const string NotNightly = "Lane!=nightly";

    // Linux shares the processor between sessions first, and within each by priority: a session of its own, the last of
    // all. Where sessions do not count, the priority does.
    private static readonly string[] s_idle = OperatingSystem.IsLinux()
        ? ["setsid", "sh", "-c", "echo 19 2>/dev/null >/proc/self/autogroup; exec nice -n 19 \"$@\"", "sh"]
        : ["nice", "-n", "19"];

    private readonly Lock _gate = new();

    /// <summary>Runs them.</summary>
    /// <param name="coreOnly">Only those that start no servers.</param>
    /// <param name="serial">One after another.</param>
    /// <returns>Every assembly's run ended well.</returns>
    public async Task<bool> Run(bool coreOnly, bool serial)
    {
        var folders = Directory.EnumerateDirectories(Path.Combine(root, "tests"), "*.Tests");
        var rest = folders.Select(folder => Path.GetFileName(folder)!).Order(StringComparer.Ordinal)
            .Except([.. s_servers, WaitsForBounds, Longest]);
        string[] computing = [Longest, .. rest];
        string[] waiting = coreOnly ? [WaitsForBounds] : [WaitsForBounds, .. s_servers];
        if (serial)
        {
            return await RunQueue(new([.. computing, .. waiting]));
        }

        var queue = new ConcurrentQueue<string>(waiting);
        var passed = await Task.WhenAll(RunQueue(queue), RunQueue(queue), RunQueue(new(computing), isIdle: true));
        return passed.All(static one => one);
    }

    /// <summary>What './snapper verify --nightly' runs is left out, unless a lane is asked for.</summary>
    internal static string WithoutNightly(string? filter) => filter switch
    {
        null => NotNightly,
        _ when filter.Contains("Lane", StringComparison.OrdinalIgnoreCase) => filter,
        _ => $"({filter})&{NotNightly}",
    };

    private async Task<bool> RunQueue(ConcurrentQueue<string> names, bool isIdle = false)
    {
        var passed = true;
        while (names.TryDequeue(out var name))
        {
            if (signals.Stop.IsCancellationRequested)
            {
                return false;
            }

            passed &= await RunAssembly(name, isIdle);
        }

        return passed;
    }

    private async Task<bool> RunAssembly(string name, bool isIdle)
    {
        var began = Stopwatch.GetTimestamp();
        var assembly = Path.Combine("tests", name, "bin", "Release", "net10.0", name + ".dll");
        var logger = $"trx;LogFileName={name}.trx";
        string[] test = ["dotnet", "test", assembly, "--nologo", "--logger", logger, "--results-directory", results];
        string[] words = isIdle ? [.. s_idle, .. test] : test;
        var start = new ProcessStartInfo(words[0], words[1..])
        {
            UseShellExecute = false,
            WorkingDirectory = root,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };

        start.ArgumentList.Add("--filter");
        start.ArgumentList.Add(WithoutNightly(filter));
        foreach (var (variable, value) in servers.Environment)
        {
            start.Environment[variable] = value;
        }

        // Processes of tests live for seconds: optimizing by profile never pays, and costs a quarter of their time.
        start.Environment["DOTNET_TieredPGO"] = "0";
        start.Environment["DOTNET_EnableWriteXorExecute"] = "0";

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
