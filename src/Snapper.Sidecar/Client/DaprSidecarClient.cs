using System.Net.Http.Headers;
using System.Text.Json;

namespace Snapper.Sidecar.Client;

/// <summary>A sidecar's HTTP API: actor calls, service invocation, metadata, health. Thread-safe; one per sidecar is enough.</summary>
/// <remarks>
/// No call is repeated here: whether that is safe only the caller knows. Calls have no deadline of their own; cancel them. Cancelling
/// a call also cancels it in the app.
/// </remarks>
public sealed class DaprSidecarClient : IDisposable
{
    // Our paths are encoded already, and Uri would "canonicalize" what an id needs kept.
    private static readonly UriCreationOptions KeepPath = new() { DangerousDisablePathAndQueryCanonicalization = true };

    private static readonly MediaTypeHeaderValue Json = new("application/json");
    private static readonly MediaTypeHeaderValue Binary = new("application/octet-stream");

    private readonly HttpClient _http;
    private readonly string _base;
    private readonly string? _token;

    /// <exception cref="ArgumentException">An option is missing or out of its range.</exception>
    public DaprSidecarClient(DaprSidecarOptions options)
    {
        ArgumentNullException.ThrowIfNull(options);
        options.Validate();
        Endpoint = options.Endpoint;
        _base = options.Endpoint.GetLeftPart(UriPartial.Authority);
        _token = string.IsNullOrEmpty(options.ApiToken) ? null : options.ApiToken;
        _http = new HttpClient(
            new SocketsHttpHandler
            {
                MaxConnectionsPerServer = options.MaxConnections,
                ConnectTimeout = options.ConnectTimeout,
                PooledConnectionIdleTimeout = TimeSpan.FromMinutes(2),
                PooledConnectionLifetime = Timeout.InfiniteTimeSpan,
                AllowAutoRedirect = false,
                UseCookies = false,
                UseProxy = false,
                // Trace context is passed on as given: an ambient Activity of the process is not the request's.
                ActivityHeadersPropagator = null,
            })
        {
            Timeout = Timeout.InfiniteTimeSpan,
            MaxResponseContentBufferSize = options.MaxAnswerBytes,
        };
    }

    /// <summary>The sidecar's address.</summary>
    public Uri Endpoint { get; }

    /// <summary>Calls a method of an actor: <c>PUT /v1.0/actors/{type}/{id}/method/{method}</c>.</summary>
    /// <param name="actorType">Actor type.</param>
    /// <param name="actorId">Any text but lone surrogates; it arrives exactly (see <see cref="ActorPath"/>).</param>
    /// <param name="method">Method name.</param>
    /// <param name="body">JSON.</param>
    /// <param name="cancellation">Gives the call up, here and in the app.</param>
    /// <param name="reentrancyId">
    /// <see cref="Reentrancy.ConstantId"/>: runs beside other calls with it. Null: runs alone, and waits while calls with
    /// an id keep coming. Per actor, either all callers send it or none.
    /// </param>
    /// <param name="traceParent">W3C trace context to pass on.</param>
    /// <exception cref="SidecarUnreachableException">The sidecar did not answer.</exception>
    public Task<SidecarAnswer> InvokeActor(
        string actorType,
        string actorId,
        string method,
        ReadOnlyMemory<byte> body,
        CancellationToken cancellation,
        string? reentrancyId = Reentrancy.ConstantId,
        string? traceParent = null)
    {
        var path = string.Concat(
            "/v1.0/actors/" + ActorPath.EncodeName(actorType), "/" + ActorPath.EncodeId(actorId), "/method/", ActorPath.EncodeName(method));
        var request = Request(HttpMethod.Put, path, body, traceParent);
        if (reentrancyId is not null)
        {
            request.Headers.TryAddWithoutValidation(DaprHeaders.ReentrancyId, reentrancyId);
        }

        return Send(request, cancellation);
    }

    /// <summary>The address of a method of an actor, for callers that use it often: <see cref="InvokeActor(Uri, ReadOnlyMemory{byte}, CancellationToken, string)"/>.</summary>
    public Uri ActorMethod(string actorType, string actorId, string method) => new(
        string.Concat(
            _base + "/v1.0/actors/", ActorPath.EncodeName(actorType) + "/" + ActorPath.EncodeId(actorId), "/method/", ActorPath.EncodeName(method)),
        KeepPath);

    /// <summary>Calls a method of an actor with a binary body, beside other calls (<see cref="Reentrancy.ConstantId"/>).</summary>
    /// <param name="method">Made by <see cref="ActorMethod"/>.</param>
    /// <param name="body">Any bytes; they must not change until the returned task completes.</param>
    /// <param name="cancellation">Gives the call up, here and in the app.</param>
    /// <param name="authorization">Reaches the app as its <c>Authorization</c> header; null: none.</param>
    /// <exception cref="SidecarUnreachableException">The sidecar did not answer.</exception>
    public Task<SidecarAnswer> InvokeActor(Uri method, ReadOnlyMemory<byte> body, CancellationToken cancellation, string? authorization = null)
    {
        var request = Request(HttpMethod.Put, method, body, Binary, traceParent: null);
        if (authorization is not null)
        {
            request.Headers.TryAddWithoutValidation("Authorization", authorization);
        }

        request.Headers.TryAddWithoutValidation(DaprHeaders.ReentrancyId, Reentrancy.ConstantId);
        return Send(request, cancellation);
    }

    /// <summary>Calls an app: <c>{verb} /v1.0/invoke/{appId}/method/{path}</c>.</summary>
    /// <param name="verb">Reaches the app as it is.</param>
    /// <param name="appId">Dapr app id.</param>
    /// <param name="path">Path in the app without leading slash, encoded, with its query if any.</param>
    /// <param name="body">JSON; empty for none.</param>
    /// <param name="cancellation">Gives the call up, here and in the app.</param>
    /// <param name="traceParent">W3C trace context to pass on.</param>
    /// <exception cref="SidecarUnreachableException">The sidecar did not answer.</exception>
    public Task<SidecarAnswer> InvokeService(
        HttpMethod verb, string appId, string path, ReadOnlyMemory<byte> body, CancellationToken cancellation, string? traceParent = null)
    {
        ArgumentNullException.ThrowIfNull(path);
        return Send(Request(verb, "/v1.0/invoke/" + ActorPath.EncodeName(appId) + "/method/" + path, body, traceParent), cancellation);
    }

    /// <summary>
    /// Asks the sidecar to end in order: <c>POST /v1.0/shutdown</c>. It takes its actor types out of placement at once, also when it was told to end before and waits
    /// (<c>block-shutdown-duration</c>); its process ends when that is over.
    /// </summary>
    /// <exception cref="SidecarUnreachableException">The sidecar did not answer.</exception>
    public Task<SidecarAnswer> Shutdown(CancellationToken cancellation) =>
        Send(Request(HttpMethod.Post, "/v1.0/shutdown", ReadOnlyMemory<byte>.Empty, traceParent: null), cancellation);

    /// <summary>What the sidecar says of itself.</summary>
    /// <exception cref="SidecarUnreachableException">The sidecar did not answer.</exception>
    /// <exception cref="InvalidDataException">It answered something else; the message says what.</exception>
    public async Task<SidecarMetadata> GetMetadata(CancellationToken cancellation)
    {
        var answer = await Send(Request(HttpMethod.Get, "/v1.0/metadata", default, null), cancellation);
        if (answer.Status != 200)
        {
            throw new InvalidDataException($"The sidecar at {Endpoint} answered {answer.Status} to the question for its metadata.");
        }

        try
        {
            return JsonSerializer.Deserialize(answer.Body, SidecarJson.Default.SidecarMetadata)
                ?? throw new InvalidDataException($"The sidecar at {Endpoint} answered null to the question for its metadata.");
        }
        catch (JsonException unreadable)
        {
            throw new InvalidDataException($"The metadata of the sidecar at {Endpoint} cannot be read: {unreadable.Message}", unreadable);
        }
    }

    /// <summary>Whether the sidecar and its way to the app are ready (<c>/v1.0/healthz</c>). False also when it cannot be reached.</summary>
    public Task<bool> IsHealthy(CancellationToken cancellation) => IsHealthy("/v1.0/healthz", cancellation);

    /// <summary>Whether the sidecar can be called, its app apart (<c>/v1.0/healthz/outbound</c>). False also when it cannot be reached.</summary>
    public Task<bool> IsOutboundHealthy(CancellationToken cancellation) => IsHealthy("/v1.0/healthz/outbound", cancellation);

    /// <inheritdoc/>
    public void Dispose() => _http.Dispose();

    private async Task<bool> IsHealthy(string path, CancellationToken cancellation)
    {
        try
        {
            return (await Send(Request(HttpMethod.Get, path, default, null), cancellation)).Status is >= 200 and < 300;
        }
        catch (SidecarUnreachableException)
        {
            // Not reachable is an answer to this question.
            return false;
        }
    }

    private HttpRequestMessage Request(HttpMethod verb, string path, ReadOnlyMemory<byte> body, string? traceParent) =>
        Request(verb, new Uri(_base + path, KeepPath), body, Json, traceParent);

    private HttpRequestMessage Request(HttpMethod verb, Uri address, ReadOnlyMemory<byte> body, MediaTypeHeaderValue type, string? traceParent)
    {
        var request = new HttpRequestMessage(verb, address);
        if (_token is not null)
        {
            request.Headers.TryAddWithoutValidation(DaprHeaders.ApiToken, _token);
        }

        if (traceParent is not null)
        {
            request.Headers.TryAddWithoutValidation(DaprHeaders.TraceParent, traceParent);
        }

        if (!body.IsEmpty || verb != HttpMethod.Get)
        {
            request.Content = new ReadOnlyMemoryContent(body) { Headers = { ContentType = type } };
        }

        return request;
    }

    private async Task<SidecarAnswer> Send(HttpRequestMessage request, CancellationToken cancellation)
    {
        try
        {
            using (request)
            {
                using var response = await _http.SendAsync(request, HttpCompletionOption.ResponseContentRead, cancellation);
                var body = await response.Content.ReadAsByteArrayAsync(cancellation);
                return new SidecarAnswer((int)response.StatusCode, body, response.Content.Headers.ContentType?.MediaType, RetryAfter(response));
            }
        }
        catch (HttpRequestException failure)
        {
            var neverSent = failure.HttpRequestError is HttpRequestError.ConnectionError or HttpRequestError.NameResolutionError;
            throw new SidecarUnreachableException(Endpoint, failure, neverSent);
        }
        catch (TaskCanceledException timeout) when (!cancellation.IsCancellationRequested && timeout.InnerException is TimeoutException)
        {
            throw new SidecarUnreachableException(Endpoint, timeout, neverSent: true);
        }
    }

    private static TimeSpan? RetryAfter(HttpResponseMessage response)
    {
        if (response.Headers.RetryAfter is not { } header)
        {
            return null;
        }

        if (header.Delta is { } delta)
        {
            return delta;
        }

        var wait = header.Date - DateTimeOffset.UtcNow;
        return wait < TimeSpan.Zero ? TimeSpan.Zero : wait;
    }
}
