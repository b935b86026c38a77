using System.Collections.Concurrent;
using System.Diagnostics;
using System.Net;
using System.Net.Sockets;
using System.Text;
using System.Text.Json.Nodes;
using Snapper.Sidecar.Tests;
using Xunit;

namespace Snapper.Manifests.Tests;

/// <summary>
/// Dapr as a cluster runs it, as processes on loopback: a sentry that gives certificates, placement, the sidecar of the
/// app with its configuration, and a sidecar for each caller.
/// </summary>
internal sealed class MutualTlsDapr : IAsyncDisposable
{
    /// <summary>No other app of the machine is called so: names are asked for by multicast.</summary>
    private readonly string _app = "snapper" + Guid.NewGuid().ToString("n")[..8];

    private static readonly TimeSpan s_deadline = TimeSpan.FromSeconds(60);

    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("snapper-mtls-");
    private readonly List<Process> _processes = [];
    private readonly ConcurrentQueue<string> _said = new();
    private readonly Dictionary<string, HttpClient> _sidecars = [];
    private readonly int _sentry = FreePort();
    private readonly int _placement = FreePort();

    private MutualTlsDapr()
    {
    }

    /// <summary>The program that gives certificates, beside daprd; null: it is not there.</summary>
    public static string? Sentry { get; } = DaprBinaries.Daprd is { } daprd
        && Path.Combine(Path.GetDirectoryName(daprd)!, "sentry") is var path && File.Exists(path) ? path : null;

    public static async Task<MutualTlsDapr> Start(
        string space, JsonObject configuration, int appPort, params string[] callers)
    {
        var made = new MutualTlsDapr();
        try
        {
            await made.StartServers();
            await made.Sidecar(made._app, space, configuration, ["--app-port", $"{appPort}"]);
            foreach (var caller in callers) await made.Sidecar(caller, space, Plain(), []);
            return made;
        }
        catch
        {
            await made.DisposeAsync();
            throw;
        }
    }

    /// <summary>A caller's sidecar has found the app's, which has joined those that host actors.</summary>
    public Task Reaches(string caller) => Eventually($"{caller} reaches the app", async () =>
        await CallActor(caller) == HttpStatusCode.OK
        && await Invoke(caller, "GET", "v1/status") == HttpStatusCode.Forbidden);

    public async Task<HttpStatusCode> Invoke(string caller, string method, string path)
    {
        var address = $"{_sidecars[caller].BaseAddress}v1.0/invoke/{_app}/method/{path}";
        var asItIs = new UriCreationOptions { DangerousDisablePathAndQueryCanonicalization = true };
        return await Ask(caller, method, new Uri(address, asItIs));
    }

    public Task<HttpStatusCode> CallActor(string caller) =>
        Ask(caller, "PUT", new Uri(_sidecars[caller].BaseAddress!, "v1.0/actors/Account/a/method/Balance"));

    public async ValueTask DisposeAsync()
    {
        foreach (var process in _processes)
        {
            if (!process.HasExited) process.Kill();
            await process.WaitForExitAsync();
            process.Dispose();
        }

        foreach (var sidecar in _sidecars.Values) sidecar.Dispose();
        _folder.Delete(recursive: true);
    }

    private async Task<HttpStatusCode> Ask(string caller, string method, Uri address)
    {
        using var request = new HttpRequestMessage(new HttpMethod(method), address);
        using var answer = await _sidecars[caller].SendAsync(request);
        return answer.StatusCode;
    }

    private async Task StartServers()
    {
        var credentials = _folder.CreateSubdirectory("credentials").FullName;
        Run(Sentry!, [], [
            "--config", Write("sentry.json", Plain()), "--issuer-credentials", credentials, "--port", $"{_sentry}",
            "--listen-address", "127.0.0.1", "--healthz-port", $"{FreePort()}", "--healthz-listen-address", "127.0.0.1",
            "--enable-metrics=false", "--trust-domain", "localhost",
        ]);
        await Eventually("the sentry listens", () => Listens(_sentry));
        Run(DaprBinaries.Placement!, [], [
            "--mode", "standalone", "--id", "p0", "--initial-cluster", $"p0=127.0.0.1:{FreePort()}",
            "--port", $"{_placement}", "--listen-address", "127.0.0.1",
            "--healthz-port", $"{FreePort()}", "--healthz-listen-address", "127.0.0.1",
            "--enable-metrics=false", "--tls-enabled", "--trust-anchors-file", Path.Combine(credentials, "ca.crt"),
            "--sentry-address", $"localhost:{_sentry}", "--trust-domain", "localhost",
        ]);
        await Eventually("placement listens", () => Listens(_placement));
    }

    private async Task Sidecar(string app, string space, JsonObject configuration, string[] more)
    {
        configuration["spec"]!["mtls"] = new JsonObject { ["enabled"] = true };
        var resources = _folder.CreateSubdirectory("resources-" + app).FullName;
        var store = Tree.Read("k8s", "base", "dapr", "component.yaml");
        store = store.Replace("- snapper", "- " + app, StringComparison.Ordinal);
        await File.WriteAllTextAsync(Path.Combine(resources, "statestore.yaml"), store);
        var port = FreePort();
        var anchors = await File.ReadAllTextAsync(Path.Combine(_folder.FullName, "credentials", "ca.crt"));
        (string, string)[] environment =
        [
            ("DAPR_TRUST_ANCHORS", anchors), ("NAMESPACE", space),
        ];
        Run(DaprBinaries.Daprd!, environment, [
            "--app-id", app, .. more, "--dapr-http-port", $"{port}", "--dapr-grpc-port", $"{FreePort()}",
            "--dapr-internal-grpc-port", $"{FreePort()}", "--dapr-listen-addresses", "127.0.0.1",
            "--dapr-internal-grpc-listen-address", "127.0.0.1", "--enable-metrics=false", "--resources-path", resources,
            "--config", Write(app + ".json", configuration), "--enable-mtls",
            "--sentry-address", $"localhost:{_sentry}",
            "--placement-host-address", $"localhost:{_placement}", "--control-plane-trust-domain", "localhost",
        ]);
        var address = new Uri($"http://127.0.0.1:{port}");
        _sidecars[app] = new HttpClient { BaseAddress = address, Timeout = TimeSpan.FromSeconds(10) };
        await Eventually($"the sidecar of {app} listens", () => Listens(port));
    }

    private static JsonObject Plain() => new()
    {
        ["apiVersion"] = "dapr.io/v1alpha1",
        ["kind"] = "Configuration",
        ["metadata"] = new JsonObject { ["name"] = "plain" },
        ["spec"] = new JsonObject { ["mtls"] = new JsonObject { ["enabled"] = true } },
    };

    private string Write(string name, JsonObject configuration)
    {
        var file = Path.Combine(_folder.FullName, name);
        File.WriteAllText(file, configuration.ToJsonString());
        return file;
    }

    private void Run(string program, (string Name, string Value)[] environment, string[] arguments)
    {
        var start = new ProcessStartInfo(program, arguments)
        {
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };
        foreach (var (name, value) in environment) start.Environment[name] = value;
        var process = Process.Start(start)!;
        process.OutputDataReceived += (_, line) => _said.Enqueue(line.Data ?? "");
        process.ErrorDataReceived += (_, line) => _said.Enqueue(line.Data ?? "");
        process.BeginOutputReadLine();
        process.BeginErrorReadLine();
        _processes.Add(process);
    }

    private async Task Eventually(string what, Func<Task<bool>> reached)
    {
        for (var started = Stopwatch.GetTimestamp(); ; await Task.Delay(100))
        {
            try
            {
                if (await reached()) return;
            }
            catch (Exception problem) when (problem is HttpRequestException or SocketException or TaskCanceledException)
            {
                // It is not there yet.
            }

            Assert.All(_processes, process => Assert.False(process.HasExited, string.Join('\n', _said)));
            Assert.True(Stopwatch.GetElapsedTime(started) < s_deadline, $"not so: {what}\n{string.Join('\n', _said)}");
        }
    }

    private static async Task<bool> Listens(int port)
    {
        using var client = new TcpClient();
        await client.ConnectAsync(IPAddress.Loopback, port);
        return true;
    }

    private static int FreePort()
    {
        using var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        return ((IPEndPoint)listener.LocalEndpoint).Port;
    }
}

/// <summary>An app that hosts accounts and answers 200 to all that reaches it.</summary>
internal sealed class EchoApp : IDisposable
{
    private readonly HttpListener _listener = new();

    public EchoApp()
    {
        using var free = new TcpListener(IPAddress.Loopback, 0);
        free.Start();
        Port = ((IPEndPoint)free.LocalEndpoint).Port;
        free.Stop();
        _listener.Prefixes.Add($"http://127.0.0.1:{Port}/");
        _listener.Start();
        _ = Serve();
    }

    public int Port { get; }

    /// <summary>The paths that were asked for.</summary>
    public ConcurrentQueue<string> Asked { get; } = new();

    public void Dispose() => _listener.Close();

    private async Task Serve()
    {
        while (_listener.IsListening)
        {
            HttpListenerContext context;
            try
            {
                context = await _listener.GetContextAsync();
            }
            catch (Exception closed) when (closed is HttpListenerException or ObjectDisposedException)
            {
                return;
            }

            var path = context.Request.RawUrl!;
            Asked.Enqueue(path);
            context.Response.ContentType = "application/json";
            var text = path == "/dapr/config" ? """{"entities":["Account"]}""" : "[]";
            context.Response.Close(Encoding.UTF8.GetBytes(text), willBlock: false);
        }
    }
}

/// <summary>Shown as not run where daprd, placement or sentry is missing, failed where CI=true.</summary>
[AttributeUsage(AttributeTargets.Method)]
public sealed class NeedsSentryFactAttribute : FactAttribute
{
    public NeedsSentryFactAttribute()
    {
        Skip = DaprBinaries.SkipReason;
        var isCi = string.Equals(Environment.GetEnvironmentVariable("CI"), "true", StringComparison.OrdinalIgnoreCase);
        if (Skip is null && MutualTlsDapr.Sentry is null && !isCi) Skip = "sentry was not found beside daprd";
    }
}
