using System.Globalization;
using Snapper.Storage.Redis;

namespace Snapper.Benchmarks.Systems;

/// <summary>A Redis of its own for what runs inside this process: <c>appendonly yes</c>, <c>appendfsync always</c>, loopback only.</summary>
public sealed class RedisServer : IAsyncDisposable
{
    /// <summary>What the reports say of its durability.</summary>
    public const string Durability = "appendonly yes, appendfsync always";

    private readonly ChildProcess _process;
    private readonly int _port;

    private RedisServer(ChildProcess process, int port)
    {
        _process = process;
        _port = port;
    }

    /// <summary>Its process id.</summary>
    public int Id => _process.Id;

    /// <summary>Starts it and waits until it takes connections.</summary>
    /// <param name="folder">A folder of its own, empty; the caller deletes it.</param>
    /// <exception cref="InvalidOperationException">It does not start.</exception>
    public static async Task<RedisServer> StartAsync(string folder)
    {
        var port = Ports.Free();
        var process = ChildProcess.Start(
            "redis-server",
            ServerTools.RedisServer(),
            [
                "--port", port.ToString(CultureInfo.InvariantCulture), "--bind", "127.0.0.1", "--dir", folder, "--save", "",
                "--appendonly", "yes", "--appendfsync", "always",
            ]);
        try
        {
            await process.WaitForLineAsync(static line => line.Contains("Ready to accept connections", StringComparison.Ordinal), TimeSpan.FromSeconds(20), "its ready line");
        }
        catch
        {
            await process.DisposeAsync();
            throw;
        }

        return new RedisServer(process, port);
    }

    /// <summary>Connections to it; the caller disposes them first.</summary>
    public Task<RedisConnections> ConnectAsync() => RedisConnections.Connect(new RedisOptions { Port = _port });

    /// <inheritdoc />
    public ValueTask DisposeAsync() => _process.DisposeAsync();
}
