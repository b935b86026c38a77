using System.Collections.Concurrent;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Logging;
using Snapper.AspNetCore.Api;

namespace Snapper.Cli.Tests;

/// <summary>Answers operators as a worker would, with what the test says. Each path has answers that are given in turn; the last one is given again and again.</summary>
internal sealed class StubWorker : IAsyncDisposable
{
    private readonly WebApplication _web;
    private readonly Dictionary<string, Queue<(int Status, string Json)>> _answers = new(StringComparer.Ordinal);
    private readonly Lock _gate = new();

    private StubWorker(WebApplication web) => _web = web;

    public string Url => _web.Urls.Single();

    /// <summary>What was asked: method, path and token.</summary>
    public ConcurrentQueue<(string What, string? Token)> Asked { get; } = new();

    /// <summary>The bodies that came, in order.</summary>
    public ConcurrentQueue<string> Bodies { get; } = new();

    /// <summary>The token that must be there; null: none.</summary>
    public string? Token { get; init; }

    public static async Task<StubWorker> Start(string? token = null, int port = 0)
    {
        var builder = WebApplication.CreateSlimBuilder();
        builder.Logging.ClearProviders();
        builder.WebHost.ConfigureKestrel(server => ApiListener.Listen(server, System.Net.IPAddress.Loopback, port));
        var web = builder.Build();
        var stub = new StubWorker(web) { Token = token };
        web.Run(stub.Answer);
        await web.StartAsync();
        return stub;
    }

    /// <summary>Adds an answer to a question such as <c>GET /v1/workers</c>.</summary>
    public StubWorker Says(string what, int status, string json)
    {
        lock (_gate)
        {
            if (!_answers.TryGetValue(what, out var answers)) _answers.Add(what, answers = new());
            answers.Enqueue((status, json));
        }

        return this;
    }

    public async ValueTask DisposeAsync() => await _web.DisposeAsync();

    private async Task Answer(HttpContext context)
    {
        var what = $"{context.Request.Method} {context.Request.Path}";
        var token = (string?)context.Request.Headers["dapr-api-token"];
        using var reader = new StreamReader(context.Request.Body);
        if (await reader.ReadToEndAsync() is { Length: > 0 } body) Bodies.Enqueue(body);
        Asked.Enqueue((what, token));
        var (status, json) = Token is not null && Token != token ? (401, """{"status":401,"detail":"The header dapr-api-token is missing or wrong."}""") : Next(what);
        context.Response.StatusCode = status;
        context.Response.ContentType = "application/json";
        await context.Response.WriteAsync(json);
    }

    private (int Status, string Json) Next(string what)
    {
        lock (_gate)
        {
            if (!_answers.TryGetValue(what, out var answers)) return (404, $$"""{"status":404,"detail":"nothing was said of {{what}}"}""");
            return answers.Count > 1 ? answers.Dequeue() : answers.Peek();
        }
    }
}
