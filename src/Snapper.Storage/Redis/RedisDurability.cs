using System.Globalization;
using StackExchange.Redis;

namespace Snapper.Storage.Redis;

/// <summary>When Redis has an acknowledged write on disk.</summary>
public enum RedisFlushPolicy : byte
{
    /// <summary>No append-only file, or one that is flushed when the operating system likes: a crash may lose acknowledged commits.</summary>
    None,

    /// <summary>Every second: a crash may lose the last seconds.</summary>
    EverySecond,

    /// <summary>Before the answer: an acknowledged commit survives a crash.</summary>
    Always,
}

/// <summary>What a Redis server says about itself.</summary>
public sealed record RedisDurability
{
    private const string Unknown = "unknown";

    /// <summary>How durable an acknowledged append is. When the server hides its configuration, the weaker of what is possible.</summary>
    public required RedisFlushPolicy Policy { get; init; }

    /// <summary>While it rewrites its append-only file nothing is flushed (<c>no-appendfsync-on-rewrite yes</c>), whatever it does otherwise.</summary>
    public bool IsPausedByRewrite { get; init; }

    /// <summary>False: the server refused CONFIG, and <see cref="Policy"/> comes from INFO alone.</summary>
    public required bool IsPolicyCertain { get; init; }

    /// <summary>Limit in bytes; 0: none.</summary>
    public required long MaxMemoryBytes { get; init; }

    /// <summary>What happens at the limit; anything but <c>noeviction</c> loses data.</summary>
    public required string MaxMemoryPolicy { get; init; }

    /// <summary>
    /// Whether the server deletes keys that have no expiry, the log and states among them, when memory runs out; null: it does not tell.
    /// </summary>
    public bool? DeletesLastingKeys => MaxMemoryPolicy == Unknown ? null : MaxMemoryPolicy.StartsWith("allkeys-", StringComparison.Ordinal);

    /// <summary>Bytes in use.</summary>
    public required long UsedMemoryBytes { get; init; }

    /// <summary>Memory of its machine in bytes; 0: it does not tell.</summary>
    public required long SystemMemoryBytes { get; init; }

    /// <summary>Differs after each start of the server.</summary>
    public required string RunId { get; init; }

    /// <summary>How many replicas are connected to it.</summary>
    public int ConnectedReplicas { get; init; }

    /// <summary>It copies another one, and takes no writes.</summary>
    public bool IsReplica { get; init; }

    /// <summary>
    /// Its last write of the append-only file failed: its disk is full, most likely. It takes no writes until one
    /// succeeds.
    /// </summary>
    public bool CannotWrite { get; init; }

    /// <summary>Its clock, to a second; null: it does not tell.</summary>
    public DateTimeOffset? Clock { get; init; }

    /// <summary>Process id on its machine.</summary>
    public required int ProcessId { get; init; }

    /// <summary>E.g. <c>7.0.15</c>.</summary>
    public required string ServerVersion { get; init; }

    /// <summary>Asks the server.</summary>
    /// <exception cref="RedisException">The server cannot be reached or refuses INFO.</exception>
    /// <exception cref="TimeoutException">It does not answer.</exception>
    public static async Task<RedisDurability> Read(RedisConnections connections, CancellationToken cancellation)
    {
        ArgumentNullException.ThrowIfNull(connections);
        var commands = connections.State;
        var info = new Dictionary<string, string>(StringComparer.Ordinal);
        foreach (var section in new[] { "server", "memory", "persistence", "replication" })
        {
            Parse((string?)await commands.Execute(cancellation, "INFO", section).ConfigureAwait(false), info);
        }

        var appendOnly = await Setting(commands, "appendonly", cancellation).ConfigureAwait(false);
        var appendSync = await Setting(commands, "appendfsync", cancellation).ConfigureAwait(false);
        var pauses = await Setting(commands, "no-appendfsync-on-rewrite", cancellation).ConfigureAwait(false) == "yes";
        var facts = new RedisDurability
        {
            Policy = pauses ? RedisFlushPolicy.None : PolicyOf(appendOnly ?? (info.GetValueOrDefault("aof_enabled") == "1" ? "yes" : "no"), appendSync),
            IsPausedByRewrite = pauses,
            IsPolicyCertain = appendOnly is not null && appendSync is not null,
            MaxMemoryBytes = Number(info, "maxmemory"),
            MaxMemoryPolicy = info.GetValueOrDefault("maxmemory_policy") ?? await Setting(commands, "maxmemory-policy", cancellation).ConfigureAwait(false) ?? Unknown,
            UsedMemoryBytes = Number(info, "used_memory"),
            SystemMemoryBytes = Number(info, "total_system_memory"),
            RunId = info.GetValueOrDefault("run_id", ""),
            ProcessId = (int)Number(info, "process_id"),
            ServerVersion = info.GetValueOrDefault("redis_version", Unknown),
            ConnectedReplicas = (int)Number(info, "connected_slaves"),
            IsReplica = info.GetValueOrDefault("role") == "slave",
            CannotWrite = info.GetValueOrDefault("aof_last_write_status") == "err",
            Clock = Number(info, "server_time_usec") is > 0 and var time
                ? DateTimeOffset.FromUnixTimeMilliseconds(time / 1000) : null,
        };
        connections.Replicas.Note(facts);
        return facts;
    }

    private static RedisFlushPolicy PolicyOf(string appendOnly, string? appendSync) => (appendOnly, appendSync) switch
    {
        ("yes", "always") => RedisFlushPolicy.Always,
        ("yes", "everysec" or null) => RedisFlushPolicy.EverySecond,
        _ => RedisFlushPolicy.None,
    };

    private static async Task<string?> Setting(RedisCommands commands, string name, CancellationToken cancellation)
    {
        try
        {
            var answer = (RedisValue[]?)await commands.Execute(cancellation, "CONFIG", "GET", name).ConfigureAwait(false);
            return answer is { Length: 2 } ? (string?)answer[1] : null;
        }
        catch (RedisServerException)
        {
            // Renamed or not allowed: INFO has to do.
            return null;
        }
    }

    internal static void Parse(string? info, Dictionary<string, string> into)
    {
        foreach (var line in (info ?? "").Split('\n', StringSplitOptions.TrimEntries | StringSplitOptions.RemoveEmptyEntries))
        {
            var colon = line.IndexOf(':', StringComparison.Ordinal);
            if (colon > 0 && line[0] != '#')
            {
                into[line[..colon]] = line[(colon + 1)..];
            }
        }
    }

    internal static long Number(Dictionary<string, string> info, string name) =>
        long.TryParse(info.GetValueOrDefault(name), NumberStyles.None, CultureInfo.InvariantCulture, out var number) ? number : 0;
}
