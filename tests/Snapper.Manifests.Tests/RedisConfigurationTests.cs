using System.Diagnostics;
using System.Globalization;
using System.Net;
using System.Net.Sockets;
using Snapper.Cli.Supervision;
using Snapper.Server.Processes;
using Xunit;

namespace Snapper.Manifests.Tests;

/// <summary>A real Redis starts on the configuration that is mounted, and says of itself what workers demand.</summary>
public sealed class RedisConfigurationTests : IDisposable
{
    private static readonly TimeSpan Deadline = TimeSpan.FromSeconds(30);

    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("snapper-redis-conf-");

    public void Dispose() => _folder.Delete(recursive: true);

    [NeedsRedisTheory]
    [InlineData("components/redis", "768mb", "805306368")]
    [InlineData("overlays/production/redis", "6gb", "6442450944")]
    public async Task Redis_with_the_mounted_configuration_is_durable_evicts_nothing_and_wants_the_password(string folder, string written, string bytes)
    {
        var text = Tree.Read("k8s", folder, "redis.conf");
        Assert.Contains("maxmemory " + written, text, StringComparison.Ordinal);
        var login = Path.Combine(_folder.FullName, "auth.conf");
        await File.WriteAllTextAsync(login, "requirepass development");
        var file = Path.Combine(_folder.FullName, "redis.conf");

        // Only places differ from those in a pod: loopback, a free port, an own folder.
        var port = FreePort();
        await File.WriteAllTextAsync(file, text.Replace("bind * -::*", "bind 127.0.0.1", StringComparison.Ordinal).Replace("port 6379", $"port {port}", StringComparison.Ordinal)
            .Replace("dir /data", $"dir {_folder.FullName}", StringComparison.Ordinal).Replace("/run/secrets/snapper-redis/auth.conf", login, StringComparison.Ordinal));
        using var redis = Process.Start(new ProcessStartInfo(ServerPrograms.Redis(ExecutableFinder.System).Path!, [file]) { RedirectStandardOutput = true })!;
        try
        {
            using var connection = await Connect(new HostAndPort("127.0.0.1", port), redis);
            Assert.Contains("NOAUTH", Assert.ThrowsAny<Exception>(() => connection.Ask("GET", "x")).Message, StringComparison.Ordinal);
            Assert.Equal("OK", connection.Ask("AUTH", "development")[0]);
            foreach (var (name, value) in ((string, string)[])[("appendonly", "yes"), ("appendfsync", "always"), ("maxmemory-policy", "noeviction"), ("maxmemory", bytes), ("save", "")])
            {
                Assert.Equal([name, value], connection.Ask("CONFIG", "GET", name));
            }
        }
        finally
        {
            redis.Kill();
            await redis.WaitForExitAsync();
        }
    }

    private static async Task<RawRedis> Connect(HostAndPort address, Process redis)
    {
        for (var started = Stopwatch.GetTimestamp(); ;)
        {
            try
            {
                return await RawRedis.Connect(address, TimeSpan.FromSeconds(5));
            }
            catch (Exception problem) when (problem is SocketException or IOException && Stopwatch.GetElapsedTime(started) < Deadline)
            {
                Assert.False(redis.HasExited, redis.HasExited ? $"redis-server refuses its configuration: {await redis.StandardOutput.ReadToEndAsync()}" : "");
                await Task.Delay(20);
            }
        }
    }

    private static int FreePort()
    {
        using var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        return ((IPEndPoint)listener.LocalEndpoint).Port;
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
