using StackExchange.Redis;

namespace Snapper.Storage.Redis;

/// <summary>
/// Connections to one Redis: one for opening logs, one for states and reads, and one more for each log's appends, which
/// nothing may delay and which is made with the first of them.
/// </summary>
public sealed class RedisConnections : IAsyncDisposable
{
    private readonly List<AppendConnection> _appends = [];

    private RedisConnections(RedisOptions options, RedisCommands log, RedisCommands state)
    {
        Options = options;
        Log = log;
        State = state;
    }

    /// <summary>As given.</summary>
    public RedisOptions Options { get; }

    /// <summary>True when the log's connection is up at this moment.</summary>
    public bool IsConnected => Log.IsConnected;

    internal RedisCommands Log { get; }

    internal RedisCommands State { get; }

    /// <summary>Connects. A server that does not answer is no error here: the connections are made as soon as it does.</summary>
    /// <exception cref="ArgumentException">The options are not usable.</exception>
    public static async Task<RedisConnections> Connect(RedisOptions options)
    {
        ArgumentNullException.ThrowIfNull(options);
        options.Validate();
        RedisCommands? log = null;
        try
        {
            log = await Open("snapper-log").ConfigureAwait(false);
            return new RedisConnections(options, log, await Open("snapper-state").ConfigureAwait(false));
        }
        catch
        {
            await (log?.DisposeAsync() ?? default).ConfigureAwait(false);
            throw;
        }

        async Task<RedisCommands> Open(string name)
        {
            Task<ConnectionMultiplexer> Connect() => ConnectionMultiplexer.ConnectAsync(options.ToConfiguration(name));
            return new RedisCommands(await Connect().ConfigureAwait(false), Connect, options.CommandTimeout);
        }
    }

    /// <inheritdoc/>
    public async ValueTask DisposeAsync()
    {
        lock (_appends)
        {
            foreach (var appends in _appends)
            {
                appends.Dispose();
            }
        }

        await Log.DisposeAsync().ConfigureAwait(false);
        await State.DisposeAsync().ConfigureAwait(false);
    }

    /// <summary>A connection for a log's appends. The log disposes of it; otherwise it ends with these connections.</summary>
    internal AppendConnection NewAppendConnection(RedisKeys keys, Action<AppendCommand> succeeded)
    {
        var appends = new AppendConnection(Options, keys, succeeded);
        lock (_appends)
        {
            _appends.Add(appends);
        }

        return appends;
    }
}
