using Snapper.Storage.States;
using StackExchange.Redis;

namespace Snapper.Storage.Redis;

/// <summary>How much of its memory a Redis uses, by its own count.</summary>
public static class RedisMemory
{
    /// <summary>Asks the server.</summary>
    /// <exception cref="RedisException">The server cannot be reached or refuses INFO.</exception>
    /// <exception cref="TimeoutException">It does not answer.</exception>
    public static async Task<StoreMemory> Read(RedisConnections connections, CancellationToken cancellation)
    {
        ArgumentNullException.ThrowIfNull(connections);
        var info = new Dictionary<string, string>(StringComparer.Ordinal);
        RedisDurability.Parse(
            (string?)await connections.State.Execute(cancellation, "INFO", "memory").ConfigureAwait(false), info);

        // Buffers of its append-only file and of replicas do not count against its limit.
        var uncounted = RedisDurability.Number(info, "mem_not_counted_for_evict");
        return new StoreMemory(
            RedisDurability.Number(info, "used_memory") - uncounted, RedisDurability.Number(info, "maxmemory"));
    }
}
