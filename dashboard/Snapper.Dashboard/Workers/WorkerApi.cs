using System.Net;
using System.Net.Http.Headers;
using System.Text;
using System.Text.Json;
using System.Text.Json.Serialization;
using System.Text.Json.Serialization.Metadata;
using Snapper.Contracts;

namespace Snapper.Dashboard.Workers;

/// <summary>What became of one request to a worker.</summary>
/// <param name="Data">The answer; null: there is none.</param>
/// <param name="Missing">The worker does not know the address, or the thing: 404.</param>
/// <param name="Problem">Why there is no answer, in words; null: there is one.</param>
public sealed record Reply<T>(T? Data, bool Missing, string? Problem) where T : class
{
    /// <summary>The worker answers, but not the dashboard: its token is missing, unknown, or has not the right to view.</summary>
    public bool Refused { get; init; }
}

/// <summary>What became of a request that changes something.</summary>
public sealed record Outcome(int Status, JsonElement? Body, string? Problem);

/// <summary>The workers' HTTP API. Thread-safe.</summary>
public sealed class WorkerApi : IDisposable
{
    /// <summary>Most bytes of an answer, and of one event of a stream.</summary>
    public const int LongestAnswer = 16 * 1024 * 1024;

    /// <summary>How answers are read: fields that are not there have their default, unknown ones are passed over.</summary>
    public static readonly JsonSerializerOptions Json = new(JsonSerializerDefaults.Web)
    {
        NumberHandling = JsonNumberHandling.AllowReadingFromString | JsonNumberHandling.AllowNamedFloatingPointLiterals,
        TypeInfoResolver = JsonTypeInfoResolver.Combine(ContractJson.Default, new DefaultJsonTypeInfoResolver()),
    };

    private readonly HttpClient _http;
    private readonly string? _ownToken;

    public WorkerApi(DashboardSettings settings)
    {
        _http = new HttpClient(new SocketsHttpHandler
        {
            UseProxy = false, AllowAutoRedirect = false, ConnectTimeout = TimeSpan.FromSeconds(2), PooledConnectionLifetime = TimeSpan.FromMinutes(5), MaxConnectionsPerServer = 8,
        })
        {
            Timeout = TimeSpan.FromSeconds(5), MaxResponseContentBufferSize = LongestAnswer,
        };
        _ownToken = settings.Token;
    }

    /// <summary>Asks; never throws for what a worker or the network does.</summary>
    public async Task<Reply<T>> Get<T>(Uri worker, string path, CancellationToken cancellation) where T : class
    {
        try
        {
            using var request = Question(worker, path);
            using var response = await _http.SendAsync(request, cancellation).ConfigureAwait(false);
            return Read<T>((int)response.StatusCode, path, await response.Content.ReadAsByteArrayAsync(cancellation).ConfigureAwait(false));
        }
        catch (OperationCanceledException) when (!cancellation.IsCancellationRequested)
        {
            return new Reply<T>(null, false, $"no answer within {_http.Timeout.TotalSeconds:0} s");
        }
        catch (Exception problem) when (problem is HttpRequestException or IOException)
        {
            return new Reply<T>(null, false, problem.InnerException is { } inner and not IOException ? inner.Message : problem.Message);
        }
    }

    /// <summary>Reads an answer, whichever way it came.</summary>
    /// <param name="status">HTTP status.</param>
    /// <param name="path">What was asked for.</param>
    /// <param name="body">UTF-8.</param>
    public static Reply<T> Read<T>(int status, string path, ReadOnlySpan<byte> body) where T : class
    {
        try
        {
            // A worker that is not ready says why in the body of its 503.
            return status is >= 200 and < 300 || (status == (int)HttpStatusCode.ServiceUnavailable && path == "/readyz")
                ? new Reply<T>(JsonSerializer.Deserialize<T>(body, Json), false, null)
                : new Reply<T>(null, status == (int)HttpStatusCode.NotFound, $"{status}: {Detail(Encoding.UTF8.GetString(body))}") { Refused = IsOfToken(status, body) };
        }
        catch (JsonException problem)
        {
            return new Reply<T>(null, false, $"an answer that cannot be read: {problem.Message}");
        }
    }

    // 403 is also for a Host that is not the worker's, which no token mends.
    private static bool IsOfToken(int status, ReadOnlySpan<byte> body) =>
        status == (int)HttpStatusCode.Unauthorized || (status == (int)HttpStatusCode.Forbidden && Encoding.UTF8.GetString(body).Contains("has not the right to view", StringComparison.Ordinal));

    /// <summary>Opens a stream of events of some views; the answer is there as soon as its status is, and must be disposed.</summary>
    /// <exception cref="HttpRequestException">The worker cannot be reached.</exception>
    /// <exception cref="OperationCanceledException">It does not answer in time, or <paramref name="cancellation"/>.</exception>
    public async Task<HttpResponseMessage> Events(Uri worker, IEnumerable<string> views, CancellationToken cancellation)
    {
        using var request = Question(worker, "/v1/events?" + string.Join('&', views.Select(AsParameter)));
        request.Headers.Accept.Add(new MediaTypeWithQualityHeaderValue("text/event-stream"));
        return await _http.SendAsync(request, HttpCompletionOption.ResponseHeadersRead, cancellation).ConfigureAwait(false);
    }

    /// <summary>How a view is written in the address of a stream.</summary>
    public static string AsParameter(string view) => "view=" + Uri.EscapeDataString(view);

    /// <summary>Asks for a change; only <see cref="Actions.OperatorActions"/> calls this.</summary>
    /// <param name="method">POST, say.</param>
    /// <param name="worker">Base address.</param>
    /// <param name="path">With the slash.</param>
    /// <param name="body">As JSON.</param>
    /// <param name="token">Of whoever asks for it; null: the dashboard's own.</param>
    /// <param name="cancellation">Ends the waiting.</param>
    public async Task<Outcome> Send(HttpMethod method, Uri worker, string path, object? body, string? token, CancellationToken cancellation)
    {
        try
        {
            using var request = new HttpRequestMessage(method, new Uri(worker, path));
            if (body is not null) request.Content = JsonContent.Create(body, options: Json);
            if ((token ?? _ownToken) is { } shown) request.Headers.Authorization = new AuthenticationHeaderValue("Bearer", shown);
            using var response = await _http.SendAsync(request, cancellation).ConfigureAwait(false);
            var text = await response.Content.ReadAsStringAsync(cancellation).ConfigureAwait(false);
            JsonElement? answer = Parse(text);
            return new Outcome((int)response.StatusCode, answer, response.IsSuccessStatusCode ? null : Detail(text));
        }
        catch (OperationCanceledException) when (!cancellation.IsCancellationRequested)
        {
            return new Outcome(0, null, "no answer; whether it was done is not known");
        }
        catch (Exception problem) when (problem is HttpRequestException or IOException)
        {
            return new Outcome(0, null, problem.Message);
        }
    }

    /// <inheritdoc/>
    public void Dispose() => _http.Dispose();

    private HttpRequestMessage Question(Uri worker, string path)
    {
        var request = new HttpRequestMessage(HttpMethod.Get, new Uri(worker, path));
        if (_ownToken is not null) request.Headers.Authorization = new AuthenticationHeaderValue("Bearer", _ownToken);
        return request;
    }

    /// <summary>What a body that is no answer says.</summary>
    public static string Detail(string body)
    {
        if (Parse(body) is { ValueKind: JsonValueKind.Object } json)
        {
            foreach (var name in (string[])["detail", "message", "title"])
            {
                if (json.TryGetProperty(name, out var value) && value.ValueKind == JsonValueKind.String) return value.GetString()!;
            }
        }

        return body.Length is > 0 and < 200 ? body : "no reason was given";
    }

    private static JsonElement? Parse(string text)
    {
        try
        {
            return text.Length == 0 ? null : JsonSerializer.Deserialize<JsonElement>(text);
        }
        catch (JsonException)
        {
            return null; // What is no JSON is shown as it is.
        }
    }
}
