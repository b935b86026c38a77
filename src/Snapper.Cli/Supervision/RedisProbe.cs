using System.Net.Sockets;
using Snapper.Server.Processes;

namespace Snapper.Cli.Supervision;

/// <summary>What a Redis says about itself.</summary>
/// <param name="Version">Its version, as text.</param>
/// <param name="Durability">always, everysec or none, in the words of the status request.</param>
/// <param name="MaxMemory">Bytes; 0: no limit.</param>
/// <param name="EvictionPolicy">What it does when memory runs out; anything but noeviction deletes something.</param>
internal sealed record RedisFacts(string Version, string Durability, long MaxMemory, string EvictionPolicy)
{
    private const double NearlyFull = 0.9;

    /// <summary>It copies another one, and takes no writes.</summary>
    public bool IsReplica { get; init; }

    /// <summary>Its last write of the append-only file failed: its disk is full, most likely. It takes no writes until one succeeds.</summary>
    public bool CannotWrite { get; init; }

    /// <summary>While it rewrites its append-only file nothing is flushed to the disk.</summary>
    public bool IsPausedByRewrite { get; init; }

    /// <summary>Bytes in use; 0: it does not tell.</summary>
    public long UsedMemory { get; init; }

    /// <summary>Its clock; null: it does not tell.</summary>
    public DateTimeOffset? Clock { get; init; }

    /// <summary>What a user must know before trusting it with data; empty: nothing.</summary>
    public IEnumerable<string> Warnings()
    {
        if (CannotWrite) yield return "its last write to its append-only file failed, so it takes no commits: look at its log, and give its disk room";
        if (MaxMemory > 0 && UsedMemory > MaxMemory * NearlyFull) yield return $"its memory is nearly full ({UsedMemory * 100 / MaxMemory} % of maxmemory), and full it takes no commits: give it more";
        if (IsPausedByRewrite) yield return "no-appendfsync-on-rewrite yes: while it rewrites its append-only file nothing goes to the disk, and a crash of its machine may lose acknowledged commits; set 'no-appendfsync-on-rewrite no'";
        else if (Durability == "none") yield return "it keeps no append-only file (appendonly no): acknowledged commits are lost when it stops; set 'appendonly yes'";
        if (Durability == "everysec") yield return "appendfsync everysec: a crash of its machine may lose the last seconds of acknowledged commits; 'appendfsync always' keeps them";
        if (Durability == "unknown") yield return "it does not tell whether it keeps an append-only file (CONFIG is not allowed)";
        if (EvictionPolicy == "unknown") yield return "it does not tell its maxmemory-policy (CONFIG and INFO are not allowed); it must be noeviction";
        else if (MaxMemory > 0 && EvictionPolicy != "noeviction") yield return $"maxmemory-policy {EvictionPolicy} may delete outcomes of requests before their time when memory runs out; set noeviction";
    }

    /// <summary>Why it must not be used at all; null: it may be.</summary>
    public string? Refusal() =>
        EvictionPolicy.StartsWith("allkeys-", StringComparison.Ordinal)
            ? $"maxmemory-policy {EvictionPolicy} would delete the log and states when memory runs out; set 'maxmemory-policy noeviction' there"
        : ServerPrograms.ParseVersion(Version) < ServerPrograms.LeastRedis ? $"it is Redis {Version}; {FixHints.NewerRedis}"
        : IsReplica ? $"it is a replica, which takes no writes; {FixHints.Primary}"
        : null;
}

/// <summary>Asks a Redis whether and how it runs.</summary>
internal static class RedisProbe
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(3);

    /// <summary>Null when it answers PING, otherwise why it cannot be used now.</summary>
    public static async Task<string?> Unavailable(HostAndPort address, CancellationToken cancellation, RedisLogin? login = null)
    {
        try
        {
            using var redis = await RedisConnection.Connect(address, Patience, cancellation, login);
            SignIn(redis, login);
            redis.Ask("PING");
            return null;
        }
        catch (RedisAnswerException answer) when (answer.Message.StartsWith("NOAUTH", StringComparison.Ordinal))
        {
            return $"it asks for a password: set {RedisLogin.PasswordVariable}, or {RedisLogin.FileVariable} to a file that holds it";
        }
        catch (RedisAnswerException answer) when (answer.Message.StartsWith("WRONGPASS", StringComparison.Ordinal))
        {
            return "it refuses the password or the user";
        }
        catch (Exception problem) when (problem is SocketException or IOException or TimeoutException or RedisAnswerException)
        {
            return problem.Message;
        }
    }

    /// <summary>Reads version, durability and memory limits of a Redis that answers; what it does not tell is <c>unknown</c>.</summary>
    /// <exception cref="StartupException">The connection broke.</exception>
    public static async Task<RedisFacts> Facts(HostAndPort address, CancellationToken cancellation, RedisLogin? login = null)
    {
        try
        {
            using var redis = await RedisConnection.Connect(address, Patience, cancellation, login);
            SignIn(redis, login);
            return Facts(redis);
        }
        catch (Exception problem) when (problem is SocketException or IOException or TimeoutException or RedisAnswerException)
        {
            throw new StartupException($"Redis at {address} cannot be used: {problem.Message.TrimEnd('.')}; {FixHints.NamedRedis}");
        }
    }

    private static void SignIn(RedisConnection redis, RedisLogin? login)
    {
        if (login?.Password is not { } password) return;
        try
        {
            _ = login.User is null ? redis.Ask("AUTH", password) : redis.Ask("AUTH", login.User, password);
        }
        catch (RedisAnswerException needless) when (needless.Message.Contains("without any password configured", StringComparison.Ordinal))
        {
            // It lets everybody in; a password too many is no reason to stay out.
        }
    }

    private static RedisFacts Facts(RedisConnection redis)
    {
        // Managed servers forbid CONFIG, some users may not even read INFO: then the fact is unknown, and that is what the caller says.
        IReadOnlyList<string> AskIfAllowed(params string[] command)
        {
            try
            {
                return redis.Ask(command);
            }
            catch (RedisAnswerException)
            {
                return [];
            }
        }

        string? Config(string name) => AskIfAllowed("CONFIG", "GET", name) is [_, var value] ? value : null;
        string? Info(string section, string name) => AskIfAllowed("INFO", section).FirstOrDefault("").Split('\n')
            .FirstOrDefault(l => l.StartsWith(name + ":", StringComparison.Ordinal))?.Trim()[(name.Length + 1)..];
        var version = Info("server", "redis_version") ?? "unknown";

        var pauses = Config("no-appendfsync-on-rewrite") == "yes";
        var durability = pauses ? "none" : (Config("appendonly"), Config("appendfsync")) switch
        {
            (null, _) or (_, null) => "unknown",
            ("yes", "always") => "always",
            ("yes", "everysec") => "everysec",
            _ => "none",
        };
        var clock = AskIfAllowed("TIME") is [var seconds, _] && long.TryParse(seconds, out var unix) ? DateTimeOffset.FromUnixTimeSeconds(unix) : (DateTimeOffset?)null;
        return new RedisFacts(version, durability, long.TryParse(Config("maxmemory"), out var bytes) ? bytes : 0, Config("maxmemory-policy") ?? Info("memory", "maxmemory_policy") ?? "unknown")
        {
            IsPausedByRewrite = pauses,
            IsReplica = Info("replication", "role") == "slave",
            CannotWrite = Info("persistence", "aof_last_write_status") == "err",
            UsedMemory = long.TryParse(Info("memory", "used_memory"), out var used) ? used : 0,
            Clock = clock,
        };
    }
}
