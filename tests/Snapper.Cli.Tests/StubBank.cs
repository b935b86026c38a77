using System.Text.Json.Nodes;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Logging;
using Snapper.Cli.Demo;

namespace Snapper.Cli.Tests;

/// <summary>A bank behind the service door, right or wrong on purpose, to test the demo that judges it.</summary>
internal sealed class StubBank : IAsyncDisposable
{
    private readonly WebApplication _app;
    private readonly Lock _lock = new();
    private readonly Dictionary<string, (decimal Checking, decimal Savings)> _accounts = new(StringComparer.Ordinal);
    private readonly Dictionary<string, JsonObject> _answers = new(StringComparer.Ordinal);
    private int _requests;

    private StubBank(WebApplication app) => _app = app;

    /// <summary>Added to what the receiver gets.</summary>
    public decimal Leak { get; init; }

    /// <summary>Nothing but Balance commits.</summary>
    public bool RefuseTransfers { get; init; }

    /// <summary>Every so many requests the transaction commits and the connection breaks before the answer; 0: never.</summary>
    public int BreakEvery { get; init; }

    /// <summary>What is answered to everything instead; null: what is right.</summary>
    public string? Garbage { get; init; }

    public int Broken { get; private set; }

    /// <summary>Balances are refused.</summary>
    public bool RefuseBalances { get; set; }

    /// <summary>Takes money out of the demo's first account before anybody looks.</summary>
    public void Lose(decimal amount) => _accounts[DemoSettings.Account(0)] = (10_000m - amount, 10_000m);

    public Uri Address => new(_app.Urls.First());

    public static async Task<StubBank> Start(decimal leak = 0, bool refuseTransfers = false, int breakEvery = 0, string? garbage = null)
    {
        var builder = WebApplication.CreateSlimBuilder();
        builder.Logging.ClearProviders();
        builder.WebHost.UseUrls("http://127.0.0.1:0");
        var app = builder.Build();
        var bank = new StubBank(app) { Leak = leak, RefuseTransfers = refuseTransfers, BreakEvery = breakEvery, Garbage = garbage };
        app.MapPost("/v1.0/invoke/snapper/method/v1/transactions", bank.Serve);
        app.MapGet("/v1.0/invoke/snapper/method/v1/transactions/{id}", bank.Find);
        await app.StartAsync();
        return bank;
    }

    public ValueTask DisposeAsync() => _app.DisposeAsync();

    private IResult Find(string id)
    {
        lock (_lock)
        {
            return Garbage is not null ? Results.Text(Garbage)
                : _answers.TryGetValue(id, out var answer) ? Results.Text(answer.ToJsonString(), "application/json")
                : Results.Problem(statusCode: 404);
        }
    }

    private async Task Serve(HttpContext context)
    {
        if (Garbage is not null)
        {
            await context.Response.WriteAsync(Garbage);
            return;
        }

        var body = (JsonObject)(await JsonNode.ParseAsync(context.Request.Body))!;
        JsonObject answer;
        lock (_lock)
        {
            answer = body["transactions"] is JsonArray many
                ? new JsonObject { ["results"] = new JsonArray([.. many.Select(t => Execute((JsonObject)t!).DeepClone())]) }
                : Execute(body);
            if (BreakEvery > 0 && ++_requests % BreakEvery == 0)
            {
                Broken++;
                context.Abort();
                return;
            }
        }

        if ((string?)answer["outcome"] == "aborted") context.Response.StatusCode = 409;
        await context.Response.WriteAsync(answer.ToJsonString());
    }

    private JsonObject Execute(JsonObject request)
    {
        var id = (string?)request["id"];
        if (id is not null && _answers.TryGetValue(id, out var before)) return before;
        var answer = Run(request);
        answer["id"] = id;
        if (id is not null) _answers[id] = answer;
        return answer;
    }

    private JsonObject Run(JsonObject request)
    {
        var from = (string)request["actor"]!["id"]!;
        var method = (string)request["method"]!;
        CheckDeclaration(request, from);
        var mine = Of(from);
        if (method == "Balance")
        {
            if (RefuseBalances) return Aborted("unavailable");
            return Committed(new JsonObject { ["checking"] = mine.Checking, ["savings"] = mine.Savings, ["total"] = mine.Checking + mine.Savings });
        }

        if (RefuseTransfers) return Aborted("failure");
        string[] to = request["input"]!["to"] is JsonArray several ? [.. several.Select(t => (string)t!)] : [(string)request["input"]!["to"]!];
        var amount = (decimal)request["input"]!["amount"]!;
        if (mine.Checking < amount * to.Length) return Aborted("application");
        _accounts[from] = mine with { Checking = mine.Checking - (amount * to.Length) };
        foreach (var receiver in to) _accounts[receiver] = Of(receiver) with { Checking = Of(receiver).Checking + amount + Leak };
        return Committed(_accounts[from].Checking);
    }

    private static void CheckDeclaration(JsonObject request, string root)
    {
        var declared = request["access"]?["Account"] as JsonObject;
        if ((string?)request["mode"] == "pact" != (declared?.ContainsKey(root) ?? false)) throw new InvalidOperationException($"mode and access contradict each other: {request}");
    }

    private (decimal Checking, decimal Savings) Of(string account) => _accounts.GetValueOrDefault(account, (10_000m, 10_000m));

    private static JsonObject Committed(JsonNode result) => new() { ["outcome"] = "committed", ["result"] = result };

    private static JsonObject Aborted(string reason) =>
        new() { ["outcome"] = "aborted", ["abort"] = new JsonObject { ["reason"] = reason, ["retryable"] = false } };

    /// <summary>A short demo against this bank.</summary>
    public async Task<(bool Passed, string Output)> Demo()
    {
        var output = new StringWriter();
        var settings = new DemoSettings { Accounts = 50, Concurrency = 4, PhaseLength = TimeSpan.FromMilliseconds(200), ReadWithin = TimeSpan.FromSeconds(2) };
        await using var client = new Bank(() => [Address], settings);
        var passed = await new DemoRun(settings, client, output).Run(CancellationToken.None);
        return (passed, output.ToString());
    }
}
