using System.Diagnostics;
using System.Text.Json;
using System.Text.Json.Nodes;

namespace Snapper.Server.Cli;

/// <summary>The HTTP API of one worker, for commands that operators type. Sends <c>APP_API_TOKEN</c> when it is set, as the sidecar does.</summary>
internal sealed class OperatorApi : IDisposable
{
    private const string TokenVariable = "APP_API_TOKEN";

    private static readonly TimeSpan LookEvery = TimeSpan.FromMilliseconds(100);

    private readonly HttpClient _http;
    private readonly bool _hasToken;

    /// <param name="address">The worker's own address.</param>
    /// <param name="token">What it wants to see; null or empty: nothing.</param>
    public OperatorApi(Uri address, string? token)
    {
        _hasToken = !string.IsNullOrEmpty(token);
        _http = new HttpClient(new SocketsHttpHandler { UseProxy = false }) { BaseAddress = new Uri(address.AbsoluteUri.TrimEnd('/') + "/"), Timeout = TimeSpan.FromSeconds(30) };
        if (_hasToken) _http.DefaultRequestHeaders.Add("dapr-api-token", token);
    }

    /// <summary>The worker at an address, with the token of this environment.</summary>
    public static OperatorApi At(Uri address) => new(address, Environment.GetEnvironmentVariable(TokenVariable));

    /// <summary>One question, asked once.</summary>
    /// <exception cref="OperatorException">No answer, or another one than success.</exception>
    public async Task<JsonNode> Ask(HttpMethod method, string path, JsonObject? body = null)
    {
        try
        {
            using var request = new HttpRequestMessage(method, path) { Content = body is null ? null : JsonContent.Create(body) };
            using var answer = await _http.SendAsync(request);
            var status = (int)answer.StatusCode;
            if (status is 401 or 403) throw new OperatorException(Unwelcome(status), status);
            var json = await Read(answer);
            if (!answer.IsSuccessStatusCode) throw new OperatorException(Detail(json) ?? $"{_http.BaseAddress} answered {status}.", status);
            return json ?? throw new OperatorException($"{_http.BaseAddress} answered {status} with something that is not JSON; is it a worker?", status);
        }
        catch (Exception exception) when (exception is HttpRequestException or TaskCanceledException or IOException)
        {
            throw new OperatorException($"no worker answers at {_http.BaseAddress}: {exception.Message}", OperatorException.NoAnswer);
        }
    }

    /// <summary>A question that may be repeated, as long as it takes a worker to come back.</summary>
    /// <exception cref="OperatorException">Refused; or not answered for that long.</exception>
    public async Task<JsonNode> Again(string path, TimeSpan patience)
    {
        var started = Stopwatch.GetTimestamp();
        while (true)
        {
            try
            {
                return await Ask(HttpMethod.Get, path);
            }
            catch (OperatorException problem) when (problem.IsPassing && Stopwatch.GetElapsedTime(started) < patience)
            {
                await Task.Delay(LookEvery); // what was begun goes on without it
            }
        }
    }

    /// <inheritdoc/>
    public void Dispose() => _http.Dispose();

    private static async Task<JsonNode?> Read(HttpResponseMessage answer)
    {
        try
        {
            return await answer.Content.ReadFromJsonAsync<JsonNode>();
        }
        catch (JsonException)
        {
            return null; // the status says enough, or whoever answers is no worker
        }
    }

    private static string? Detail(JsonNode? json) => json is JsonObject problem && problem["detail"] is JsonValue detail && detail.TryGetValue<string>(out var text) ? text : null;

    private string Unwelcome(int status) => _hasToken
        ? $"{_http.BaseAddress} answered {status}: {TokenVariable} is set here, but to another token than that worker's."
        : $"{_http.BaseAddress} answered {status}: it wants a token. Set {TokenVariable} to the one that the workers were started with.";
}
