using System.Collections.Concurrent;
using System.Diagnostics;
using System.Text.Json.Nodes;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Logging;
using Xunit;

namespace Snapper.Cli.Tests;

/// <summary>
/// A sidecar and a worker that answer as they do when nearly everything goes wrong: to the first order with each kind
/// of answer after which a caller goes on, to the second with an abort of the application, to the third with a refusal,
/// and to the fourth never.
/// </summary>
internal sealed class ScriptedDoor : IAsyncDisposable
{
    private static readonly (string Method, int Status, string? Body)[] s_first =
    [
        ("POST", 503, """{"type":"urn:snapper:unavailable","status":503,"detail":"starting","outcome":"rejected"}"""),
        ("POST", 409, """
            {"type":"urn:snapper:aborted","status":409,"outcome":"aborted",
             "abort":{"reason":"conflict","message":"an older one has the lock","retryable":true}}
            """),
        ("POST", 500, """{"errorCode":"ERR_DIRECT_INVOKE","message":"the sidecar cannot reach the worker"}"""),
        ("GET", 404, """{"type":"urn:snapper:not-found","status":404,"detail":"nothing is known of it"}"""),
        ("POST", 504, """{"type":"urn:snapper:in-doubt","status":504,"outcome":"inDoubt"}"""),
        ("GET", 503, """{"type":"urn:snapper:unavailable","status":503,"detail":"starting"}"""),
        ("GET", 200, """{"outcome":"running"}"""),
        ("GET", 0, null), // the connection breaks
        ("GET", 200, """{"outcome":"committed","mode":"pact","attempts":2,"result":{"total":9.00}}"""),
        ("POST", 200, """{"outcome":"committed","mode":"pact","attempts":2,"result":{"total":9.00}}"""), // the repeat
    ];

    private readonly WebApplication _app;
    private readonly ConcurrentDictionary<string, ConcurrentQueue<(string Method, string Body, long At)>> _asked = [];

    private ScriptedDoor(WebApplication app) => _app = app;

    public string Address => _app.Urls.First();

    public static async Task<ScriptedDoor> Start()
    {
        var builder = WebApplication.CreateSlimBuilder();
        builder.WebHost.UseUrls("http://127.0.0.1:0");
        builder.Logging.ClearProviders();
        var door = new ScriptedDoor(builder.Build());
        door._app.Map("/v1.0/invoke/orders/method/v1/transactions/{id?}", door.Answer);
        await door._app.StartAsync();
        return door;
    }

    /// <summary>What the caller sent to get there.</summary>
    public void Check(string caller)
    {
        var first = _asked[$"place-{caller}-1"].ToArray();
        Assert.Equal(s_first.Select(static step => step.Method), first.Select(static one => one.Method));
        var sent = first.Where(static one => one.Method == "POST")
            .Select(static one => WithoutTimeout(one.Body)).ToArray();
        Assert.All(sent, body => Assert.Equal(sent[0], body)); // the same request under the same id
        Assert.InRange(Stopwatch.GetElapsedTime(first[0].At, first[1].At).TotalSeconds, 1, 30); // Retry-After
        Assert.Single(_asked[$"place-{caller}-2"]);
        Assert.Single(_asked[$"place-{caller}-3"]);
        var doubt = _asked[$"place-{caller}-4"].ToArray();
        Assert.Equal("POST", doubt[0].Method);
        Assert.All(doubt[1..], static one => Assert.Equal("GET", one.Method));
        Assert.InRange(doubt.Length, 2, 40); // it asks, and does not hammer
    }

    public async ValueTask DisposeAsync() => await _app.DisposeAsync();

    private async Task Answer(HttpContext context, string? id)
    {
        var at = Stopwatch.GetTimestamp();
        using var reader = new StreamReader(context.Request.Body);
        var body = await reader.ReadToEndAsync();
        id ??= (string)JsonNode.Parse(body)!["id"]!;
        var asked = _asked.GetOrAdd(id, static _ => []);
        var step = asked.Count;
        asked.Enqueue((context.Request.Method, body, at));
        var (status, text) = id[^1] switch
        {
            '1' => (s_first[step].Status, s_first[step].Body),
            '2' => (409, """
                {"type":"urn:snapper:aborted","status":409,"outcome":"aborted","abort":{"reason":"application",
                 "message":"out_of_stock","retryable":false,"code":"out_of_stock","details":{"left":3}}}
                """),
            '3' => (400, """{"type":"urn:snapper:invalid-request","status":400,"detail":"input.lines is missing"}"""),
            _ => (504, """{"type":"urn:snapper:in-doubt","status":504,"outcome":"inDoubt"}"""),
        };
        if (text is null)
        {
            context.Abort();
            return;
        }

        context.Response.StatusCode = status;
        context.Response.ContentType = status == 200 ? "application/json" : "application/problem+json";
        if (status == 503) context.Response.Headers.RetryAfter = "1";
        await context.Response.WriteAsync(text);
    }

    private static string WithoutTimeout(string body)
    {
        var request = JsonNode.Parse(body)!.AsObject();
        Assert.InRange((int)request["timeoutMs"]!, 1, 30_000);
        request.Remove("timeoutMs");
        return request.ToJsonString();
    }
}
