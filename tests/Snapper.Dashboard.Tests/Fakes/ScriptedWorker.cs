using System.Collections.Concurrent;
using System.Text.Json;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Logging;

namespace Snapper.Dashboard.Tests.Fakes;

/// <summary>What a scripted worker has at <c>/v1/events</c>.</summary>
internal enum EventsOf
{
    /// <summary>404.</summary>
    Nothing,

    /// <summary>Its own events, whatever was asked for.</summary>
    Itself,

    /// <summary>The views that were asked for, every 100 ms those that have changed.</summary>
    Views,
}

/// <summary>A worker that answers what a test says, so that pages can be seen in states that are hard to bring about. On loopback, at a free port.</summary>
internal sealed class ScriptedWorker : IAsyncDisposable
{
    private readonly WebApplication _app;
    private readonly ConcurrentDictionary<string, Func<object?>> _answers = new();

    private int _open;
    private int _looks;

    private ScriptedWorker(WebApplication app) => _app = app;

    public Uri Url => new(_app.Urls.First());

    /// <summary>Path and query of each request, in order.</summary>
    public ConcurrentQueue<string> Asked { get; } = new();

    /// <summary>Method, path and <c>Authorization</c> of each request, in order.</summary>
    public ConcurrentQueue<string> Shown { get; } = new();

    /// <summary>The token of the sidecar that each request for events shows, in order.</summary>
    public ConcurrentQueue<string> AppTokens { get; } = new();

    /// <summary>Answered with 503 from now on; streams are broken off.</summary>
    public bool Silent { get; set; }

    /// <summary>Nothing is answered and told from now on, and no connection is closed.</summary>
    public bool Hangs { get; set; }

    /// <summary>What it has at <c>/v1/events</c>.</summary>
    public EventsOf Events { get; init; }

    /// <summary>Streams that are open.</summary>
    public int Open => Volatile.Read(ref _open);

    /// <summary>How often streams have looked at their views.</summary>
    public int Looks => Volatile.Read(ref _looks);

    public static async Task<ScriptedWorker> Start(string name = "w1", EventsOf events = EventsOf.Nothing)
    {
        var builder = WebApplication.CreateSlimBuilder();
        builder.WebHost.UseUrls("http://127.0.0.1:0");
        builder.Logging.SetMinimumLevel(LogLevel.Warning);
        var worker = new ScriptedWorker(builder.Build()) { Events = events };
        worker._app.Run(worker.Answer);
        var started = Environment.TickCount64;
        worker.On("/v1/status", () => new { worker = name, pid = 4711, epoch = 3, dapr = "daprd", log = "redis", durability = "always", uptimeMs = 60_000 + Environment.TickCount64 - started, version = "0.1.0", committed = 0, aborted = 0 });
        worker.On("/readyz", () => new { status = "healthy", checks = new Dictionary<string, object> { ["log"] = new { healthy = true, detail = "redis" } } });
        await worker._app.StartAsync();
        return worker;
    }

    /// <summary>What no worker answers; it fails the test when the worker is disposed.</summary>
    public ConcurrentQueue<string> Invented { get; } = new();

    /// <summary>Why a path with its query is refused, with <see cref="Status"/>; null: it is not.</summary>
    public Func<string, string?> Refuses { get; set; } = _ => null;

    /// <summary>Of what is refused.</summary>
    public int Status { get; set; } = 400;

    /// <summary>Answers a path, without its query and perhaps with a method before it, with an object as JSON, which has fields of real workers alone.</summary>
    public ScriptedWorker On(string path, Func<object?> answer)
    {
        _answers[path] = answer;
        return this;
    }

    public async ValueTask DisposeAsync()
    {
        await _app.DisposeAsync();
        Assert.True(Invented.IsEmpty, "No worker answers " + string.Join(", ", Invented.Distinct()));
    }

    private async Task Answer(HttpContext context)
    {
        Asked.Enqueue(context.Request.Path + context.Request.QueryString.ToString());
        Shown.Enqueue($"{context.Request.Method} {context.Request.Path} {context.Request.Headers.Authorization}");
        if (Hangs) await Task.Delay(Timeout.Infinite, context.RequestAborted);
        if (context.Request.Path == "/v1/events" && Events != EventsOf.Nothing && !Silent)
        {
            await Tell(context);
            return;
        }

        var (status, body) = Look(context.Request.Path + context.Request.QueryString.ToString(), context.Request.Method);
        context.Response.StatusCode = status;
        context.Response.ContentType = "application/json";
        await context.Response.WriteAsync(body);
    }

    private (int Status, string Body) Look(string view, string method = "GET")
    {
        var path = view.Split('?')[0];
        if (Silent) return (503, """{"detail":"starting"}""");
        if (Refuses(view) is { } why) return (Status, JsonSerializer.Serialize(new { detail = why }));
        if (!_answers.TryGetValue($"{method} {path}", out var answer) && !_answers.TryGetValue(path, out answer)) return (404, "");
        if (answer() is not { } body) return (404, "");
        var json = JsonSerializer.SerializeToElement(body, JsonSerializerOptions.Web);
        foreach (var field in method != "GET" ? [] : ApiDescription.Unknown(path, json)) Invented.Enqueue(field);
        return (200, json.GetRawText());
    }

    private async Task Tell(HttpContext context)
    {
        AppTokens.Enqueue(context.Request.Headers["dapr-api-token"].ToString());
        context.Response.ContentType = "text/event-stream";
        Interlocked.Increment(ref _open);
        try
        {
            var told = new Dictionary<string, (int, string)>();
            while (!Silent)
            {
                if (Events == EventsOf.Itself) await context.Response.WriteAsync($"event: status\ndata: {Look("/v1/status").Body}\n\n");
                foreach (var view in Hangs || Events == EventsOf.Itself ? [] : context.Request.Query["view"].OfType<string>().ToArray())
                {
                    var (status, body) = Look(view);
                    if (told.TryGetValue(view, out var before) && before == (status, body)) continue;
                    told[view] = (status, body);
                    await context.Response.WriteAsync($$"""event: view{{"\n"}}data: {"view":{{JsonSerializer.Serialize(view)}},"status":{{status}},"body":{{(body.Length > 0 ? body : "null")}}}{{"\n\n"}}""");
                }

                await context.Response.Body.FlushAsync();
                Interlocked.Increment(ref _looks);
                await Task.Delay(100, context.RequestAborted);
            }

            context.Abort();
        }
        catch (OperationCanceledException)
        {
            // The reader has gone.
        }
        finally
        {
            Interlocked.Decrement(ref _open);
        }
    }
}
