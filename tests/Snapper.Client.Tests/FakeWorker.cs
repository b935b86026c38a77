using System.Collections.Concurrent;
using System.Net;
using System.Text;
using System.Text.Json;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;

namespace Snapper.Client.Tests;

/// <summary>
/// A worker's service door, behind a sidecar's paths or its own, that behaves as a test tells it. It executes each id
/// once and repeats the outcome, as a real one does.
/// </summary>
internal sealed class FakeWorker : IAsyncDisposable
{
    private readonly WebApplication _app;
    private readonly ConcurrentQueue<Func<Exchange, Task>> _script = new();
    private int _underWay;

    private FakeWorker(WebApplication app) => _app = app;

    /// <summary>Of each request with transactions, in order of arrival: its transactions.</summary>
    public ConcurrentQueue<JsonElement[]> Requests { get; } = new();

    /// <summary>Ids that were asked for, in order.</summary>
    public ConcurrentQueue<string> Asked { get; } = new();

    /// <summary>Headers of all requests.</summary>
    public ConcurrentQueue<(string Path, string? Token)> Calls { get; } = new();

    /// <summary>Envelopes by id, of what was executed.</summary>
    public ConcurrentDictionary<string, string> Executed { get; } = new();

    /// <summary>How an id is answered that was not executed before; default: committed, its own input as the result.</summary>
    public Func<JsonElement, string> Execute { get; set; } = Committed;

    /// <summary>What happens when the script is over; default: execute and answer.</summary>
    public Func<Exchange, Task> Otherwise { get; set; } = e => e.Answer();

    /// <summary>What a question by id is answered with; default: the envelope, or 404.</summary>
    public Func<HttpContext, string, Task>? OnAsk { get; set; }

    /// <summary>What a request to migrate is answered with; default: 404, as where no worker is.</summary>
    public Func<HttpContext, Task>? OnMigration { get; set; }

    /// <summary>As which of several workers it answers; null: it is alone.</summary>
    public string? Name { get; set; }

    public int MaxUnderWay { get; private set; }

    public Uri Address { get; private set; } = null!;

    public IEnumerable<string> SentIds => Requests.SelectMany(r => r).Select(t => t.GetProperty("id").GetString()!);

    public static async Task<FakeWorker> Start(int port = 0)
    {
        var builder = WebApplication.CreateSlimBuilder();
        builder.Logging.ClearProviders();
        builder.WebHost.ConfigureKestrel(kestrel => kestrel.Listen(IPAddress.Loopback, port));
        builder.Services.Configure<Microsoft.Extensions.Hosting.HostOptions>(host => host.ShutdownTimeout = TimeSpan.FromMilliseconds(100));
        var app = builder.Build();
        var worker = new FakeWorker(app);
        foreach (var prefix in new[] { "", "/v1.0/invoke/snapper/method" })
        {
            app.MapPost(prefix + "/v1/transactions", worker.OnPost);
            app.MapGet(prefix + "/v1/transactions/{id}", worker.OnGet);
            app.MapPost(prefix + "/v1/migrations", worker.OnMigrate);
        }

        await app.StartAsync();
        worker.Address = new Uri(app.Urls.Single());
        return worker;
    }

    /// <summary>Says how the next requests are treated, one each.</summary>
    public FakeWorker Then(params Func<Exchange, Task>[] steps)
    {
        foreach (var step in steps)
        {
            _script.Enqueue(step);
        }

        return this;
    }

    public SnapperClient Client(TimeSpan? timeout = null, int maxBatch = 256, int maxRequests = 4, TimeSpan? grace = null, bool repeatsAborted = true) => new(new SnapperClientOptions
    {
        Worker = Address,
        Timeout = timeout ?? TimeSpan.FromSeconds(20),
        AnswerGrace = grace ?? TimeSpan.FromSeconds(2),
        MaxBatch = maxBatch,
        MaxConcurrentRequests = maxRequests,
        MinBackoff = TimeSpan.FromMilliseconds(5),
        MaxBackoff = TimeSpan.FromMilliseconds(50),
        RepeatsAborted = repeatsAborted,
    });

    public async ValueTask DisposeAsync() => await _app.DisposeAsync();

    public static string Committed(JsonElement transaction) =>
        Envelope(transaction, $$"""
            "outcome":"committed","mode":"{{transaction.GetProperty("mode").GetString()}}","transaction":9137,"batch":9120,"attempts":1,"result":{{Input(transaction)}}
            """);

    public static string Aborted(JsonElement transaction, string reason, string message, bool retryable) =>
        Envelope(transaction, $$"""
            "outcome":"aborted","abort":{"reason":"{{reason}}","message":"{{message}}","retryable":{{(retryable ? "true" : "false")}},"actor":{"type":"Account","id":"bob"} }
            """);

    public static string InDoubt(JsonElement transaction) => Envelope(transaction, "\"outcome\":\"inDoubt\"");

    public static string Rejected(JsonElement transaction, int status, string detail) =>
        Envelope(transaction, $$"""
            "outcome":"rejected","problem":{"status":{{status}},"title":"refused","detail":"{{detail}}" }
            """);

    public static string Envelope(JsonElement transaction, string rest) => $$"""{"id":{{transaction.GetProperty("id").GetRawText()}},{{rest}}}""";

    private static string Input(JsonElement transaction) => transaction.TryGetProperty("input", out var input) ? input.GetRawText() : "null";

    private async Task OnPost(HttpContext context)
    {
        Calls.Enqueue((context.Request.Path, context.Request.Headers["dapr-api-token"]));
        if (Name is not null)
        {
            context.Response.Headers["Snapper-Worker"] = Name;
        }

        using var body = await JsonDocument.ParseAsync(context.Request.Body);
        var transactions = body.RootElement.GetProperty("transactions").EnumerateArray().Select(t => t.Clone()).ToArray();
        lock (_script)
        {
            MaxUnderWay = Math.Max(MaxUnderWay, ++_underWay);
            Requests.Enqueue(transactions);
        }

        try
        {
            var exchange = new Exchange(this, context, transactions);
            await (_script.TryDequeue(out var step) ? step : Otherwise)(exchange);
        }
        finally
        {
            lock (_script)
            {
                _underWay--;
            }
        }
    }

    private Task OnMigrate(HttpContext context)
    {
        context.Response.StatusCode = 404;
        return OnMigration?.Invoke(context) ?? Task.CompletedTask;
    }

    private async Task OnGet(HttpContext context, string id)
    {
        Calls.Enqueue((context.Request.Path, context.Request.Headers["dapr-api-token"]));
        Asked.Enqueue(id);
        if (OnAsk is not null)
        {
            await OnAsk(context, id);
            return;
        }

        if (Executed.TryGetValue(id, out var envelope))
        {
            await context.Response.WriteAsync(envelope);
            return;
        }

        context.Response.StatusCode = 404;
        context.Response.ContentType = "application/problem+json";
    }

    /// <summary>One request with transactions, to be answered by a test.</summary>
    internal sealed class Exchange(FakeWorker worker, HttpContext context, JsonElement[] transactions)
    {
        public HttpContext Http => context;

        public JsonElement[] Transactions => transactions;

        /// <summary>Executes all and answers.</summary>
        public Task Answer() => Text(200, "{\"results\":[" + string.Join(',', ExecuteAll()) + "]}");

        /// <summary>Executes all; the connection breaks before the answer.</summary>
        public Task ExecuteThenDrop()
        {
            ExecuteAll();
            return Drop();
        }

        /// <summary>The connection breaks; nothing was executed.</summary>
        public Task Drop()
        {
            context.Abort();
            return Task.CompletedTask;
        }

        /// <summary>Answers each with an envelope, without executing it.</summary>
        public Task Each(Func<JsonElement, string> envelope) => Text(200, "{\"results\":[" + string.Join(',', transactions.Select(envelope)) + "]}");

        public Task Text(int status, string body, string? retryAfter = null)
        {
            context.Response.StatusCode = status;
            var isProblem = body.StartsWith("{\"detail\"", StringComparison.Ordinal);
            context.Response.ContentType = isProblem ? "application/problem+json" : null;
            if (retryAfter is not null)
            {
                context.Response.Headers.RetryAfter = retryAfter;
            }

            return context.Response.WriteAsync(body);
        }

        /// <summary>Promises more than it sends.</summary>
        public async Task Truncate()
        {
            var whole = Encoding.UTF8.GetBytes("{\"results\":[" + string.Join(',', ExecuteAll()) + "]}");
            context.Response.ContentLength = whole.Length;
            await context.Response.Body.WriteAsync(whole.AsMemory(0, whole.Length / 2));
            await context.Response.Body.FlushAsync();
            context.Abort();
        }

        /// <summary>Never answers, until the client goes away.</summary>
        public Task Hang()
        {
            var gone = new TaskCompletionSource();
            context.RequestAborted.Register(() => gone.TrySetResult());
            return gone.Task;
        }

        public string[] ExecuteAll() => [.. transactions.Select(t => worker.Executed.GetOrAdd(t.GetProperty("id").GetString()!, _ => worker.Execute(t)))];
    }
}
