using System.Net;
using System.Text;
using System.Text.Json;
using System.Text.Json.Nodes;
using Snapper.Server.Hosting;

namespace Snapper.Cli.Demo;

/// <summary>What became of one transaction. <paramref name="Reason"/> is set exactly when it was aborted; <paramref name="Result"/> when committed.</summary>
internal sealed record BankAnswer(string Outcome, string? Reason, JsonElement? Result)
{
    /// <summary>Neither committed nor aborted yet.</summary>
    public bool IsUndecided => Outcome is "inDoubt" or "unknown";
}

/// <summary>Plain HTTP to the service door through the sidecars: what any program in any language would send.</summary>
internal sealed class BankClient : IDisposable
{
    private readonly string _door;
    private readonly HttpClient _http;
    private readonly Func<IReadOnlyList<Uri>> _sidecars;
    private uint _next;

    /// <summary>Sends to one sidecar.</summary>
    public BankClient(Uri sidecar, string? apiToken)
        : this(() => [sidecar], apiToken)
    {
    }

    /// <summary>Sends to several sidecars in turn.</summary>
    /// <param name="sidecars">Those that are there now, at least one.</param>
    /// <param name="apiToken">What they want to see; null: nothing.</param>
    /// <param name="appId">The workers' Dapr app id.</param>
    public BankClient(Func<IReadOnlyList<Uri>> sidecars, string? apiToken, string appId = WorkerSettings.DefaultAppId)
    {
        _door = $"/v1.0/invoke/{appId}/method/v1/transactions";
        _sidecars = sidecars;
        _http = new HttpClient(new SocketsHttpHandler { UseProxy = false, PooledConnectionLifetime = TimeSpan.FromMinutes(1) }) { Timeout = TimeSpan.FromSeconds(60) };
        if (!string.IsNullOrEmpty(apiToken)) _http.DefaultRequestHeaders.Add("dapr-api-token", apiToken);
    }

    /// <summary>Submits one transaction, or several in one request.</summary>
    /// <returns>An answer for each, in order; <c>unknown</c> when the connection broke before the answer came.</returns>
    /// <exception cref="DemoFailedException">The answer is none that the contract knows.</exception>
    public async Task<IReadOnlyList<BankAnswer>> Submit(IReadOnlyList<JsonObject> transactions, CancellationToken cancellation)
    {
        var body = transactions.Count == 1 ? transactions[0].ToJsonString() : new JsonObject { ["transactions"] = new JsonArray([.. transactions]) }.ToJsonString();
        try
        {
            using var content = new StringContent(body, Encoding.UTF8, "application/json");
            using var response = await _http.PostAsync(NextService(), content, cancellation);
            var bytes = await response.Content.ReadAsByteArrayAsync(cancellation);
            return transactions.Count == 1 ? [Single(response.StatusCode, bytes)] : Batch(response.StatusCode, bytes, transactions.Count);
        }
        catch (Exception problem) when (problem is HttpRequestException or IOException || (problem is OperationCanceledException && !cancellation.IsCancellationRequested))
        {
            return [.. transactions.Select(_ => new BankAnswer("unknown", null, null))];
        }
    }

    /// <inheritdoc/>
    public void Dispose() => _http.Dispose();

    private Uri NextService()
    {
        var sidecars = _sidecars();
        return new Uri(sidecars[(int)(Interlocked.Increment(ref _next) % (uint)sidecars.Count)], _door);
    }

    private static BankAnswer Single(HttpStatusCode status, byte[] body)
    {
        using var json = ParseOrFail(status, body);
        if (Envelope(json.RootElement) is { } answer) return answer;

        // Refused before it became a transaction: not executed, so it counts as an abort by its status.
        if (status is HttpStatusCode.TooManyRequests) return new BankAnswer("aborted", "overloaded", null);
        if (status is HttpStatusCode.ServiceUnavailable) return new BankAnswer("aborted", "unavailable", null);

        // A sidecar whose worker has just died answers with an error of its own: it may have been executed.
        return status >= HttpStatusCode.InternalServerError ? new BankAnswer("unknown", null, null) : throw Unexpected(status, body);
    }

    private static IReadOnlyList<BankAnswer> Batch(HttpStatusCode status, byte[] body, int expected)
    {
        using var json = ParseOrFail(status, body);
        if (status != HttpStatusCode.OK || !json.RootElement.TryGetProperty("results", out var results) || results.GetArrayLength() != expected)
        {
            if (status is not (HttpStatusCode.TooManyRequests or HttpStatusCode.ServiceUnavailable))
            {
                return status >= HttpStatusCode.InternalServerError ? [.. Enumerable.Repeat(new BankAnswer("unknown", null, null), expected)] : throw Unexpected(status, body);
            }

            var reason = status == HttpStatusCode.TooManyRequests ? "overloaded" : "unavailable";
            return [.. Enumerable.Repeat(new BankAnswer("aborted", reason, null), expected)];
        }

        return [.. results.EnumerateArray().Select(r => Envelope(r) ?? throw Unexpected(status, body))];
    }

    private static BankAnswer? Envelope(JsonElement json)
    {
        if (json.ValueKind != JsonValueKind.Object || !json.TryGetProperty("outcome", out var outcome) || outcome.GetString() is not { } word) return null;
        return new BankAnswer(
            word,
            word is "aborted" && json.TryGetProperty("abort", out var abort) && abort.TryGetProperty("reason", out var reason) ? reason.GetString() : null,
            json.TryGetProperty("result", out var result) ? result.Clone() : null);
    }

    private static JsonDocument ParseOrFail(HttpStatusCode status, byte[] body)
    {
        try
        {
            return JsonDocument.Parse(body);
        }
        catch (JsonException)
        {
            throw Unexpected(status, body);
        }
    }

    private static DemoFailedException Unexpected(HttpStatusCode status, byte[] body) =>
        new($"unexpected answer from the service door: status {(int)status} {Encoding.UTF8.GetString(body.AsSpan(0, Math.Min(body.Length, 400)))}");
}
