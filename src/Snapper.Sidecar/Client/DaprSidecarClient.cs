using System.Net.Http.Headers;

namespace Snapper.Sidecar.Client;

/// <summary>A sidecar's HTTP API: actor calls, and its end. Thread-safe; one per sidecar is enough.</summary>
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

    /// <param name="endpoint">Its absolute address, <c>http://127.0.0.1:3500</c>.</param>
    /// <param name="apiToken">The token that it asks for; null or empty: none is sent.</param>
    public DaprSidecarClient(Uri endpoint, string? apiToken)
    {
        ArgumentNullException.ThrowIfNull(endpoint);
        Endpoint = endpoint;
        _base = endpoint.GetLeftPart(UriPartial.Authority);
        _token = string.IsNullOrEmpty(apiToken) ? null : apiToken;
        _http = new HttpClient(
            new SocketsHttpHandler
            {
                // Each concurrent call takes one (HTTP/1.1); further ones wait.
                MaxConnectionsPerServer = 4096,
                ConnectTimeout = TimeSpan.FromSeconds(5),
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
            MaxResponseContentBufferSize = 64 * 1024 * 1024,
        };
    }

    /// <summary>The sidecar's address.</summary>
    public Uri Endpoint { get; }

    /// <summary>The address of a method of an actor, for <see cref="InvokeActor"/>.</summary>
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

    /// <summary>
    /// Asks the sidecar to end in order: <c>POST /v1.0/shutdown</c>. It takes its actor types out of placement at once, also when it was told to end before and waits
    /// (<c>block-shutdown-duration</c>); its process ends when that is over.
    /// </summary>
    /// <exception cref="SidecarUnreachableException">The sidecar did not answer.</exception>
    public Task<SidecarAnswer> Shutdown(CancellationToken cancellation) =>
        Send(Request(HttpMethod.Post, "/v1.0/shutdown", ReadOnlyMemory<byte>.Empty, traceParent: null), cancellation);

    /// <inheritdoc/>
    public void Dispose() => _http.Dispose();

    /// <param name="verb">HTTP method.</param>
    /// <param name="path">Path and query, encoded.</param>
    /// <param name="body">JSON; empty: none.</param>
    /// <param name="traceParent">W3C trace context to pass on; null: none.</param>
    internal HttpRequestMessage Request(HttpMethod verb, string path, ReadOnlyMemory<byte> body, string? traceParent) =>
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

    internal async Task<SidecarAnswer> Send(HttpRequestMessage request, CancellationToken cancellation)
    {
        try
        {
            using (request)
            {
                using var response = await _http.SendAsync(request, HttpCompletionOption.ResponseContentRead, cancellation);
                var body = await response.Content.ReadAsByteArrayAsync(cancellation);
                var type = response.Content.Headers.ContentType?.MediaType;
                return new SidecarAnswer((int)response.StatusCode, body, type, response.Headers.RetryAfter?.Delta);
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
}
