using System.Text;
using StackExchange.Redis;

namespace Snapper.Storage.Redis;

/// <summary>How to reach Redis and how to name things there.</summary>
public sealed record RedisOptions
{
    /// <summary>Most <see cref="Replicas"/>.</summary>
    public const int ReplicasMax = 16;

    /// <summary>Shortest <see cref="ReplicaTimeout"/>.</summary>
    public static readonly TimeSpan ReplicaTimeoutMin = TimeSpan.FromMilliseconds(100);

    /// <summary>Longest <see cref="ReplicaTimeout"/>.</summary>
    public static readonly TimeSpan ReplicaTimeoutMax = TimeSpan.FromSeconds(60);

    // What the client library would ask of a server that it does not need to know; each would need a right.
    private static readonly CommandMap s_commands =
        CommandMap.Create(["CLUSTER", "SUBSCRIBE", "UNSUBSCRIBE"], available: false);

    /// <summary>Host name or address. Default: loopback.</summary>
    public string Host { get; init; } = "127.0.0.1";

    /// <summary>TCP port, 1..65535. Default: 6379.</summary>
    public int Port { get; init; } = 6379;

    /// <summary>User of Redis' access control lists; null: the default user.</summary>
    public string? User { get; init; }

    /// <summary>Password; null: none is sent.</summary>
    public string? Password { get; init; }

    /// <summary>Speak TLS. Default: no.</summary>
    public bool Tls { get; init; }

    /// <summary>With <see cref="Tls"/>: a PEM file with the authorities that may have signed the server's certificate; null: those that the machine trusts.</summary>
    public string? AuthorityFile { get; init; }

    /// <summary>What every key begins with. Without braces: those are for hash tags. Default: <c>snapper:</c>.</summary>
    public string KeyPrefix { get; init; } = "snapper:";

    /// <summary>How long a command may take before its effect counts as unknown; an append is then sent again. Large ones get a second more for each 8 MiB, reads of the log six times as long. Range: 100 ms to 60 s. Default: 5 s.</summary>
    public TimeSpan CommandTimeout { get; init; } = TimeSpan.FromSeconds(5);

    /// <summary>
    /// So many replicas must have what is acknowledged: a primary that ends takes nothing acknowledged with it while
    /// one of them takes its place. Range: 0 to <see cref="ReplicasMax"/>. Default: 0, they are not asked.
    /// </summary>
    public int Replicas { get; init; }

    /// <summary>
    /// How long an append waits for <see cref="Replicas"/> before its effect counts as unknown and it is sent again.
    /// Range: <see cref="ReplicaTimeoutMin"/> to <see cref="ReplicaTimeoutMax"/>. Default: 2 s.
    /// </summary>
    public TimeSpan ReplicaTimeout { get; init; } = TimeSpan.FromSeconds(2);

    /// <summary>How long making a connection may take.</summary>
    internal static TimeSpan ConnectTimeout { get; } = TimeSpan.FromSeconds(2);

    /// <summary>How often the client library looks for a server that is away. More often costs idle workers CPU.</summary>
    internal static TimeSpan Heartbeat { get; } = TimeSpan.FromMilliseconds(500);

    internal void Validate()
    {
        ArgumentException.ThrowIfNullOrWhiteSpace(Host);
        ArgumentOutOfRangeException.ThrowIfLessThan(Port, 1);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(Port, 65535);
        ArgumentOutOfRangeException.ThrowIfLessThan(CommandTimeout, TimeSpan.FromMilliseconds(100));
        ArgumentOutOfRangeException.ThrowIfGreaterThan(CommandTimeout, TimeSpan.FromSeconds(60));
        ArgumentOutOfRangeException.ThrowIfLessThan(Replicas, 0);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(Replicas, ReplicasMax);
        ArgumentOutOfRangeException.ThrowIfLessThan(ReplicaTimeout, ReplicaTimeoutMin);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(ReplicaTimeout, ReplicaTimeoutMax);
        if (AuthorityFile is not null)
        {
            RedisTrust.Read(AuthorityFile);
        }

        if (User is not null && Password is null)
        {
            throw new ArgumentException("A Redis user needs a password.");
        }

        if (KeyPrefix.AsSpan().IndexOfAny('{', '}') >= 0)
        {
            throw new ArgumentException($"The key prefix '{KeyPrefix}' holds a brace.");
        }
    }

    /// <summary>The client library's settings, for one server: no choice among several, no channel with news of them.</summary>
    internal ConfigurationOptions ToConfiguration(string clientName) => new()
    {
        EndPoints = { { Host, Port } },
        User = User,
        Password = Password,
        Ssl = Tls,
        SslClientAuthenticationOptions = Tls ? _ => RedisTrust.Client(this) : null,
        ClientName = clientName,
        SetClientLibrary = false,
        Protocol = RedisProtocol.Resp2,
        AllowAdmin = true, // INFO and CONFIG GET count as commands of administrators
        CommandMap = s_commands,
        TieBreaker = "",
        ConfigurationChannel = "",

        // A server that is away at the start is like one that goes away later: the writer tries until it is there.
        AbortOnConnectFail = false,
        ConnectTimeout = (int)ConnectTimeout.TotalMilliseconds,
        ReconnectRetryPolicy = new LinearRetry((int)Heartbeat.TotalMilliseconds / 2),
        HeartbeatInterval = Heartbeat,

        // A command is sent at once or fails: it never waits in this process for a server that comes back.
        BacklogPolicy = BacklogPolicy.FailFast,
        KeepAlive = 30,
        IncludeDetailInExceptions = false, // its state and the thread pool's, in sentences that operators read

        // Commands have a bound of their own, see RedisCommands; the longest of them must not end here.
        AsyncTimeout = (int)(RedisCommands.LargeFactor * CommandTimeout).TotalMilliseconds,
    };

    /// <summary>Never shows the password.</summary>
    private bool PrintMembers(StringBuilder text)
    {
        text.Append("Host = ").Append(Host).Append(", Port = ").Append(Port).Append(", Tls = ").Append(Tls).Append(", KeyPrefix = ").Append(KeyPrefix);
        return true;
    }
}
