using System.Globalization;
using System.Text;
using Snapper.AspNetCore.Processes;
using Snapper.Storage.Redis;
using StackExchange.Redis;

namespace Snapper.Cli.Importing;

/// <summary>
/// What Dapr's state store for Redis keeps of actors: a hash for each state, with the fields data and version.
/// </summary>
internal sealed class DaprStore : IAsyncDisposable
{
    private const int PageSize = 5_000;

    private static readonly Task<TimeSpan?> s_lasting = Task.FromResult<TimeSpan?>(null);

    private readonly ConnectionMultiplexer _redis;
    private readonly string _address;
    private readonly string _prefix;
    private readonly bool _mayEnd;

    private DaprStore(ConnectionMultiplexer redis, string address, int database, string prefix, bool mayEnd)
    {
        _mayEnd = mayEnd;
        _redis = redis;
        _address = address;
        _prefix = prefix;
        Database = redis.GetDatabase(database);
    }

    private IDatabase Database { get; }

    /// <summary>Connects.</summary>
    /// <param name="address">The server.</param>
    /// <param name="login">Who we are; null: the default user.</param>
    /// <param name="database">Its database.</param>
    /// <param name="prefix">The first part of keys: the app id, or what the component's keyPrefix makes of it.</param>
    /// <exception cref="CommandException">It cannot be used.</exception>
    public static async Task<DaprStore> Open(RedisAddress address, RedisLogin? login, int database, string prefix)
    {
        if (await Supervision.RedisProbe.Unavailable(address.Place, login) is { } why)
        {
            throw new StartupException($"Redis at {address} cannot be used: {why.TrimEnd('.')}.");
        }

        var configuration = new ConfigurationOptions
        {
            EndPoints = { { address.Place.Host, address.Place.Port } },
            User = login?.User,
            Password = login?.Password,
            Ssl = login is { Tls: true },
            SslClientAuthenticationOptions = login is { Tls: true }
                ? _ => RedisTrust.Client(RedisLogin.At(address.Place, login)) : null,
            ClientName = "snapper-import",
            TieBreaker = "",
            ConfigurationChannel = "",
            AllowAdmin = true, // INFO counts as a command of administrators
            IncludeDetailInExceptions = false,
            AsyncTimeout = 30_000,
        };
        var redis = await ConnectionMultiplexer.ConnectAsync(configuration);
        if (redis.GetServers()[0].ServerType != ServerType.Standalone)
        {
            await redis.DisposeAsync();
            throw new StartupException(
                $"Redis at {address} runs in cluster mode, which the import does not read: its keys are spread over "
                + "several servers. Restore a backup of them into one Redis, and import from there.");
        }

        return new DaprStore(
            redis, address.ToString(), database, prefix + DaprKey.Separator, await MayEnd(redis, database));
    }

    /// <summary>All keys of actors, in order, each once.</summary>
    /// <param name="type">Of this type alone; null: of all.</param>
    /// <param name="isWrong">Hears of a key that is none of an actor's state.</param>
    /// <exception cref="CommandException">The connection broke.</exception>
    public async Task<DaprKey[]> Keys(string? type, Action<string> isWrong)
    {
        var keys = new List<DaprKey>();
        var pattern = Literal(_prefix) + (type is null ? "" : Literal(type + DaprKey.Separator)) + "*";
        var names = new Dictionary<string, string>(StringComparer.Ordinal); // types and states: few, and often
        try
        {
            await foreach (var key in _redis.GetServers()[0].KeysAsync(Database.Database, pattern, PageSize))
            {
                var text = (string)key!;
                if (DaprKey.Read(text.AsSpan(_prefix.Length)) is { } read)
                {
                    keys.Add(read with { Type = Shared(names, read.Type), Name = Shared(names, read.Name) });
                }
                else
                {
                    isWrong(text);
                }
            }
        }
        catch (Exception problem) when (problem is RedisException or TimeoutException)
        {
            throw Broken(problem);
        }

        // SCAN may name a key twice.
        var sorted = keys.ToArray();
        Array.Sort(sorted);
        var count = 0;
        for (var i = 0; i < sorted.Length; i++)
        {
            if (i == 0 || sorted[i] != sorted[i - 1]) sorted[count++] = sorted[i];
        }

        return count == sorted.Length ? sorted : sorted[..count];
    }

    /// <summary>The values of some keys, and whether each lives for a time only.</summary>
    /// <exception cref="CommandException">The connection broke.</exception>
    public async Task<StoredValue[]> Values(ReadOnlyMemory<DaprKey> keys)
    {
        var data = new Task<RedisValue>[keys.Length];
        var ends = new Task<TimeSpan?>[keys.Length];
        for (var i = 0; i < keys.Length; i++)
        {
            RedisKey key = _prefix + keys.Span[i];
            data[i] = Database.HashGetAsync(key, "data");
            ends[i] = _mayEnd ? Database.KeyTimeToLiveAsync(key) : s_lasting;
        }

        var values = new StoredValue[keys.Length];
        for (var i = 0; i < values.Length; i++)
        {
            try
            {
                var value = await data[i];
                var fault = value.IsNull ? "it has no field 'data' (gone meanwhile, or not written by Dapr)"
                    : await ends[i] is not null ? "it lives for a time only (TTL), which states of these actors do not"
                    : null;
                values[i] = new StoredValue(value.IsNull ? default : (byte[])value!, fault);
            }
            catch (RedisServerException problem)
            {
                var wrongType = problem.Message.StartsWith("WRONGTYPE", StringComparison.Ordinal);
                values[i] = new StoredValue(default, wrongType ? "it is no hash" : problem.Message);
            }
            catch (Exception problem) when (problem is RedisException or TimeoutException)
            {
                throw Broken(problem);
            }
        }

        return values;
    }

    public ValueTask DisposeAsync() => _redis.DisposeAsync();

    // To ask of each key is a third of all that the import asks of Redis.
    private static async Task<bool> MayEnd(ConnectionMultiplexer redis, int database)
    {
        try
        {
            var keyspace = await redis.GetServers()[0].InfoRawAsync("keyspace") ?? "";
            var name = string.Create(CultureInfo.InvariantCulture, $"db{database}:");
            var own = keyspace.Split('\n')
                .FirstOrDefault(line => line.StartsWith(name, StringComparison.Ordinal));
            return own?.Contains(",expires=0,", StringComparison.Ordinal) != true;
        }
        catch (RedisServerException)
        {
            return true; // it may not be asked
        }
    }

    private static string Shared(Dictionary<string, string> names, string text)
    {
        if (names.TryGetValue(text, out var known)) return known;
        if (names.Count < 10_000) names.Add(text, text);
        return text;
    }

    // What SCAN takes for a pattern is escaped.
    private static string Literal(string text)
    {
        var literal = new StringBuilder(text.Length);
        foreach (var c in text)
        {
            if (c is '*' or '?' or '[' or ']' or '\\' or '^') literal.Append('\\');
            literal.Append(c);
        }

        return literal.ToString();
    }

    private StartupException Broken(Exception problem) =>
        new($"the connection to Redis at {_address} broke: {problem.Message.TrimEnd('.')}. Run the import again.");
}

/// <summary>What is stored under a key.</summary>
/// <param name="Data">The value as JSON.</param>
/// <param name="Fault">Why it cannot be imported; null: nothing is known against it.</param>
internal readonly record struct StoredValue(ReadOnlyMemory<byte> Data, string? Fault);
