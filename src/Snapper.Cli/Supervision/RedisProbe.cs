using Snapper.AspNetCore.Processes;
using Snapper.Storage.Redis;
using StackExchange.Redis;

namespace Snapper.Cli.Supervision;

/// <summary>Asks a Redis whether and how it runs.</summary>
internal static class RedisProbe
{
    private const double NearlyFull = 0.9;
    private static readonly TimeSpan s_within = TimeSpan.FromSeconds(3);

    /// <summary>Null when it answers PING, otherwise why it cannot be used now.</summary>
    public static async Task<string?> Unavailable(HostAndPort address, RedisLogin? login = null)
    {
        var why = await RedisConnections.Unreachable(RedisLogin.At(address, login), s_within);
        return why is null ? null
            : why.Contains("NOAUTH", StringComparison.Ordinal)
                ? $"it asks for a password: set {RedisLogin.PasswordVariable}, or {RedisLogin.FileVariable} to a file that holds it"
            : why.Contains("WRONGPASS", StringComparison.Ordinal) ? "it refuses the password or the user"
            : why;
    }

    /// <summary>Reads what it says about itself; null: it may not be asked (INFO is not allowed).</summary>
    /// <exception cref="StartupException">The connection broke.</exception>
    public static async Task<RedisDurability?> Facts(HostAndPort address, RedisLogin? login = null)
    {
        try
        {
            await using var redis = await RedisConnections.Connect(RedisLogin.At(address, login));
            return await RedisDurability.Read(redis, CancellationToken.None);
        }
        catch (RedisServerException)
        {
            return null;
        }
        catch (Exception problem) when (problem is RedisException or TimeoutException)
        {
            throw new StartupException($"Redis at {address} cannot be used: {problem.Message.TrimEnd('.')}; {FixHints.NamedRedis}");
        }
    }

    /// <summary>Why it must not be used at all; null: it may be.</summary>
    public static string? Refusal(RedisDurability? facts) => facts is null ? null
        : facts.DeletesLastingKeys is true
            ? $"maxmemory-policy {facts.MaxMemoryPolicy} would delete the log and states when memory runs out; "
                + "set 'maxmemory-policy noeviction' there"
        : ServerPrograms.ParseVersion(facts.ServerVersion) < ServerPrograms.LeastRedis ? $"it is Redis {facts.ServerVersion}; {FixHints.NewerRedis}"
        : facts.IsReplica ? $"it is a replica, which takes no writes; {FixHints.Primary}"
        : null;

    /// <summary>What a user must know before trusting it with data; empty: nothing.</summary>
    /// <param name="facts">What it says of itself; null: nothing.</param>
    /// <param name="replicas">So many must have what workers acknowledge.</param>
    public static IEnumerable<string> Warnings(RedisDurability? facts, int replicas = 0)
    {
        if (facts is null)
        {
            yield return "it tells nothing of itself (INFO is not allowed); it must have 'appendonly yes' and 'maxmemory-policy noeviction'";
            yield break;
        }

        if (facts.CannotWrite)
        {
            yield return "its last write to its append-only file failed, so it takes no commits: look at its log, and give its disk room";
        }

        if (facts.ConnectedReplicas < replicas)
        {
            yield return $"Snapper:Log:Replicas is {replicas}, and it has {facts.ConnectedReplicas} connected: nothing "
                + "is acknowledged before it has so many; connect them, or lower the setting";
        }

        var (used, most) = (facts.UsedMemoryBytes, facts.MaxMemoryBytes);
        if (most > 0 && used > most * NearlyFull)
        {
            yield return $"its memory is nearly full ({used * 100 / most} % of maxmemory), and full it takes no commits: give it more";
        }

        if (facts.IsPausedByRewrite)
        {
            yield return "no-appendfsync-on-rewrite yes: while it rewrites its append-only file nothing goes to the disk, and a crash of its "
                + "machine may lose acknowledged commits; set 'no-appendfsync-on-rewrite no'";
        }
        else if (facts.Policy == RedisFlushPolicy.None)
        {
            yield return "it keeps no append-only file (appendonly no): acknowledged commits are lost when it stops; set 'appendonly yes'";
        }
        else if (!facts.IsPolicyCertain)
        {
            yield return "it does not tell how it flushes its append-only file (CONFIG is not allowed)";
        }
        else if (facts.Policy == RedisFlushPolicy.EverySecond)
        {
            yield return "appendfsync everysec: a crash of its machine may lose the last seconds of acknowledged commits; "
                + "'appendfsync always' keeps them";
        }

        if (facts.DeletesLastingKeys is null)
        {
            yield return "it does not tell its maxmemory-policy (CONFIG and INFO do not show it); it must be noeviction";
        }
        else if (most > 0 && facts.MaxMemoryPolicy != "noeviction")
        {
            yield return $"maxmemory-policy {facts.MaxMemoryPolicy} may delete outcomes of requests before their time when memory runs out; "
                + "set noeviction";
        }
    }
}
