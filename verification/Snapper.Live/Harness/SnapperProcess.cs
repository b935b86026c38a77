using System.Diagnostics;
using System.Globalization;

namespace Snapper.Live.Harness;

/// <summary><c>./snapper up</c> in a process of its own, as a user runs it: own ports, own data, loopback only.</summary>
internal sealed class SnapperProcess : IAsyncDisposable
{
    // The first start may build the server.
    private static readonly TimeSpan ReadyWithin = TimeSpan.FromMinutes(5);
    private static readonly TimeSpan StopWithin = TimeSpan.FromSeconds(30);
    private const int LinesKept = 60;

    private readonly Process _process;
    private readonly string _marker;
    private readonly Queue<string> _output = new();
    private readonly TaskCompletionSource<string> _readyLine = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private ReadyLine? _ready;

    private SnapperProcess(UpOptions options)
    {
        Options = options;
        _marker = $"SNAPPER_TEST_RUN={Guid.NewGuid():N}";
        var start = new ProcessStartInfo(Path.Combine(Repository.Root, "snapper"), options.Arguments)
        {
            WorkingDirectory = Repository.Root,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
            RedirectStandardInput = true,
        };
        start.Environment["SNAPPER_TEST_RUN"] = _marker.Split('=')[1];
        start.Environment.Remove("SNAPPER_REDIS");
        start.Environment.Remove("SNAPPER_APP_ID");

        // Most tests are not about the dashboard; those that are say so in their options.
        start.Environment["SNAPPER_DASHBOARD"] = "off";
        foreach (var (name, value) in options.Environment)
        {
            start.Environment[name] = value;
        }

        if (!File.Exists(start.FileName))
        {
            throw new FileNotFoundException($"{start.FileName} is not there: these tests start the system through it.");
        }

        _process = Process.Start(start)!;
        _process.OutputDataReceived += (_, line) => Keep(line.Data, isOutput: true);
        _process.ErrorDataReceived += (_, line) => Keep(line.Data, isOutput: false);
        _process.BeginOutputReadLine();
        _process.BeginErrorReadLine();
    }

    public UpOptions Options { get; }

    public ReadyLine Ready => _ready ?? throw new InvalidOperationException("Not ready.");

    public ReadyWorker Worker => Ready.Workers[0];

    /// <summary>The last lines that it wrote, for messages of failing tests.</summary>
    public string Output
    {
        get
        {
            lock (_output)
            {
                return string.Join('\n', _output);
            }
        }
    }

    /// <summary>All live processes that it started, itself included.</summary>
    public IReadOnlyList<ProcessTable.Entry> Processes() => ProcessTable.StartedWith(_marker, Options.Data);

    /// <summary>Starts it and waits until it says that it is ready.</summary>
    public static async Task<SnapperProcess> Start(UpOptions options, CancellationToken cancellation = default)
    {
        if (!options.Embedded && ServerPrograms.Missing is { } missing)
        {
            throw new InvalidOperationException(missing);
        }

        var snapper = new SnapperProcess(options);
        try
        {
            snapper._ready = ReadyLine.Parse(await snapper.AwaitReadyLine(cancellation));
            var expected = options.Embedded ? ("embedded", "file") : ("daprd", "redis");
            if ((snapper.Ready.Dapr, snapper.Ready.Log) != expected)
            {
                throw new InvalidOperationException($"Expected {expected}, but up took ({snapper.Ready.Dapr}, {snapper.Ready.Log}):\n{snapper.Output}");
            }

            return snapper;
        }
        catch
        {
            await snapper.DisposeAsync();
            throw;
        }
    }

    /// <summary>Stops it as an operator does, and checks that nothing which it started is left.</summary>
    public async Task Stop()
    {
        var mine = Processes();
        ProcessTable.Signal(_process.Id, ProcessTable.Terminate);

        // Not Process.WaitForExit: that also waits until nobody holds the output pipe, so an orphan would look like a process that does not end.
        await Eventually.Holds("./snapper up to end after SIGTERM", StopWithin, () =>
            Task.FromResult(ProcessTable.Read(_process.Id) is null ? null : $"it runs on. Its last words:\n{Output}"));
        var left = mine.Concat(Processes()).Where(entry => entry.IsAlive).Distinct().ToArray();
        if (left.Length > 0)
        {
            throw new InvalidOperationException($"./snapper up ended and left behind:\n{string.Join('\n', left)}\nIts last words:\n{Output}");
        }

        if (mine.Count < 2)
        {
            throw new InvalidOperationException($"Only {mine.Count} processes carried {_marker}, so the search for orphans proves nothing.");
        }
    }

    /// <summary>It has ended.</summary>
    public bool HasEnded => ProcessTable.Read(_process.Id) is null;

    /// <summary>Asks it to end, as Ctrl-C does.</summary>
    public void Terminate() => ProcessTable.Signal(_process.Id, ProcessTable.Terminate);

    /// <summary>Waits until it ends by itself.</summary>
    /// <returns>Its exit code.</returns>
    public async Task<int> Ended()
    {
        await Eventually.Holds("./snapper up to end by itself", StopWithin, () =>
            Task.FromResult(ProcessTable.Read(_process.Id) is null ? null : $"it runs on. Its last words:\n{Output}"));
        await _process.WaitForExitAsync();
        return _process.ExitCode;
    }

    /// <summary>Ends whatever is left, so that a failed test leaves nothing on the machine.</summary>
    public async ValueTask DisposeAsync()
    {
        foreach (var entry in Processes())
        {
            ProcessTable.Signal(entry.Pid, ProcessTable.Kill);
        }

        await _process.WaitForExitAsync();
        _process.Dispose();
    }

    private async Task<string> AwaitReadyLine(CancellationToken cancellation)
    {
        var ended = _process.WaitForExitAsync(CancellationToken.None);
        var first = await Task.WhenAny(_readyLine.Task, ended, Task.Delay(ReadyWithin, cancellation));
        cancellation.ThrowIfCancellationRequested();
        if (first == _readyLine.Task)
        {
            return await _readyLine.Task;
        }

        var what = first == ended ? $"ended with exit code {_process.ExitCode} before it was ready" : $"was not ready after {ReadyWithin.TotalSeconds} s";
        throw new InvalidOperationException($"./snapper {string.Join(' ', Options.Arguments)} {what}. Its last words:\n{Output}");
    }

    private void Keep(string? line, bool isOutput)
    {
        if (line is null)
        {
            return;
        }

        if (isOutput && line.StartsWith("ready {", StringComparison.Ordinal))
        {
            _readyLine.TrySetResult(line);
        }

        lock (_output)
        {
            _output.Enqueue(line);
            if (_output.Count > LinesKept)
            {
                _output.Dequeue();
            }
        }
    }
}

/// <summary>How <c>up</c> is started.</summary>
/// <param name="Embedded">One process with a log in a file; otherwise the real daprd and Redis.</param>
/// <param name="Data">Where state is kept.</param>
/// <param name="BasePort">The worker listens on this plus 1.</param>
/// <param name="SidecarPort">The sidecar's HTTP API.</param>
/// <param name="DashboardPort">The dashboard's port.</param>
internal sealed record UpOptions(bool Embedded, string Data, int BasePort, int SidecarPort, int DashboardPort)
{
    /// <summary>host:port of a Redis that is there already; null: a private one.</summary>
    public string? Redis { get; init; }

    /// <summary>up or demo.</summary>
    public string Command { get; init; } = "up";

    /// <summary>Further options of <c>up</c>.</summary>
    public string[] More { get; init; } = [];

    /// <summary>Added to the environment.</summary>
    public IReadOnlyDictionary<string, string> Environment { get; init; } = new Dictionary<string, string>();

    public string[] Arguments =>
    [
        Command, "--data", Data, "--base-port", Text(BasePort), "--sidecar-port", Text(SidecarPort), "--dashboard-port", Text(DashboardPort),
        .. Embedded ? ["--embedded"] : Array.Empty<string>(),
        .. Redis is null ? Array.Empty<string>() : ["--redis", Redis],
        .. More,
    ];

    /// <summary>Own folder, own ports.</summary>
    /// <param name="embedded">See <see cref="Embedded"/>.</param>
    /// <param name="morePorts">Offsets above <see cref="BasePort"/> that must be free, too.</param>
    public static UpOptions Random(bool embedded, params int[] morePorts)
    {
        var port = FreePorts.Base([1, 10, 20, .. morePorts]);
        return new UpOptions(embedded, Directory.CreateTempSubdirectory("snapper-it-").FullName, port, port + 10, port + 20);
    }

    private static string Text(int number) => number.ToString(CultureInfo.InvariantCulture);
}
