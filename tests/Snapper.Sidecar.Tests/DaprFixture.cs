using System.Diagnostics;
using System.Globalization;
using System.Net;
using System.Net.Sockets;
using System.Text;
using Xunit;

namespace Snapper.Sidecar.Tests;

/// <summary>Where the Dapr runtime is: the environment variables SNAPPER_DAPRD and SNAPPER_PLACEMENT, PATH, ~/.dapr/bin.</summary>
public static class DaprBinaries
{
    private const string NotFound =
        "The Dapr runtime was not found: set SNAPPER_DAPRD and SNAPPER_PLACEMENT, or put daprd and placement on PATH or in ~/.dapr/bin.";

    public static string? Daprd { get; } = Find("SNAPPER_DAPRD", "daprd");

    public static string? Placement { get; } = Find("SNAPPER_PLACEMENT", "placement");

    /// <summary>Why tests on the real runtime cannot run; null when they can.</summary>
    public static string? Missing { get; } =
        WrongVariable("SNAPPER_DAPRD") ?? WrongVariable("SNAPPER_PLACEMENT") ?? (Daprd is null || Placement is null ? NotFound : null);

    /// <summary>
    /// The reason to show a test as not run; null in CI, where a missing runtime is a failure, as a variable that names no file is everywhere.
    /// </summary>
    public static string? SkipReason { get; } =
        string.Equals(Environment.GetEnvironmentVariable("CI"), "true", StringComparison.OrdinalIgnoreCase) || Missing != NotFound ? null : Missing;

    private static string? WrongVariable(string variable) =>
        Environment.GetEnvironmentVariable(variable) is { Length: > 0 } named && !File.Exists(named)
            ? $"The environment variable {variable} names '{named}', which does not exist."
            : null;

    private static string? Find(string variable, string name)
    {
        if (Environment.GetEnvironmentVariable(variable) is { Length: > 0 } named)
        {
            return named;
        }

        var home = Environment.GetFolderPath(Environment.SpecialFolder.UserProfile);
        var folders = (Environment.GetEnvironmentVariable("PATH") ?? "").Split(Path.PathSeparator, StringSplitOptions.RemoveEmptyEntries)
            .Append(Path.Combine(home, ".dapr", "bin"));
        return folders.Select(folder => Path.Combine(folder, name)).FirstOrDefault(File.Exists);
    }
}

/// <summary>A test that needs daprd and placement: shown as not run where they are missing, failed where CI=true.</summary>
[AttributeUsage(AttributeTargets.Method)]
public sealed class DaprFactAttribute : FactAttribute
{
    public DaprFactAttribute() => Skip = DaprBinaries.SkipReason;
}

/// <summary>How to start a sidecar for a test.</summary>
public sealed record DaprFixtureOptions
{
    /// <summary>The app's port on loopback. It may start listening later; daprd waits.</summary>
    public required int AppPort { get; init; }

    public string AppId { get; init; } = "snapper";

    public string AppProtocol { get; init; } = "http";

    /// <summary>Folder with components and resiliency; null: an in-memory actor state store and nothing else.</summary>
    public string? Resources { get; init; }

    /// <summary>Configuration file; null: daprd's defaults.</summary>
    public string? Config { get; init; }

    public string MaxBodySize { get; init; } = "16Mi";

    public string? DaprApiToken { get; init; }

    public string? AppApiToken { get; init; }

    /// <summary>A placement service to share; null: an own one is started.</summary>
    public DaprFixture? Placement { get; init; }
}

/// <summary>A placement service and a daprd of their own: random free ports, loopback only, own folder, ended by process id.</summary>
public sealed class DaprFixture : IAsyncDisposable
{
    private static readonly TimeSpan StartDeadline = TimeSpan.FromSeconds(30);
    private static readonly TimeSpan StopDeadline = TimeSpan.FromSeconds(10);

    private const int StartAttempts = 3;

    private const string StateStore = """
        apiVersion: dapr.io/v1alpha1
        kind: Component
        metadata:
          name: actorstate
        spec:
          type: state.in-memory
          version: v1
          metadata:
            - name: actorStateStore
              value: "true"
        """;

    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("snapper-dapr-");
    private readonly DaprFixtureOptions _options;
    private readonly StringBuilder _log = new();
    private Process? _placement;
    private Process? _daprd;

    private DaprFixture(DaprFixtureOptions options) => _options = options;

    /// <summary>The sidecar's HTTP API.</summary>
    public Uri Endpoint { get; private set; } = null!;

    public int DaprdPid => _daprd!.Id;

    public int PlacementPort { get; private set; }

    /// <summary>What placement and daprd wrote so far.</summary>
    public string Log
    {
        get
        {
            lock (_log)
            {
                return _log.ToString();
            }
        }
    }

    /// <summary>Starts both and returns when daprd's API answers; <see cref="WaitForActors"/> waits for the app as well.</summary>
    public static async Task<DaprFixture> Start(DaprFixtureOptions options)
    {
        if (DaprBinaries.Missing is { } missing)
        {
            throw new InvalidOperationException(missing);
        }

        for (var attempt = 1; ; attempt++)
        {
            var fixture = new DaprFixture(options);
            try
            {
                await fixture.Start();
                return fixture;
            }
            catch (ProcessEndedException) when (attempt < StartAttempts)
            {
                // Somebody else took one of the ports between the choice and the start.
                await fixture.DisposeAsync();
            }
            catch
            {
                await fixture.DisposeAsync();
                throw;
            }
        }
    }

    /// <summary>
    /// A port that was free a moment ago, below the range from which the system takes ports of outgoing connections.
    /// </summary>
    public static int FreePort()
    {
        while (true)
        {
            var port = Random.Shared.Next(15_000, 32_000);
            try
            {
                using var listener = new TcpListener(IPAddress.Loopback, port);
                listener.Start();
                return port;
            }
            catch (SocketException)
            {
                // Taken: try another one.
            }
        }
    }

    /// <summary>Waits until the sidecar is healthy and placement knows its actor types.</summary>
    public async Task WaitForActors()
    {
        using var http = Http();
        await Poll("daprd to report hostReady and its actor types", async () =>
        {
            using var health = await http.GetAsync("/v1.0/healthz");
            var metadata = await http.GetStringAsync("/v1.0/metadata");
            return health.IsSuccessStatusCode
                && metadata.Contains("\"hostReady\":true", StringComparison.Ordinal)
                && metadata.Contains("\"activeActors\":[{", StringComparison.Ordinal);
        });
    }

    /// <summary>Ends daprd as an orchestrator does: SIGTERM, a while to stop, then the end.</summary>
    public async Task StopDaprd()
    {
        if (_daprd is { } daprd)
        {
            _daprd = null;
            await Stop(daprd);
        }
    }

    public async ValueTask DisposeAsync()
    {
        await StopDaprd();
        if (_placement is { } placement)
        {
            await Stop(placement);
        }

        _folder.Delete(recursive: true);
    }

    private async Task Start()
    {
        PlacementPort = _options.Placement?.PlacementPort ?? await StartPlacement();
        var resources = _options.Resources;
        if (resources is null)
        {
            resources = _folder.CreateSubdirectory("resources").FullName;
            await File.WriteAllTextAsync(Path.Combine(resources, "statestore.yaml"), StateStore);
        }

        var port = FreePort();
        Endpoint = new Uri(Invariant($"http://127.0.0.1:{port}"));
        var arguments = new List<string>
        {
            "--app-id", _options.AppId,
            "--app-port", Invariant($"{_options.AppPort}"),
            "--app-protocol", _options.AppProtocol,
            "--dapr-http-port", Invariant($"{port}"),
            "--dapr-grpc-port", Invariant($"{FreePort()}"),
            "--dapr-internal-grpc-port", Invariant($"{FreePort()}"),
            "--dapr-listen-addresses", "127.0.0.1",
            "--dapr-internal-grpc-listen-address", "127.0.0.1",
            "--placement-host-address", Invariant($"127.0.0.1:{PlacementPort}"),
            "--resources-path", resources,
            "--max-body-size", _options.MaxBodySize,
            "--enable-metrics=false",
        };
        if (_options.Config is { } config)
        {
            arguments.AddRange(["--config", config]);
        }

        _daprd = Run(DaprBinaries.Daprd!, arguments, [("DAPR_API_TOKEN", _options.DaprApiToken), ("APP_API_TOKEN", _options.AppApiToken)]);
        using var http = Http();
        await Poll("daprd's HTTP API to answer", async () =>
        {
            using var response = await http.GetAsync("/v1.0/healthz/outbound");
            return true;
        });
    }

    private async Task<int> StartPlacement()
    {
        var port = FreePort();
        var health = FreePort();
        _placement = Run(
            DaprBinaries.Placement!,
            [
                "--id", "p0", "--initial-cluster", Invariant($"p0=127.0.0.1:{FreePort()}"), "--port", Invariant($"{port}"), "--listen-address", "127.0.0.1",
                "--healthz-port", Invariant($"{health}"), "--healthz-listen-address", "127.0.0.1", "--enable-metrics=false",
            ],
            []);
        using var http = new HttpClient();
        await Poll("placement to be healthy", async () =>
        {
            using var response = await http.GetAsync(new Uri(Invariant($"http://127.0.0.1:{health}/healthz")));
            return response.IsSuccessStatusCode;
        });
        return port;
    }

    private HttpClient Http()
    {
        var http = new HttpClient { BaseAddress = Endpoint, Timeout = TimeSpan.FromSeconds(5) };
        if (_options.DaprApiToken is { } token)
        {
            http.DefaultRequestHeaders.Add("dapr-api-token", token);
        }

        return http;
    }

    private Process Run(string file, IReadOnlyList<string> arguments, IReadOnlyList<(string Name, string? Value)> environment)
    {
        var start = new ProcessStartInfo(file) { RedirectStandardOutput = true, RedirectStandardError = true, WorkingDirectory = _folder.FullName };
        foreach (var argument in arguments)
        {
            start.ArgumentList.Add(argument);
        }

        foreach (var (name, value) in environment)
        {
            start.Environment[name] = value ?? "";
        }

        var process = new Process { StartInfo = start };
        process.OutputDataReceived += (_, line) => Keep(line.Data);
        process.ErrorDataReceived += (_, line) => Keep(line.Data);
        process.Start();
        process.BeginOutputReadLine();
        process.BeginErrorReadLine();
        return process;
    }

    private void Keep(string? line)
    {
        lock (_log)
        {
            _log.AppendLine(line);
        }
    }

    private async Task Poll(string what, Func<Task<bool>> condition)
    {
        var clock = Stopwatch.StartNew();
        while (clock.Elapsed < StartDeadline)
        {
            if (_daprd is { HasExited: true } || _placement is { HasExited: true })
            {
                throw new ProcessEndedException($"A process ended while the test waited for {what}.\n{Log}");
            }

            try
            {
                if (await condition())
                {
                    return;
                }
            }
            catch (Exception notYet) when (notYet is HttpRequestException or TaskCanceledException)
            {
                // Not listening yet, or busy starting: the deadline decides.
            }

            await Task.Delay(25);
        }

        throw new TimeoutException($"Waited {StartDeadline.TotalSeconds} s for {what}.\n{Log}");
    }

    private static async Task Stop(Process process)
    {
        if (!process.HasExited)
        {
            using (var kill = Process.Start("kill", ["-TERM", Invariant($"{process.Id}")]))
            {
                await kill.WaitForExitAsync();
            }

            using var deadline = new CancellationTokenSource(StopDeadline);
            try
            {
                await process.WaitForExitAsync(deadline.Token);
            }
            catch (OperationCanceledException)
            {
                process.Kill();
                await process.WaitForExitAsync();
            }
        }

        process.Dispose();
    }

    private static string Invariant(FormattableString text) => text.ToString(CultureInfo.InvariantCulture);

    private sealed class ProcessEndedException(string message) : InvalidOperationException(message);
}
