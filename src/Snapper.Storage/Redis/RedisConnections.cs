using Snapper.Storage.Log;
using StackExchange.Redis;

namespace Snapper.Storage.Redis;

/// <summary>
/// Connections to one Redis: one for opening logs, one for states and reads, and one more for each log's appends, which
/// nothing may delay and which is made with the first of them.
/// </summary>
public sealed class RedisConnections : IAsyncDisposable
{
    private readonly List<AppendConnection> _appends = [];

    private RedisConnections(RedisOptions options, Connecting log, Connecting state, Connecting? waiting)
    {
        Options = options;
        Replicas = new ReplicaWait(options);
        Log = new RedisCommands(log.First, log.Connect, options.CommandTimeout, NoteRefusal);
        State = new RedisCommands(state.First, state.Connect, options.CommandTimeout, NoteRefusal);
        Waiting = waiting is null ? null
            : new RedisCommands(waiting.First, waiting.Connect, options.CommandTimeout, NoteRefusal);
    }

    /// <summary>As given.</summary>
    public RedisOptions Options { get; }

    /// <summary>True when the log's connection is up at this moment.</summary>
    public bool IsConnected => Log.IsConnected;

    internal RedisCommands Log { get; }

    internal RedisCommands State { get; }

    /// <summary>
    /// For what replicas must have before it is acknowledged: a connection that waits for them answers nothing else
    /// meanwhile. Null: they are not asked.
    /// </summary>
    private RedisCommands? Waiting { get; }

    /// <summary>Which replicas must have what is acknowledged.</summary>
    internal ReplicaWait Replicas { get; }

    /// <summary>
    /// The log that was opened over these connections last, by its worker: a server that does not know what it knows is
    /// not read from. Null: none.
    /// </summary>
    internal RedisTransactionLog? Own { get; set; }

    /// <summary>Connects. A server that does not answer is no error here: the connections are made as soon as it does.</summary>
    /// <exception cref="ArgumentException">The options are not usable.</exception>
    public static async Task<RedisConnections> Connect(RedisOptions options)
    {
        ArgumentNullException.ThrowIfNull(options);
        options.Validate();
        List<Connecting> made = [];
        try
        {
            string[] names = options.Replicas > 0
                ? ["snapper-log", "snapper-state", "snapper-wait"]
                : ["snapper-log", "snapper-state"];
            foreach (var name in names)
            {
                made.Add(await Open(name).ConfigureAwait(false));
            }

            return new RedisConnections(options, made[0], made[1], made.ElementAtOrDefault(2));
        }
        catch
        {
            made.ForEach(static connecting => connecting.First.Dispose());
            throw;
        }

        async Task<Connecting> Open(string name)
        {
            Task<ConnectionMultiplexer> Connect() => ConnectionMultiplexer.ConnectAsync(options.ToConfiguration(name));
            return new Connecting(await Connect().ConfigureAwait(false), Connect);
        }
    }

    /// <summary>Connects once, and asks for an answer.</summary>
    /// <returns>
    /// Null: the server can be used. Otherwise why not: what the server answered, or what became of the connection.
    /// </returns>
    public static async Task<string?> Unreachable(RedisOptions options, TimeSpan within)
    {
        ArgumentNullException.ThrowIfNull(options);
        var configuration = options.ToConfiguration("snapper-probe");
        configuration.AbortOnConnectFail = true;
        configuration.ConnectRetry = 1;
        configuration.ConnectTimeout = configuration.AsyncTimeout = (int)within.TotalMilliseconds;
        try
        {
            var connection = await ConnectionMultiplexer.ConnectAsync(configuration).ConfigureAwait(false);
            await using (connection.ConfigureAwait(false))
            {
                await connection.GetDatabase().PingAsync().ConfigureAwait(false);
                return null;
            }
        }
        catch (RedisConnectionException failed)
        {
            return failed.InnerException?.Message ?? "nothing answers there that speaks the Redis protocol";
        }
        catch (Exception failed) when (failed is RedisException or TimeoutException)
        {
            return failed.Message;
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
        if (Waiting is not null)
        {
            await Waiting.DisposeAsync().ConfigureAwait(false);
        }
    }

    /// <summary>Runs a script of which the caller acknowledges what it did: as many replicas have it as must.</summary>
    /// <param name="script">It writes, whatever it answers of success.</param>
    /// <param name="keys">Its keys.</param>
    /// <param name="values">Its arguments.</param>
    /// <param name="cancellation">Ends the waiting.</param>
    /// <param name="alone">Of what needs no replicas: runs on this connection. Null: on that for states.</param>
    /// <exception cref="TooFewReplicasException">They have not; it is done all the same.</exception>
    internal async Task<RedisResult> Run(
        RedisScript script, RedisKey[] keys, RedisValue[] values, CancellationToken cancellation,
        RedisCommands? alone = null)
    {
        if (Waiting is null)
        {
            return await (alone ?? State).Run(script, keys, values, cancellation).ConfigureAwait(false);
        }

        try
        {
            return await Waiting.RunAndWait(script, keys, values, Replicas, cancellation).ConfigureAwait(false);
        }
        catch (TooFewReplicasException)
        {
            NoteDoubt();
            throw;
        }
    }

    /// <summary>
    /// Runs a script that only reads, and answers a list, on a server that knows all that <see cref="Own"/> knows.
    /// </summary>
    /// <exception cref="IOException">This one does not; it is connected anew.</exception>
    internal async Task<RedisResult> Read(
        RedisScript script, RedisKey[] keys, RedisValue[] values, CancellationToken cancellation, bool isLarge = false)
    {
        if (Own is { } own)
        {
            (script, keys, values) = (script.Known, [.. keys, own.Keys.Meta], [.. values, .. own.Knowledge()]);
        }

        var reading = isLarge
            ? State.ReadLarge(script, keys, values, cancellation)
            : State.Run(script, keys, values, cancellation);
        var answer = await reading.ConfigureAwait(false);
        if (answer.Resp2Type != ResultType.BulkString)
        {
            return answer;
        }

        State.ConnectAnew();
        throw new IOException(
            $"Redis at {Options.Host}:{Options.Port} does not have what this worker was told: {answer}");
    }

    /// <summary>A connection for a log's appends. The log disposes of it; otherwise it ends with these connections.</summary>
    internal AppendConnection NewAppendConnection(RedisKeys keys, Action<AppendCommand> succeeded)
    {
        var appends = new AppendConnection(Options, keys, succeeded, replicas: Replicas) { Doubted = NoteDoubt };
        lock (_appends)
        {
            _appends.Add(appends);
        }

        return appends;
    }

    /// <summary>Takes in why the server has refused a command.</summary>
    internal void NoteRefusal(string message)
    {
        if (RedisRefusal.IsNoPrimary(message))
        {
            NoteDoubt();
        }
    }

    /// <summary>
    /// A primary that a replica has replaced refuses every write, or has no replica any more, answers reads as of then,
    /// and keeps its connections, while the address leads to the new one: all connect anew.
    /// </summary>
    private void NoteDoubt()
    {
        Log.ConnectAnew();
        State.ConnectAnew();
        Waiting?.ConnectAnew();
    }

    private sealed record Connecting(ConnectionMultiplexer First, Func<Task<ConnectionMultiplexer>> Connect);
}
