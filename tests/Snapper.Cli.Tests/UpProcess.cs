using System.Collections.Concurrent;
using System.Diagnostics;
using System.Globalization;
using Snapper.AspNetCore.Processes;
using Snapper.Cli.Supervision;
using Xunit;

namespace Snapper.Cli.Tests;

/// <summary>The real command line as a process of its own. Killed, with all it started, when the test ends.</summary>
internal sealed class UpProcess : IAsyncDisposable
{
    public static readonly string CommandLineDll = Path.Combine(AppContext.BaseDirectory, "Snapper.Cli.dll");

    private readonly Process _process;
    private readonly RunStateFile _state;
    private readonly TaskCompletionSource<ReadyLine?> _ready = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly ConcurrentQueue<ProcessIdentity> _seen = new();

    private UpProcess(Process process, string data)
    {
        _process = process;
        _state = new RunStateFile(Path.Combine(data, "run", "state.json"));
        process.OutputDataReceived += (_, line) =>
        {
            if (line.Data is null) _ready.TrySetResult(null);
            else
            {
                Output.Enqueue(line.Data);
                if (ReadyLine.Parse(line.Data) is { } ready) _ready.TrySetResult(ready);
            }
        };
        process.ErrorDataReceived += (_, line) =>
        {
            if (line.Data is not null) Errors.Enqueue(line.Data);
        };
        process.BeginOutputReadLine();
        process.BeginErrorReadLine();
    }

    public ConcurrentQueue<string> Output { get; } = new();

    public ConcurrentQueue<string> Errors { get; } = new();

    public string ErrorText => string.Join('\n', Errors);

    public string AllText => string.Join('\n', Output.Concat(Errors));

    public bool HasExited => _process.HasExited;

    public int Pid => _process.Id;

    /// <summary>Starts a command on its own ports and data; further options as given.</summary>
    public static UpProcess Start(string command, string data, int basePort, int sidecarPort, params string[] options) =>
        Start(command, data, basePort, sidecarPort, options, new Dictionary<string, string?>());

    public static UpProcess Start(string command, string data, int basePort, int sidecarPort, string[] options, IReadOnlyDictionary<string, string?> environment)
    {
        var start = new ProcessStartInfo("dotnet") { RedirectStandardOutput = true, RedirectStandardError = true, RedirectStandardInput = true };
        string[] arguments =
        [
            CommandLineDll, command, "--data", data, "--base-port", basePort.ToString(CultureInfo.InvariantCulture),
            "--sidecar-port", sidecarPort.ToString(CultureInfo.InvariantCulture), .. options,
        ];
        foreach (var argument in arguments) start.ArgumentList.Add(argument);
        start.Environment.Remove("SNAPPER_REDIS");
        start.Environment["SNAPPER_DASHBOARD"] = "off";
        foreach (var (name, value) in environment) start.Environment[name] = value;
        return new UpProcess(Process.Start(start)!, data);
    }

    /// <summary>Waits for the ready line.</summary>
    public async Task<ReadyLine> Ready()
    {
        ReadyLine? ready;
        try
        {
            ready = await _ready.Task.WaitAsync(Eventually.Deadline);
        }
        catch (TimeoutException)
        {
            ready = null;
        }

        Assert.True(ready is not null, $"no ready line. Messages:\n{ErrorText}");
        Remember();
        return ready;
    }

    /// <summary>What the supervisor says it runs now.</summary>
    public RunState State() => _state.Read() ?? throw new InvalidOperationException("There is no run state.");

    /// <summary>All children that run now; they are checked and cleaned up at the end.</summary>
    public IReadOnlyList<ProcessIdentity> Remember()
    {
        ProcessIdentity[] children = [.. State().Children().Select(c => c.Process).Where(p => p.Pid > 0)];
        foreach (var child in children) _seen.Enqueue(child);
        return children;
    }

    public void Signal(int signal) => Assert.True(Posix.Send(Pid, signal) || HasExited, $"pid {Pid} could not be signalled");

    public async Task<int> Exit()
    {
        try
        {
            await _process.WaitForExitAsync().WaitAsync(Eventually.Deadline);
        }
        catch (TimeoutException)
        {
            Assert.Fail($"'up' did not end. Messages:\n{ErrorText}");
        }

        return _process.ExitCode;
    }

    public async ValueTask DisposeAsync()
    {
        if (!_process.HasExited)
        {
            if (_state.Read() is not null) Remember();
            Posix.Send(Pid, Posix.Kill);
            await _process.WaitForExitAsync();
        }

        foreach (var child in _seen.Where(c => c.IsAlive())) Posix.Send(child.Pid, Posix.Kill);
        _process.Dispose();
    }
}
