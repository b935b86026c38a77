using System.Globalization;

namespace Snapper.Benchmarks.Systems;

/// <summary>Where a sidecar listens, all on loopback.</summary>
/// <param name="Http">Its HTTP API.</param>
/// <param name="Grpc">Its gRPC API.</param>
/// <param name="Internal">Where other sidecars find it.</param>
public readonly record struct SidecarPorts(int Http, int Grpc, int Internal);

/// <summary>Starts daprd and placement, without metrics, tracing and logs.</summary>
public static class DaprProcesses
{
    /// <summary>Starts placement.</summary>
    /// <param name="folder">Where it runs.</param>
    /// <param name="port">Where sidecars find it.</param>
    /// <param name="raft">Its own port.</param>
    /// <param name="health">Of its health.</param>
    public static ChildProcess StartPlacement(string folder, int port, int raft, int health) => ChildProcess.Start(
        "placement",
        ServerTools.Placement(),
        [
            "--id", "p0", "--initial-cluster", Text($"p0=127.0.0.1:{raft}"), "--port", Text($"{port}"),
            "--listen-address", "127.0.0.1", "--healthz-port", Text($"{health}"),
            "--healthz-listen-address", "127.0.0.1", "--enable-metrics=false", "--log-level", "warn",
        ],
        workingDirectory: folder);

    /// <summary>Starts a sidecar.</summary>
    /// <param name="appId">Of its app.</param>
    /// <param name="folder">Where it runs, and its settings are.</param>
    /// <param name="app">The app's port.</param>
    /// <param name="ports">Its own.</param>
    /// <param name="placement">Of placement.</param>
    public static async Task<ChildProcess> StartSidecarAsync(
        string appId, string folder, int app, SidecarPorts ports, int placement)
    {
        var components = Directory.CreateDirectory(Path.Combine(folder, "components")).FullName;
        var config = Path.Combine(folder, "config.yaml");
        await File.WriteAllTextAsync(config, $"""
            apiVersion: dapr.io/v1alpha1
            kind: Configuration
            metadata:
              name: {appId}
            spec:
              tracing:
                samplingRate: "0"
              metric:
                enabled: false
            """);
        return ChildProcess.Start(
            $"daprd of {appId}",
            ServerTools.Daprd(),
            [
                "--app-id", appId, "--app-port", Text($"{app}"), "--app-protocol", "http",
                "--dapr-http-port", Text($"{ports.Http}"), "--dapr-grpc-port", Text($"{ports.Grpc}"),
                "--dapr-internal-grpc-port", Text($"{ports.Internal}"),
                "--dapr-internal-grpc-listen-address", "127.0.0.1", "--dapr-listen-addresses", "127.0.0.1",
                "--placement-host-address", Text($"127.0.0.1:{placement}"), "--resources-path", components,
                "--config", config, "--enable-metrics=false", "--log-level", "warn",
                "--dapr-graceful-shutdown-seconds", "1",
            ],
            workingDirectory: folder);
    }

    private static string Text(FormattableString text) => text.ToString(CultureInfo.InvariantCulture);
}
