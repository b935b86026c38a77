using System.Globalization;
using System.Net;
using System.Text.Json;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.DependencyInjection.Extensions;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Snapper.Sidecar.Client;
using Snapper.Sidecar.Hosting;

namespace Snapper.Sidecar.Embedded;

/// <summary>
/// A stand-in for a Dapr sidecar inside the process, for machines without Dapr: the same HTTP API for actor calls, service
/// invocation, metadata and health, the same requests to the app, daprd's locks, daprd's errors. One app, one process, no placement, no other
/// building blocks. It says what it is in its metadata and in the header <c>snapper-embedded: true</c>, and it is never benchmarked.
/// </summary>
public sealed class EmbeddedSidecar : IAsyncDisposable
{
    private static readonly TimeSpan DeactivationBound = TimeSpan.FromSeconds(2);

    private readonly WebApplication _web;
    private readonly AppChannel _app;
    private readonly AppConfigReader _config;
    private readonly ActorEndpoint _actors;
    private readonly EmbeddedSidecarOptions _options;
    private readonly ILogger _logger;
    private bool _stopped;

    private EmbeddedSidecar(EmbeddedSidecarOptions options)
    {
        _options = options;
        _logger = options.LoggerFactory.CreateLogger<EmbeddedSidecar>();
        _app = new AppChannel(options.AppPort, options.AppApiToken);
        _config = new AppConfigReader(_app, _logger);
        _actors = new ActorEndpoint(options, _app, _config);
        _web = Build(options);
        _web.Run(new Api(options, _actors, new ServiceEndpoint(options, _app), _config).Serve);
    }

    /// <summary>The HTTP API, e.g. <c>http://127.0.0.1:3500</c>.</summary>
    public Uri Endpoint { get; private set; } = null!;

    /// <summary>Starts listening; the app may come up later, actor calls wait for it.</summary>
    /// <exception cref="ArgumentException">An option is missing or out of its range.</exception>
    /// <exception cref="IOException">The port is taken.</exception>
    public static async Task<EmbeddedSidecar> Start(EmbeddedSidecarOptions options, CancellationToken cancellation)
    {
        ArgumentNullException.ThrowIfNull(options);
        options.Validate();
        var sidecar = new EmbeddedSidecar(options);
        try
        {
            await sidecar._web.StartAsync(cancellation);
        }
        catch
        {
            await sidecar.DisposeAsync();
            throw;
        }

        var address = new Uri(sidecar._web.Urls.Single());
        sidecar.Endpoint = new Uri(string.Create(CultureInfo.InvariantCulture, $"http://127.0.0.1:{address.Port}"));
        EmbeddedLog.Started(sidecar._logger, sidecar.Endpoint, options.AppPort);
        return sidecar;
    }

    /// <summary>Lets calls in flight end for a moment, tells the app that its actors are deactivated, and stops.</summary>
    public async ValueTask DisposeAsync()
    {
        if (_stopped)
        {
            return;
        }

        _stopped = true;
        using (var bound = new CancellationTokenSource(DeactivationBound))
        {
            await _web.StopAsync(bound.Token);
        }

        using (var bound = new CancellationTokenSource(DeactivationBound))
        {
            try
            {
                await _actors.DeactivateAll(bound.Token);
            }
            catch (Exception problem) when (problem is HttpRequestException or OperationCanceledException)
            {
                // The app is often gone first, and it must not rely on these notices.
                EmbeddedLog.DeactivationIncomplete(_logger, problem.Message);
            }
        }

        await _config.DisposeAsync();
        await _web.DisposeAsync();
        _app.Dispose();
    }

    private static WebApplication Build(EmbeddedSidecarOptions options)
    {
        var builder = WebApplication.CreateEmptyBuilder(new WebApplicationOptions());
        builder.Logging.AddProvider(new Forward(options.LoggerFactory));
        // The owner says why it cannot start, and has the lines of its own server about each request.
        builder.Logging.AddFilter("Microsoft.Extensions.Hosting", LogLevel.None);
        builder.Logging.AddFilter("Microsoft.AspNetCore.Hosting", LogLevel.Warning);
        // The default lifetime would take the process's signals for itself.
        builder.Services.Replace(ServiceDescriptor.Singleton<IHostLifetime>(new OwnersLifetime()));
        builder.WebHost.UseKestrelCore().ConfigureKestrel(kestrel =>
        {
            kestrel.AddServerHeader = false;
            kestrel.Listen(IPAddress.Loopback, options.Port);
            kestrel.Limits.MaxRequestBodySize = options.MaxBodyBytes;
        });
        return builder.Build();
    }

    private sealed class Forward(ILoggerFactory owners) : ILoggerProvider
    {
        public ILogger CreateLogger(string categoryName) => owners.CreateLogger(categoryName);

        public void Dispose()
        {
        }
    }

    /// <summary>Lives from <see cref="Start"/> to <see cref="DisposeAsync"/>, whatever signals the process gets.</summary>
    private sealed class OwnersLifetime : IHostLifetime
    {
        public Task WaitForStartAsync(CancellationToken cancellationToken) => Task.CompletedTask;

        public Task StopAsync(CancellationToken cancellationToken) => Task.CompletedTask;
    }

    private sealed class Api(EmbeddedSidecarOptions options, ActorEndpoint actors, ServiceEndpoint services, AppConfigReader config)
    {
        private readonly AppApiToken _token = new(options.ApiToken);

        public async Task Serve(HttpContext context)
        {
            context.Response.Headers[DaprHeaders.Embedded] = "true";
            try
            {
                await (IsOwn(context.Request.Host.Host) ? Route(context) : DaprError.AnotherHost(context));
            }
            catch (Exception gone) when (context.RequestAborted.IsCancellationRequested && gone is OperationCanceledException or IOException or HttpRequestException)
            {
                // The caller went away; its call to the app was cancelled with it.
                context.Abort();
            }
        }

        private static bool IsOwn(string host) => host.Length == 0
            || host.Equals("localhost", StringComparison.OrdinalIgnoreCase)
            || (IPAddress.TryParse(host, out var address) && IPAddress.IsLoopback(address));

        private Task Route(HttpContext context)
        {
            var path = context.Request.Path.Value ?? "";
            var isGet = HttpMethods.IsGet(context.Request.Method);
            if (isGet && path == "/v1.0/healthz")
            {
                return config.Ready.IsCompletedSuccessfully ? NoContent(context) : DaprError.NotReady(context);
            }

            if (isGet && path == "/v1.0/healthz/outbound")
            {
                return NoContent(context);
            }

            if (!_token.Accepts(context.Request))
            {
                return DaprError.WrongToken(context);
            }

            if (isGet && path == "/v1.0/metadata")
            {
                return Metadata(context);
            }

            return path.StartsWith(ActorEndpoint.Prefix, StringComparison.Ordinal)
                ? actors.Call(context, services.Call)
                : services.Call(context);
        }

        private static Task NoContent(HttpContext context)
        {
            context.Response.StatusCode = 204;
            return Task.CompletedTask;
        }

        private Task Metadata(HttpContext context)
        {
            var known = config.Ready.IsCompletedSuccessfully ? config.Ready.Result : null;
            var metadata = new SidecarMetadata
            {
                Id = options.AppId,
                RuntimeVersion = "embedded",
                Extended = new Dictionary<string, string> { [DaprHeaders.Embedded] = "true" },
                ActorRuntime = new ActorRuntimeMetadata
                {
                    RuntimeStatus = known is null ? "INITIALIZING" : "RUNNING",
                    HostReady = known is not null,
                    Placement = "placement: none, embedded stand-in",
                    ActiveActors = known is null
                        ? []
                        : [.. known.Entities.Select(type => new HostedActorType(type, actors.Count(type)))],
                },
            };
            context.Response.ContentType = "application/json";
            return JsonSerializer.SerializeAsync(context.Response.Body, metadata, SidecarJson.Default.SidecarMetadata, context.RequestAborted);
        }
    }
}
