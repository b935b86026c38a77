using System.Globalization;
using System.Text.Json;
using Snapper.Benchmarks.Runs;

namespace Snapper.Benchmarks.Systems;

/// <summary>One worker or several in a process of their own (<c>Snapper.Driver</c>), with a Redis of their own.</summary>
public sealed class DriverProcess : IAsyncDisposable
{
    private static readonly TimeSpan StartDeadline = TimeSpan.FromSeconds(60);
    private static readonly TimeSpan Grace = TimeSpan.FromSeconds(60);

    private readonly ChildProcess _child;
    private readonly string _folder;
    private int _runs;

    private DriverProcess(ChildProcess child, string folder)
    {
        _child = child;
        _folder = folder;
    }

    /// <summary>Starts it and waits until its worker takes requests.</summary>
    /// <param name="name">What error messages call it.</param>
    /// <param name="program">Its assembly.</param>
    /// <param name="accounts">Accounts of the load.</param>
    /// <param name="workers">Workers in that process. One is given as none, so that a driver from before there were several takes it.</param>
    public static async Task<DriverProcess> StartAsync(string name, string program, int accounts, int workers)
    {
        var folder = Directory.CreateTempSubdirectory("snapper-bench-").FullName;
        string[] arguments = [program, folder, accounts.ToString(CultureInfo.InvariantCulture)];
        var child = ChildProcess.Start(name, "dotnet", workers == 1 ? arguments : [.. arguments, workers.ToString(CultureInfo.InvariantCulture)]);
        var driver = new DriverProcess(child, folder);
        try
        {
            await child.WaitForLineAsync(static line => line == "ready", StartDeadline, "\"ready\"");
            return driver;
        }
        catch
        {
            await driver.DisposeAsync();
            throw;
        }
    }

    /// <summary>Runs a load and returns what it measured: its own CPU time and its Redis's.</summary>
    public async Task<RunResult> RunAsync(double pactShare, int loops, TimeSpan warmup, TimeSpan measured, ulong seed)
    {
        var prefix = string.Create(CultureInfo.InvariantCulture, $"result {++_runs} ");
        await _child.WriteLineAsync(string.Create(
            CultureInfo.InvariantCulture, $"run {_runs} {pactShare} {loops} {warmup.TotalSeconds} {measured.TotalSeconds} {seed}"));
        var line = await _child.WaitForLineAsync(line => line.StartsWith(prefix, StringComparison.Ordinal), warmup + measured + Grace, "the result of a run");
        return JsonSerializer.Deserialize<RunResult>(line.AsSpan(prefix.Length))!;
    }

    /// <inheritdoc />
    public async ValueTask DisposeAsync()
    {
        await _child.DisposeAsync();
        Directory.Delete(_folder, recursive: true);
    }
}
