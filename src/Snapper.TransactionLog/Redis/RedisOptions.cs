using System.Text;
using StackExchange.Redis;

namespace Snapper.TransactionLog.Redis;

/// <summary>How to reach Redis and how to name things there.</summary>
public sealed record RedisOptions
{
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

    /// <summary>How long making a connection may take.</summary>
    internal static TimeSpan ConnectTimeout { get; } = TimeSpan.FromSeconds(2);

    /// <summary>The client library that this was built with can sign in as a user that is not the default one.</summary>
    public static bool KnowsUsers
    {
        get
        {
            try
            {
                ConfigurationOptions.Parse("user=somebody");
                return true;
            }
            catch (ArgumentException)
            {
                return false;
            }
        }
    }

    internal void Validate()
    {
        ArgumentException.ThrowIfNullOrWhiteSpace(Host);
        ArgumentOutOfRangeException.ThrowIfLessThan(Port, 1);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(Port, 65535);
        ArgumentOutOfRangeException.ThrowIfLessThan(CommandTimeout, TimeSpan.FromMilliseconds(100));
        ArgumentOutOfRangeException.ThrowIfGreaterThan(CommandTimeout, TimeSpan.FromSeconds(60));
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

    /// <summary>The client library gets there only through a <see cref="RedisTunnel"/>.</summary>
    internal bool NeedsTunnel => Tls || (User is not null && !KnowsUsers);

    internal ConfigurationOptions ToConfiguration(string clientName, RedisTunnel? tunnel)
    {
        var configuration = tunnel is null ? WithUser() : new ConfigurationOptions();

        // A server that is away at the start is like one that goes away later: the writer tries until it is there.
        configuration.AbortOnConnectFail = false;
        configuration.ClientName = clientName;
        configuration.ConnectTimeout = (int)ConnectTimeout.TotalMilliseconds;
        configuration.ConnectRetry = 3;

        // One server: there is no other to choose, and nothing to be told of. Each of them would need a right of its own.
        configuration.TieBreaker = "";
        configuration.ConfigurationChannel = "";
        configuration.KeepAlive = 30;
        configuration.SyncTimeout = (int)CommandTimeout.TotalMilliseconds;
        configuration.Password = tunnel is null ? Password : tunnel.Password;
        if (tunnel is null) configuration.EndPoints.Add(Host, Port);
        else configuration.EndPoints.Add(System.Net.IPAddress.Loopback, tunnel.Port);
        return configuration;
    }

    private ConfigurationOptions WithUser()
    {
        if (User is null)
        {
            return new ConfigurationOptions();
        }

        if (User.AsSpan().IndexOfAny(',', '=') >= 0)
        {
            throw new ArgumentException("A Redis user name with ',' or '=' cannot be given.");
        }

        try
        {
            // As text, because only newer clients have a property for it; the older ones say here that they know no users.
            return ConfigurationOptions.Parse("user=" + User);
        }
        catch (ArgumentException error)
        {
            throw new NotSupportedException("This version of the Redis client knows no user names: give Redis' default user a password instead.", error);
        }
    }

    /// <summary>Never shows the password.</summary>
    private bool PrintMembers(StringBuilder text)
    {
        text.Append("Host = ").Append(Host).Append(", Port = ").Append(Port).Append(", Tls = ").Append(Tls).Append(", KeyPrefix = ").Append(KeyPrefix);
        return true;
    }
}
