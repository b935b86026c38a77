using System.Globalization;

namespace Snapper.Sidecar.Client;

/// <summary>How to reach a sidecar's HTTP API.</summary>
public sealed class DaprSidecarOptions
{
    /// <summary>
    /// The sidecar, e.g. <c>http://127.0.0.1:3500</c>. Default: environment variable <c>DAPR_HTTP_ENDPOINT</c>, else <c>DAPR_HTTP_PORT</c> on loopback,
    /// else port 3500.
    /// </summary>
    public Uri Endpoint { get; set; } = DefaultEndpoint();

    /// <summary>
    /// Token that the sidecar asks for; null or empty: none is sent. Default: environment variable <c>DAPR_API_TOKEN</c>.
    /// </summary>
    public string? ApiToken { get; set; } = Environment.GetEnvironmentVariable("DAPR_API_TOKEN");

    /// <summary>
    /// Most connections at a time; calls beyond it wait for one. Each concurrent call takes one (HTTP/1.1). Range: at least 1. Default: 4,096.
    /// </summary>
    public int MaxConnections { get; set; } = 4096;

    /// <summary>How long to try to connect. Range: above 0. Default: 5 s.</summary>
    public TimeSpan ConnectTimeout { get; set; } = TimeSpan.FromSeconds(5);

    /// <summary>Largest answer in bytes that is taken. Range: at least 1. Default: 64 MiB.</summary>
    public long MaxAnswerBytes { get; set; } = 64 * 1024 * 1024;

    internal void Validate()
    {
        if (!Endpoint.IsAbsoluteUri || Endpoint.Scheme is not ("http" or "https"))
        {
            throw new ArgumentException($"The sidecar endpoint '{Endpoint}' is not an absolute http or https address.", nameof(Endpoint));
        }

        ArgumentOutOfRangeException.ThrowIfLessThan(MaxConnections, 1);
        ArgumentOutOfRangeException.ThrowIfLessThan(MaxAnswerBytes, 1);
        ArgumentOutOfRangeException.ThrowIfLessThanOrEqual(ConnectTimeout, TimeSpan.Zero);
    }

    private static Uri DefaultEndpoint()
    {
        if (Environment.GetEnvironmentVariable("DAPR_HTTP_ENDPOINT") is { Length: > 0 } endpoint)
        {
            return Uri.TryCreate(endpoint, UriKind.Absolute, out var uri)
                ? uri
                : throw new ArgumentException($"The environment variable DAPR_HTTP_ENDPOINT ('{endpoint}') is not an absolute address.");
        }

        var port = Environment.GetEnvironmentVariable("DAPR_HTTP_PORT") is { Length: > 0 } text ? text : "3500";
        return ushort.TryParse(port, NumberStyles.None, CultureInfo.InvariantCulture, out var number) && number > 0
            ? new Uri($"http://127.0.0.1:{number}")
            : throw new ArgumentException($"The environment variable DAPR_HTTP_PORT ('{port}') is not a port number.");
    }
}
