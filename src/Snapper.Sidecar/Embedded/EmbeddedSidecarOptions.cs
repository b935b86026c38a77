using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;

namespace Snapper.Sidecar.Embedded;

/// <summary>How to run the embedded stand-in.</summary>
public sealed class EmbeddedSidecarOptions
{
    /// <summary>The app's port on loopback; it may start listening later.</summary>
    public required int AppPort { get; init; }

    /// <summary>Dapr app id; service invocation knows no other app. Default: <c>snapper</c>.</summary>
    public string AppId { get; init; } = "snapper";

    /// <summary>Port of the HTTP API, on loopback only. 0 takes a free one. Default: 3500.</summary>
    public int Port { get; init; } = 3500;

    /// <summary>Token that callers must present; null or empty: none. Default: environment variable <c>DAPR_API_TOKEN</c>.</summary>
    public string? ApiToken { get; init; } = Environment.GetEnvironmentVariable("DAPR_API_TOKEN");

    /// <summary>Token to present to the app; null or empty: none. Default: environment variable <c>APP_API_TOKEN</c>.</summary>
    public string? AppApiToken { get; init; } = Environment.GetEnvironmentVariable("APP_API_TOKEN");

    /// <summary>Largest request body in bytes. Range: at least 1. Default: 16 MiB, what daprd gets from us as <c>--max-body-size</c>.</summary>
    public long MaxBodyBytes { get; init; } = 16 * 1024 * 1024;

    /// <summary>Where to log; nowhere by default.</summary>
    public ILoggerFactory LoggerFactory { get; init; } = NullLoggerFactory.Instance;

    internal void Validate()
    {
        ArgumentException.ThrowIfNullOrEmpty(AppId);
        ArgumentOutOfRangeException.ThrowIfLessThan(AppPort, 1);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(AppPort, 65535);
        ArgumentOutOfRangeException.ThrowIfNegative(Port);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(Port, 65535);
        ArgumentOutOfRangeException.ThrowIfLessThan(MaxBodyBytes, 1);
    }
}
