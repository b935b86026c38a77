using System.Buffers;
using System.Collections.Concurrent;
using System.Collections.Frozen;
using System.Globalization;
using System.Text.Json;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Http.Features;
using Microsoft.AspNetCore.Routing;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;
using Microsoft.Extensions.Primitives;
using Snapper.Sidecar.Client;

namespace Snapper.Sidecar.Hosting;

/// <summary>Actor calls as HTTP callbacks from the sidecar to the app's port.</summary>
/// <remarks>
/// <para>
/// The endpoints are plain request delegates: a call costs one route match, one pooled buffer for the body and the
/// strings of its id and method.
/// </para>
/// <para>
/// They work over HTTP/1.1 (<c>--app-protocol http</c>) and HTTP/2 without TLS (<c>h2c</c>) alike. HTTP/1.1 is the
/// default of an application, since one port then serves all; but daprd sends at most 1,024 calls at a time over it,
/// actor calls and service invocations together, and keeps the rest waiting, so no call over it may wait for another
/// call that has yet to arrive. h2c has no such bound; it needs a port of the app's own that speaks HTTP/2 only, and is
/// what <c>up</c> uses. Under load many requests and answers share a system call: by
/// <c>./snapper bench pact-sidecar</c> on 2 cores a request costs the app 135 to 147 us of CPU over h2c and 239 to 247
/// over HTTP/1.1, daprd 288 to 317 and 445 to 451.
/// </para>
/// <para>
/// Dapr 1.18 has a third way: the app opens one gRPC stream (<c>SubscribeActorEventsAlpha1</c>), announces its types in
/// the first frame, and gets calls as frames with correlation ids; measured at 1.7 to 3.2 times the throughput. It
/// needs <c>--app-protocol grpc</c>, with which service invocations are gRPC as well: they lose the statuses of HTTP
/// and answers that are written one by one.
/// </para>
/// </remarks>
public sealed class HttpActorTransport
{
    /// <summary>Where a sidecar asks which actor types an app hosts.</summary>
    public const string ConfigAddress = "/dapr/config";

    private readonly DaprHostOptions _options;
    private readonly AppApiToken _token;

    /// <exception cref="ArgumentOutOfRangeException">An option is out of its range.</exception>
    public HttpActorTransport(DaprHostOptions options)
    {
        ArgumentNullException.ThrowIfNull(options);
        options.Validate();
        _options = options;
        _token = new AppApiToken(options.AppApiToken);
    }

    /// <summary>Adds the endpoints that the sidecar calls.</summary>
    /// <exception cref="ArgumentException">The host names no actor type, an empty one, or one twice.</exception>
    public void Map(IEndpointRouteBuilder endpoints, IActorHost host)
    {
        ArgumentNullException.ThrowIfNull(endpoints);
        ArgumentNullException.ThrowIfNull(host);
        var types = host.ActorTypes.ToFrozenDictionary(type => type, StringComparer.Ordinal);
        if (types.Count == 0 || types.ContainsKey(""))
        {
            throw new ArgumentException("The host must name at least one actor type, and none may be empty.", nameof(host));
        }

        var logger = endpoints.ServiceProvider.GetService<ILoggerFactory>()?.CreateLogger<HttpActorTransport>()
            ?? NullLogger<HttpActorTransport>.Instance;
        var callbacks = new Callbacks(host, _options, _token, types, logger);
        var beside = _options.BesideOthers;
        foreach (var actors in beside ? types.Keys.Select(AddressesOf) : ["/actors/{**actor}"])
        {
            endpoints.MapMethods(actors, [HttpMethods.Put], callbacks.Call).WithDisplayName("Dapr actor call");
            endpoints.MapMethods(actors, [HttpMethods.Delete], callbacks.Deactivate)
                .WithDisplayName("Dapr actor deactivation");
        }

        endpoints.MapMethods(ConfigAddress, [HttpMethods.Get], callbacks.Config)
            .WithDisplayName("Dapr app configuration").WithOrder(beside ? -1 : 0);
        endpoints.MapMethods("/dapr/subscribe", [HttpMethods.Get], callbacks.Subscriptions)
            .WithDisplayName("Dapr subscriptions").WithOrder(beside ? 1 : 0);
        if (_options.MapHealth)
        {
            // Without the token: orchestrators ask too, and it tells nothing but that the process answers.
            endpoints.MapMethods("/healthz", [HttpMethods.Get], static _ => Task.CompletedTask).WithDisplayName("Health");
        }
    }

    // A literal segment comes before any parameter of another host.
    private static string AddressesOf(string type)
    {
        var literal = type.Replace("{", "{{", StringComparison.Ordinal).Replace("}", "}}", StringComparison.Ordinal);
        return $"/actors/{literal}/{{**actor}}";
    }

    private sealed class Callbacks(
        IActorHost host, DaprHostOptions options, AppApiToken token, FrozenDictionary<string, string> types, ILogger logger)
    {
        // Answers up to this size are copied into the response's own buffer and leave with the headers in one packet.
        private const int CopyAtMost = 32 * 1024;

        private readonly FrozenDictionary<string, string>.AlternateLookup<ReadOnlySpan<char>> _types =
            types.GetAlternateLookup<ReadOnlySpan<char>>();

        private readonly ConcurrentDictionary<string, bool> _typesWithTimers = new(StringComparer.Ordinal);

        public Task Call(HttpContext context)
        {
            if (!token.Accepts(context.Request))
            {
                return Refusal.WrongToken(context);
            }

            var target = context.Features.GetRequiredFeature<IHttpRequestFeature>().RawTarget;
            if (!ActorRoute.TryParseCall(target, out var route))
            {
                return Refusal.Unreadable(context);
            }

            if (!_types.TryGetValue(route.Type, out var type)
                && (!ActorPath.TryDecode(route.Type, out var decoded) || !types.TryGetValue(decoded, out type)))
            {
                return Refusal.UnknownType(context);
            }

            if (route.Method.StartsWith("remind/", StringComparison.Ordinal) || route.Method.StartsWith("timer/", StringComparison.Ordinal))
            {
                if (_typesWithTimers.TryAdd(type, true))
                {
                    HostLog.NoTimers(logger, type, route.Method.ToString(), route.Id.ToString());
                }

                return Refusal.NoTimers(context, type);
            }

            // A status other than 200 would reach the caller as daprd's bare 500: the host says in an answer of its own what is wrong.
            var readable = ActorPath.TryDecode(route.Id, out var id);
            if (!ActorPath.TryDecode(route.Method, out var method))
            {
                method = route.Method.ToString();
            }

            return readable
                ? Call(context, type, id, false, ActorPath.HasNeedlessEscape(route.Id), method)
                : Call(context, type, route.Id.ToString(), true, false, method);
        }

        private async Task Call(HttpContext context, string type, string id, bool idIsUnreadable, bool idIsDoubtful, string method)
        {
            RequestBody body = default;
            using var room = host.RoomOf(type);
            try
            {
                body = await RequestBody.Read(context, options.MaxBodyBytes, room);
                var headers = context.Request.Headers;
                var reply = await host.Invoke(
                    new ActorCall
                    {
                        ActorType = type,
                        ActorId = id,
                        IdIsUnreadable = idIsUnreadable,
                        IdIsDoubtful = idIsDoubtful,
                        Method = method,
                        Body = body.Memory,
                        BodyTooLarge = body.TooLarge,
                        NoRoom = body.NoRoom,
                        Room = room,
                        ReentrancyId = headers[DaprHeaders.ReentrancyId],
                        TraceParent = headers.TraceParent,
                        TraceState = headers.TraceState,
                        CallerAppId = headers[DaprHeaders.CallerAppId],
                        Authorization = headers.Authorization,
                        IdempotencyKey = Only(headers[DaprHeaders.IdempotencyKey]),
                        IsRemoting = headers.ContainsKey(ActorRemoting.RequestHeader),
                        WantsEnvelope = string.Equals(
                            headers[DaprHeaders.Envelope], "always", StringComparison.OrdinalIgnoreCase),
                    },
                    context.RequestAborted);
                await Answer(context, reply);
            }
            catch (Exception gone) when (context.RequestAborted.IsCancellationRequested && gone is OperationCanceledException or IOException)
            {
                // The sidecar gave the call up: no one reads an answer, and the connection is closed already.
                HostLog.CallerGone(logger, type, method);
            }
            catch (BadHttpRequestException unreadable)
            {
                await Refusal.BrokenBody(context, unreadable);
            }
            catch (Exception defect)
            {
                HostLog.HostFailed(logger, type, method, defect);
                await Refusal.Failed(context, type, method);
            }
            finally
            {
                body.Return();
            }
        }

        // Of a header that must stand once, and stands there twice, nothing is left that could be believed.
        private static string? Only(StringValues values) => values.Count switch { 0 => null, 1 => values[0], _ => "" };

        private static ValueTask Answer(HttpContext context, ActorReply reply)
        {
            var response = context.Response;
            response.StatusCode = reply.Status;
            if (reply.ErrorHeader is { } error)
            {
                response.Headers[ActorRemoting.ErrorHeader] = error;
            }

            response.ContentType = reply.ContentType;
            response.ContentLength = reply.Body.Length;
            if (reply.Body.Length > CopyAtMost)
            {
                return response.Body.WriteAsync(reply.Body, context.RequestAborted);
            }

            response.BodyWriter.Write(reply.Body.Span);
            return ValueTask.CompletedTask;
        }

        public Task Deactivate(HttpContext context)
        {
            if (!token.Accepts(context.Request))
            {
                return Refusal.WrongToken(context);
            }

            var target = context.Features.GetRequiredFeature<IHttpRequestFeature>().RawTarget;
            if (!ActorRoute.TryParseActor(target, out var route) || !ActorPath.TryDecode(route.Id, out var id))
            {
                return Refusal.Unreadable(context);
            }

            return ActorPath.TryDecode(route.Type, out var decoded) && types.TryGetValue(decoded, out var type)
                ? host.Deactivate(type, id, context.RequestAborted).AsTask()
                : Refusal.UnknownType(context);
        }

        public Task Config(HttpContext context) =>
            token.Accepts(context.Request) ? Json(context, Document()) : Refusal.WrongToken(context);

        public Task Subscriptions(HttpContext context) =>
            token.Accepts(context.Request) ? Json(context, "[]"u8.ToArray()) : Refusal.WrongToken(context);

        private byte[] Document() => JsonSerializer.SerializeToUtf8Bytes(
            new DaprConfig
            {
                Entities = host.ActorTypes,
                ActorIdleTimeout = Duration(options.ActorIdleTimeout),
                DrainOngoingCallTimeout = Duration(options.DrainOngoingCallTimeout),
                DrainRebalancedActors = true,
                Reentrancy = new ReentrancyConfig(Enabled: true, Reentrancy.MaxStackDepth),
            },
            SidecarJson.Default.DaprConfig);

        // Go's syntax.
        private static string Duration(TimeSpan value) =>
            string.Create(CultureInfo.InvariantCulture, $"{(long)value.TotalMilliseconds}ms");

        private static Task Json(HttpContext context, byte[] body)
        {
            context.Response.ContentType = "application/json";
            context.Response.ContentLength = body.Length;
            return context.Response.Body.WriteAsync(body, context.RequestAborted).AsTask();
        }
    }
}
