using System.Collections.Concurrent;
using System.Globalization;
using System.Net;
using System.Net.Http.Json;
using System.Text.Json.Nodes;
using Microsoft.Extensions.Logging;
using Snapper.Storage.Tests.Support;

namespace Snapper.AspNetCore.Tests;

/// <summary>A worker whose log counts on replicas of its Redis, and what it says when they are not there.</summary>
public sealed class ReplicasTests : IDisposable
{
    private readonly DirectoryInfo _data = Directory.CreateTempSubdirectory("snapper-replicas-");

    public void Dispose() => _data.Delete(recursive: true);

    [RedisFact]
    public async Task A_worker_says_at_its_start_and_in_its_health_that_replicas_are_missing_and_acknowledges_nothing()
    {
        await using var redis = await RedisServer.Start("--repl-diskless-sync-delay", "0");
        var lines = new ConcurrentQueue<string>();
        await using var app = WebApp.Create(
            _data.FullName, SnapperAspNetCoreTestsActors.All.Where(static type => type.Type == "Counter").ToArray(),
            builder => builder.Logging.AddProvider(new Lines(lines)),
            settings: new()
            {
                ["Snapper:Log"] = "Redis",
                ["Snapper:Redis"] = $"127.0.0.1:{redis.Port}",
                ["Snapper:Log:Replicas"] = "1",
                ["Snapper:Log:ReplicaTimeout"] = "00:00:00.300",
            });
        await app.Run();
        await Until(() => lines.Any(static line => line.Contains(
            "Snapper:Log:Replicas is 1, and the log snapper:{w1}:log in Redis at", StringComparison.Ordinal)));
        Assert.Contains(lines, static line => line.Contains("has 0 connected", StringComparison.Ordinal));
        await Until(async () => await NotReady(app) is { } why && why.Contains(
            "waiting for its log: Snapper:Log:Replicas is 1, and 0 replicas had the write", StringComparison.Ordinal));

        var primary = redis.Port.ToString(CultureInfo.InvariantCulture);
        await using var replica = await RedisServer.Start("--replicaof", "127.0.0.1", primary);
        await app.Served();
        await app.Commit("Counter", "a", "Add", 1);
        Assert.Null(await NotReady(app));

        replica.Pause();
        Assert.NotEqual("committed", (string?)(await Add(app, "t1", timeoutMs: 1000))?["outcome"]);
        await Until(async () => await NotReady(app) is { } why
            && why.Contains("Snapper:Log:Replicas is 1, and 0 replicas had the write", StringComparison.Ordinal));
        Assert.Contains(lines, static line => line.Contains(
            "Log unavailable: Snapper:Log:Replicas is 1, and 0 replicas had the write", StringComparison.Ordinal));

        replica.Continue();
        JsonNode? envelope = null;
        await Until(async () =>
        {
            envelope = await Add(app, "t1", timeoutMs: 10_000);
            return (string?)envelope?["outcome"] is "committed" or "aborted";
        });
        var counted = (int)await app.Commit("Counter", "a", "Add", 0);
        Assert.Equal((string?)envelope!["outcome"] == "committed" ? 2 : 1, counted);
    }

    [Theory]
    [InlineData("Replicas", "17", "Snapper:Log:Replicas must be 0 to 16, not 17")]
    [InlineData("Replicas", "-1", "Snapper:Log:Replicas must be 0 to 16, not -1")]
    [InlineData("Replicas", "many", "Replicas")]
    [InlineData("ReplicaTimeout", "00:00:00.050", "Snapper:Log:ReplicaTimeout must be 00:00:00.1000000 to 00:01:00")]
    [InlineData("Replicas", "1", "Snapper:Log:Replicas is 1, and the log is in files, which have no replicas")]
    public async Task A_wrong_setting_ends_the_start_and_is_named(string key, string value, string message)
    {
        var lines = new ConcurrentQueue<string>();
        var app = WebApp.Create(
            _data.FullName, SnapperAspNetCoreTestsActors.All.Where(static type => type.Type == "Counter").ToArray(),
            builder => builder.Logging.AddProvider(new Lines(lines)),
            settings: new() { [$"Snapper:Log:{key}"] = value });
        try
        {
            await using (app)
            {
                await app.Run();
                await Until(() => lines.Any(line => line.Contains(message, StringComparison.Ordinal)));
            }
        }
        finally
        {
            Environment.ExitCode = 0; // this process is the tests'
        }
    }

    private static async Task<string?> NotReady(WebApp app)
    {
        using var answer = await app.Client.GetAsync("/readyz");
        return answer.StatusCode == HttpStatusCode.OK ? null : await answer.Content.ReadAsStringAsync();
    }

    private static async Task<JsonNode?> Add(WebApp app, string id, int timeoutMs)
    {
        var actor = new { type = "Counter", id = "a" };
        using var answer = await app.Client.PostAsJsonAsync(
            "/v1/transactions", new { actor, method = "Add", input = 1, id, timeoutMs });
        return await answer.Content.ReadFromJsonAsync<JsonNode>();
    }

    private static Task Until(Func<bool> condition) => Until(() => Task.FromResult(condition()));

    private static async Task Until(Func<Task<bool>> condition)
    {
        using var limit = new CancellationTokenSource(TimeSpan.FromSeconds(30));
        while (!await condition()) await Task.Delay(20, limit.Token);
    }

    private sealed class Lines(ConcurrentQueue<string> lines) : ILoggerProvider, ILogger
    {
        public ILogger CreateLogger(string categoryName) => this;

        public IDisposable? BeginScope<TState>(TState state)
            where TState : notnull => null;

        public bool IsEnabled(LogLevel logLevel) => true;

        public void Log<TState>(
            LogLevel logLevel, EventId eventId, TState state, Exception? exception,
            Func<TState, Exception?, string> formatter) => lines.Enqueue($"{formatter(state, exception)} {exception}");

        public void Dispose()
        {
        }
    }
}

/// <summary>Needs redis-server: shown as not run where it is missing, failed where CI=true.</summary>
[AttributeUsage(AttributeTargets.Method)]
public sealed class RedisFactAttribute : FactAttribute
{
    public RedisFactAttribute() =>
        Skip = RedisServer.FindExecutable() is null && Environment.GetEnvironmentVariable("CI") != "true"
            ? RedisServer.NotFound : null;
}
