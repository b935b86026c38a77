using Snapper.Cli.Supervision;
using Snapper.Server.Processes;
using Xunit;

namespace Snapper.Manifests.Tests;

/// <summary>A real Redis starts by the command and on the files of its pod, and says of itself what workers demand.</summary>
public sealed class RedisConfigurationTests
{
    [NeedsRedisTheory]
    [InlineData("dev", "805306368")]
    [InlineData("production", "6442450944")]
    public async Task Redis_with_the_mounted_configuration_is_durable_evicts_nothing_and_wants_the_password(string overlay, string bytes)
    {
        await using var redis = await MountedRedis.Start(Rendered.Of(overlay));
        using var connection = await redis.Connect();
        Assert.Contains("NOAUTH", Assert.ThrowsAny<Exception>(() => connection.Ask("GET", "x")).Message, StringComparison.Ordinal);
        Assert.Equal("OK", connection.Ask("AUTH", MountedRedis.Password)[0]);
        foreach (var (name, value) in ((string, string)[])[("appendonly", "yes"), ("appendfsync", "always"), ("maxmemory-policy", "noeviction"), ("maxmemory", bytes), ("save", "")])
        {
            Assert.Equal([name, value], connection.Ask("CONFIG", "GET", name));
        }
    }
}

/// <summary>Shown as not run where there is no redis-server, failed where CI=true.</summary>
[AttributeUsage(AttributeTargets.Method)]
public sealed class NeedsRedisTheoryAttribute : TheoryAttribute
{
    public NeedsRedisTheoryAttribute()
    {
        var found = ServerPrograms.Redis(ExecutableFinder.System);
        if (found.Path is null && !string.Equals(Environment.GetEnvironmentVariable("CI"), "true", StringComparison.OrdinalIgnoreCase)) Skip = found.Finding;
    }
}
