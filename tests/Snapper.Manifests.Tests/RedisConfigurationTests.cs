using System.Security.Cryptography;
using System.Text;
using Snapper.AspNetCore.Processes;
using Snapper.Cli.Supervision;
using Xunit;

namespace Snapper.Manifests.Tests;

/// <summary>A real Redis starts by the command and on the files of its pod, and is what workers demand.</summary>
public sealed class RedisConfigurationTests
{
    [NeedsRedisTheory]
    [InlineData("dev", "805306368")]
    [InlineData("production", "6442450944")]
    public async Task Redis_with_the_mounted_configuration_is_durable_and_evicts_nothing(string overlay, string bytes)
    {
        await using var redis = await MountedRedis.Start(Rendered.Of(overlay));
        using var connection = await redis.Connect();
        Assert.Equal("OK", connection.Ask("AUTH", "snapper", MountedRedis.Password)[0]);
        (string, string)[] settings =
        [
            ("appendonly", "yes"), ("appendfsync", "always"), ("save", ""),
            ("maxmemory-policy", "noeviction"), ("maxmemory", bytes),
        ];
        foreach (var (name, value) in settings)
        {
            Assert.Equal([name, value], connection.Ask("CONFIG", "GET", name));
        }
    }

    [NeedsRedisFact]
    public async Task Strangers_are_let_in_to_nothing()
    {
        await using var redis = await MountedRedis.Start(Rendered.Of("dev"));
        using var connection = await redis.Connect();
        AllRefused("NOAUTH", connection, "PING", "GET x", "INFO", "CONFIG GET *", "ACL LIST");
        Refused("WRONGPASS", connection, "AUTH", MountedRedis.Password);
        Refused("WRONGPASS", connection, "AUTH", "default", MountedRedis.Password);
        Refused("WRONGPASS", connection, "AUTH", "default", "");
        Refused("WRONGPASS", connection, "AUTH", "snapper", "PASSWORD");
        Refused("WRONGPASS", connection, "AUTH", "snapper", "none");
    }

    [NeedsRedisFact]
    public async Task Workers_reach_their_keys_and_nothing_of_the_server()
    {
        await using var redis = await MountedRedis.Start(Rendered.Of("dev"));
        using var connection = await redis.Connect();
        connection.Ask("AUTH", "snapper", MountedRedis.Password);
        Assert.Equal("1", connection.Ask("HSET", "snapper:x", "a", "b")[0]);
        Refused("NOPERM", connection, "HSET", "other", "a", "b");
        AllRefused("NOPERM", connection, "FLUSHALL", "CONFIG SET appendonly no", "ACL LIST", "SHUTDOWN", "KEYS *");
        AllRefused("NOPERM", connection, "SCRIPT FLUSH", "GET snapper:x", "DEL other");
    }

    [NeedsRedisFact]
    public async Task Probes_ask_whether_it_answers_and_may_ask_nothing_else()
    {
        await using var redis = await MountedRedis.Start(Rendered.Of("production"));
        foreach (var name in (string[])["startupProbe", "readinessProbe", "livenessProbe"])
        {
            var (code, said) = await redis.Probe(name);
            Assert.True(code == 0, $"{name}: {said}");
        }

        using var connection = await redis.Connect();
        connection.Ask("AUTH", "probe", "none");
        Assert.Equal("PONG", connection.Ask("PING")[0]);
        AllRefused("NOPERM", connection, "INFO", "HGETALL snapper:x", "SCAN 0", "CONFIG GET *", "EVAL return 0");
    }

    [NeedsRedisFact]
    public async Task The_password_is_in_no_file_of_Redis_and_in_no_command_line()
    {
        await using var redis = await MountedRedis.Start(Rendered.Of("dev"));
        var list = redis.Here("/run/snapper-redis/users.acl");
        var text = await File.ReadAllTextAsync(list);
        Assert.DoesNotContain(MountedRedis.Password, text, StringComparison.Ordinal);
        var hash = Convert.ToHexStringLower(SHA256.HashData(Encoding.UTF8.GetBytes(MountedRedis.Password)));
        Assert.Contains($" #{hash} ", text, StringComparison.Ordinal);
        const UnixFileMode own = UnixFileMode.UserRead | UnixFileMode.UserWrite;
        if (!OperatingSystem.IsWindows()) Assert.Equal(own, File.GetUnixFileMode(list));
        Assert.DoesNotContain(MountedRedis.Password, redis.CommandLine, StringComparison.Ordinal);
        Assert.DoesNotContain(MountedRedis.Password, redis.Environment, StringComparison.Ordinal);
    }

    [NeedsRedisTheory]
    [InlineData("")]
    [InlineData("\n")]
    public async Task Without_a_password_it_does_not_start(string password)
    {
        var refused = await Assert.ThrowsAsync<InvalidOperationException>(
            () => MountedRedis.Start(Rendered.Of("dev"), password));
        Assert.Contains("The secret snapper-redis has no password.", refused.Message, StringComparison.Ordinal);
    }

    /// <summary>What a secret made by a pipe ends with; the worker leaves it out, too.</summary>
    [NeedsRedisFact]
    public async Task A_newline_at_the_end_of_the_password_is_not_part_of_it()
    {
        await using var redis = await MountedRedis.Start(Rendered.Of("dev"), "a / b & c\\d\n");
        using var connection = await redis.Connect();
        Assert.Equal("OK", connection.Ask("AUTH", "snapper", "a / b & c\\d")[0]);
    }

    private static void AllRefused(string error, RawRedis connection, params string[] commands)
    {
        foreach (var command in commands) Refused(error, connection, command.Split(' '));
    }

    private static void Refused(string error, RawRedis connection, params string[] command)
    {
        var refused = Assert.ThrowsAny<Exception>(() => connection.Ask(command));
        Assert.StartsWith(error, refused.Message, StringComparison.Ordinal);
    }
}

/// <summary>As <see cref="NeedsRedisTheoryAttribute"/>, for one case.</summary>
[AttributeUsage(AttributeTargets.Method)]
public sealed class NeedsRedisFactAttribute : FactAttribute
{
    public NeedsRedisFactAttribute() => Skip = new NeedsRedisTheoryAttribute().Skip;
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
