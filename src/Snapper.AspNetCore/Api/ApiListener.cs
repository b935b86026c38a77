using System.Net;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Snapper.Security;

namespace Snapper.AspNetCore.Api;

/// <summary>What the web server puts up with, and where it listens.</summary>
internal sealed class ApiListener
{
    /// <summary>Connections that are kept free for this machine, where the sidecar is: those from elsewhere are at most so many fewer.</summary>
    public const int LocalConnections = 2048;

    /// <summary>Most connections at once; further ones are closed at once. An idle one takes some kilobytes. Default: 16,384.</summary>
    public long ConnectionsMax { get; init; } = 16_384;

    /// <summary>A new connection on which nothing is sent is closed after this time. Default: 10 s.</summary>
    public TimeSpan SilenceMax { get; init; } = TimeSpan.FromSeconds(10);

    /// <summary>Most headers of a request. Default: 100.</summary>
    public int HeadersMax { get; init; } = 100;

    /// <summary>Most bytes of request line and headers together. Default: 32 KiB.</summary>
    public int HeaderBytesMax { get; init; } = 32 * 1024;

    /// <summary>Longest time until the headers of a request have arrived. Default: 10 s.</summary>
    public TimeSpan HeadersTimeout { get; init; } = TimeSpan.FromSeconds(10);

    /// <summary>
    /// Slowest body that is waited for, in bytes per second since it began, after <see cref="BodyGrace"/>; slower: 408.
    /// So no body takes longer than its size allows, also one that comes at once but for its last byte.
    /// Default: 64 KiB.
    /// </summary>
    public double BodyBytesPerSecondMin { get; init; } = 64 * 1024;

    /// <summary>Time before the rate of a body is looked at; more than 1 s. Default: 5 s.</summary>
    public TimeSpan BodyGrace { get; init; } = TimeSpan.FromSeconds(5);

    /// <summary>An idle connection is kept so long; longer than sidecars keep theirs, so that they close first. Default: 150 s.</summary>
    public TimeSpan KeepAlive { get; init; } = TimeSpan.FromSeconds(150);

    /// <summary>Sets the limits.</summary>
    public void ApplyLimits(KestrelServerOptions server, ApiOptions options)
    {
        ArgumentNullException.ThrowIfNull(server);
        ArgumentNullException.ThrowIfNull(options);
        server.AddServerHeader = false;
        server.AllowSynchronousIO = false;
        server.Configure(); // in the place of the Kestrel section of the configuration, which could open further addresses past all checks
        var limits = server.Limits;
        limits.MaxConcurrentConnections = ConnectionsMax;
        limits.MaxRequestHeaderCount = HeadersMax;
        limits.MaxRequestHeadersTotalSize = HeaderBytesMax;
        limits.MaxRequestLineSize = HeaderBytesMax / 2;
        limits.RequestHeadersTimeout = HeadersTimeout;
        limits.MinRequestBodyDataRate = new MinDataRate(BodyBytesPerSecondMin, BodyGrace);
        limits.MinResponseDataRate = new MinDataRate(options.AnswerBytesPerSecondMin, options.AnswerGrace);
        limits.KeepAliveTimeout = KeepAlive;

        var silent = new SilentConnections(SilenceMax, Math.Max(1, ConnectionsMax - LocalConnections));
        server.ConfigureEndpointDefaults(silent.Watch);

        // Kestrel's own limit only backs ours up: our reader stops earlier, with words, and leaves this one to other endpoints.
        limits.MaxRequestBodySize = options.BatchBodyBytesMax + 1L;
    }

    /// <summary>Listens for the sidecar alone, on loopback.</summary>
    /// <param name="server">The web server.</param>
    /// <param name="port">The port.</param>
    /// <param name="protocols">HTTP/1.1 or HTTP/2; without TLS one port speaks one of them.</param>
    public static void ListenToSidecar(KestrelServerOptions server, int port, HttpProtocols protocols)
    {
        ArgumentNullException.ThrowIfNull(server);
        server.Listen(IPAddress.Loopback, port, listen => listen.Protocols = protocols);
    }

    /// <summary>Listens on an address, HTTP/1.1, and on loopback in any case: that is where the sidecar calls.</summary>
    public static void Listen(KestrelServerOptions server, IPAddress address, int port)
    {
        ArgumentNullException.ThrowIfNull(server);
        ArgumentNullException.ThrowIfNull(address);
        server.Listen(address, port, listen => listen.Protocols = HttpProtocols.Http1);
        if (!address.Equals(IPAddress.Any) && !address.Equals(IPAddress.IPv6Any) && !address.Equals(IPAddress.Loopback))
        {
            Listen(server, IPAddress.Loopback, port);
        }
    }
}
