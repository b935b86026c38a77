using System.Collections.Concurrent;
using System.Text.Json;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;

namespace Snapper.Dashboard.Tests.Fakes;

/// <summary>A worker that answers what a test says, so that pages can be seen in states that are hard to bring about. On loopback, at a free port.</summary>
internal sealed class ScriptedWorker : IAsyncDisposable
{
    private readonly WebApplication _app;
    private readonly ConcurrentDictionary<string, Func<object?>> _answers = new();

    private ScriptedWorker(WebApplication app) => _app = app;

    public Uri Url => new(_app.Urls.First());

    /// <summary>Path and query of each request, in order.</summary>
    public ConcurrentQueue<string> Asked { get; } = new();

    /// <summary>Method, path and <c>Authorization</c> of each request, in order.</summary>
    public ConcurrentQueue<string> Shown { get; } = new();

    /// <summary>Answered with 503 from now on.</summary>
    public bool Silent { get; set; }

    public static async Task<ScriptedWorker> Start(string name = "w1")
    {
        var builder = WebApplication.CreateSlimBuilder();
        builder.WebHost.UseUrls("http://127.0.0.1:0");
        var worker = new ScriptedWorker(builder.Build());
        worker._app.Run(worker.Answer);
        var started = Environment.TickCount64;
        worker.On("/v1/status", () => new { worker = name, pid = 4711, epoch = 3, dapr = "daprd", log = "redis", durability = "always", uptimeMs = 60_000 + Environment.TickCount64 - started, version = "0.1.0", committed = 0, aborted = 0 });
        worker.On("/readyz", () => new { status = "healthy", checks = new Dictionary<string, object> { ["log"] = new { healthy = true, detail = "redis" } } });
        await worker._app.StartAsync();
        return worker;
    }

    /// <summary>Answers a path, without its query, with an object as JSON.</summary>
    public ScriptedWorker On(string path, Func<object?> answer)
    {
        _answers[path] = answer;
        return this;
    }

    public ValueTask DisposeAsync() => _app.DisposeAsync();

    private Task Answer(HttpContext context)
    {
        Asked.Enqueue(context.Request.Path + context.Request.QueryString.ToString());
        Shown.Enqueue($"{context.Request.Method} {context.Request.Path} {context.Request.Headers.Authorization}");
        if (Silent)
        {
            context.Response.StatusCode = 503;
            return context.Response.WriteAsync("""{"detail":"starting"}""");
        }

        if (_answers.TryGetValue(context.Request.Path, out var answer) && answer() is { } body) return context.Response.WriteAsJsonAsync(body, JsonSerializerOptions.Web);
        context.Response.StatusCode = 404;
        return Task.CompletedTask;
    }
}
