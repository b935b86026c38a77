using System.Net.Http.Headers;
using System.Text;
using System.Text.Json;
using System.Text.Json.Nodes;

namespace Snapper.Live.Harness;

/// <summary>Plain HTTP to a worker and its sidecar, or to several in turn, as any language does it. Failures of the connection are answers too.</summary>
internal sealed class SnapperClient : IDisposable
{
    private readonly HttpClient _http;
    private readonly (Uri Worker, Uri Sidecar)[] _all;
    private uint _next;

    public SnapperClient(Uri worker, Uri sidecar)
        : this((worker, sidecar))
    {
    }

    public SnapperClient(params (Uri Worker, Uri Sidecar)[] all)
    {
        _all = all;
        _http = new HttpClient(new SocketsHttpHandler { ConnectTimeout = TimeSpan.FromSeconds(5), PooledConnectionLifetime = TimeSpan.FromMinutes(1), UseProxy = false })
        {
            Timeout = TimeSpan.FromSeconds(60),
        };
    }

    /// <summary>A worker; of several another one each time.</summary>
    public Uri Worker => Next.Worker;

    /// <summary>A sidecar; of several another one each time.</summary>
    public Uri Sidecar => Next.Sidecar;

    private (Uri Worker, Uri Sidecar) Next => _all.Length == 1 ? _all[0] : _all[(int)(Interlocked.Increment(ref _next) % (uint)_all.Length)];

    public void Dispose() => _http.Dispose();

    /// <summary>Sends one transaction.</summary>
    /// <param name="transaction">What to send.</param>
    /// <param name="door">By which road.</param>
    /// <param name="cancellation">Ends the wait with an exception.</param>
    /// <param name="patience">After this the connection is closed and the answer is none; null: as long as an HTTP client has by default.</param>
    public Task<Answer> Submit(Transaction transaction, Door door = Door.Direct, CancellationToken cancellation = default, TimeSpan? patience = null) =>
        Send(HttpMethod.Post, Address(door, transaction), Json(transaction.ToJson(door)), cancellation, door == Door.Actor, patience);

    /// <summary>Sends many in one request; the answers in the same order, or one that stands for all when the request failed as a whole.</summary>
    public async Task<IReadOnlyList<Answer>> SubmitMany(IReadOnlyList<Transaction> transactions, Door door = Door.Direct, TimeSpan? patience = null)
    {
        var body = new JsonObject { ["transactions"] = new JsonArray([.. transactions.Select(transaction => transaction.ToJson())]) };
        var answer = await Send(HttpMethod.Post, Address(door), Json(body), patience: patience);
        return answer.Status == 200 && answer.Json.ValueKind == JsonValueKind.Object && answer.Json.TryGetProperty("results", out var results) && results.GetArrayLength() == transactions.Count
            ? [.. results.EnumerateArray().Select(Answer.FromEnvelope)]
            : [.. transactions.Select(_ => answer)];
    }

    /// <summary>Sends any bytes as a request.</summary>
    public Task<Answer> SubmitRaw(byte[] body, Door door = Door.Direct, string contentType = "application/json")
    {
        var content = new ByteArrayContent(body);
        content.Headers.ContentType = new MediaTypeHeaderValue(contentType);
        return Send(HttpMethod.Post, Address(door), content);
    }

    public Task<Answer> SubmitRaw(string body, Door door = Door.Direct) => SubmitRaw(Encoding.UTF8.GetBytes(body), door);

    /// <summary>What became of a request.</summary>
    public Task<Answer> Find(string requestId) => Find(requestId, patience: null);

    /// <summary>The same by a client with little patience.</summary>
    public Task<Answer> Find(string requestId, TimeSpan? patience) => Get($"v1/transactions/{Uri.EscapeDataString(requestId)}", patience);

    public Task<Answer> Get(string path, TimeSpan? patience = null) => Send(HttpMethod.Get, new Uri(Worker, path), null, patience: patience);

    public async Task<Answer> Send(
        HttpMethod method, Uri address, HttpContent? content, CancellationToken cancellation = default, bool actorCall = false, TimeSpan? patience = null)
    {
        using var impatience = CancellationTokenSource.CreateLinkedTokenSource(cancellation);
        if (patience is { } bound)
        {
            impatience.CancelAfter(bound);
        }

        using var request = new HttpRequestMessage(method, address) { Content = content };
        if (actorCall)
        {
            // Per actor, either nobody sends it or everybody does; all loads of these tests do.
            request.Headers.Add("Dapr-Reentrancy-Id", "snapper");
        }

        try
        {
            using var response = await _http.SendAsync(request, impatience.Token);
            return await Answer.From(response);
        }
        catch (Exception broken) when (broken is HttpRequestException or IOException || (broken is TaskCanceledException && !cancellation.IsCancellationRequested))
        {
            return Answer.None($"{broken.GetType().Name}: {broken.Message}");
        }
    }

    /// <summary>The worker's own status; null when it does not answer.</summary>
    public async Task<JsonElement?> Status() => await Get("v1/status") is { Status: 200, Json: { ValueKind: JsonValueKind.Object } json } ? json : null;

    private static StringContent Json(JsonObject body) => new(body.ToJsonString(), Encoding.UTF8, "application/json");

    private Uri Address(Door door, Transaction? transaction = null) => door switch
    {
        Door.Direct => new Uri(Worker, "v1/transactions"),
        Door.Service => new Uri(Sidecar, "v1.0/invoke/snapper/method/v1/transactions"),
        Door.Actor when transaction is not null => new Uri(
            Sidecar, $"v1.0/actors/{Uri.EscapeDataString(transaction.Type)}/{Uri.EscapeDataString(transaction.Id)}/method/StartTransaction"),
        _ => throw new ArgumentOutOfRangeException(nameof(door), door, "No such door for this request."),
    };
}
