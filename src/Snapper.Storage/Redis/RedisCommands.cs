using System.Diagnostics;
using System.Security.Cryptography;
using System.Text;
using Snapper.Storage.Log;
using StackExchange.Redis;

namespace Snapper.Storage.Redis;

/// <summary>A server-side script; the server finds it by its SHA-1 once it has seen its text.</summary>
internal sealed class RedisScript(string text)
{
    private RedisScript? _guarded;
    private RedisScript? _known;

    public string Text { get; } = text;

    /// <summary>The same behind <see cref="RedisScripts.Guard"/>: its key and arguments follow the script's own.</summary>
    public RedisScript Guarded => _guarded ??= new RedisScript(RedisScripts.Guard + Text);

    /// <summary>The same behind <see cref="RedisScripts.Known"/>.</summary>
    public RedisScript Known => _known ??= new RedisScript(RedisScripts.Known + Text);

    // Redis names scripts so; it is no safeguard of anything.
#pragma warning disable CA5350
    public byte[] Hash { get; } = SHA1.HashData(Encoding.UTF8.GetBytes(text));
#pragma warning restore CA5350

    public string Sha => Convert.ToHexStringLower(Hash);
}

/// <summary>
/// Commands with a bound on their time, over a connection of the client library. An exception other than a certain
/// refusal means: effect unknown.
/// </summary>
/// <param name="connection">The first connection; this one's from now on.</param>
/// <param name="connect">Makes another one.</param>
/// <param name="timeout">The bound.</param>
/// <param name="refused">Hears why the server has refused a script.</param>
internal sealed class RedisCommands(
    ConnectionMultiplexer connection, Func<Task<ConnectionMultiplexer>> connect, TimeSpan timeout,
    Action<string> refused) : IAsyncDisposable
{
    /// <summary>So many times as long may a command take whose answer is large.</summary>
    public const int LargeFactor = 6;

    private static readonly TimeSpan s_between = TimeSpan.FromSeconds(1);

    private readonly Func<Task<ConnectionMultiplexer>> _connect = connect;
    private readonly TimeSpan _timeout = timeout;
    private readonly Action<string> _refused = refused;
    private readonly Lock _gate = new();

    // Guarded by the gate.
    private ConnectionMultiplexer _connection = connection;
    private bool _disposed;
    private bool _connecting;

    public IDatabase Database { get; private set; } = connection.GetDatabase();

    /// <summary>The connection is up at this moment.</summary>
    public bool IsConnected => Database.Multiplexer.IsConnected;

    /// <summary>What follows goes over a new connection; unless one is being made, or was made just now.</summary>
    public void ConnectAnew()
    {
        lock (_gate)
        {
            if (_connecting || _disposed)
            {
                return;
            }

            _connecting = true;
        }

        _ = Replace();
    }

    public async ValueTask DisposeAsync()
    {
        ConnectionMultiplexer connection;
        lock (_gate)
        {
            _disposed = true;
            connection = _connection;
        }

        await Close(connection).ConfigureAwait(false);
    }

    private async Task Replace()
    {
        try
        {
            var over = await _connect().ConfigureAwait(false);
            lock (_gate)
            {
                if (!_disposed)
                {
                    Database = over.GetDatabase();
                    (over, _connection) = (_connection, over);
                }
            }

            await Task.Delay(s_between).ConfigureAwait(false); // who is about to use the old one meets no closed one
            await Close(over).ConfigureAwait(false);
        }
        finally
        {
            lock (_gate)
            {
                _connecting = false; // the next refusal tries again
            }
        }
    }

    private static async Task Close(ConnectionMultiplexer connection)
    {
        // Not waiting for commands: whoever needs an answer has waited for it, and a server that is away gives none.
        await connection.CloseAsync(allowCommandsToComplete: false).ConfigureAwait(false);
        connection.Dispose();
    }

    /// <summary>Bounds a command. When it throws, the command may still be on its way: its effect is unknown.</summary>
    public Task<T> Within<T>(Task<T> command, CancellationToken cancellation) =>
        Within(command, _timeout, cancellation);

    private static async Task<T> Within<T>(Task<T> command, TimeSpan timeout, CancellationToken cancellation)
    {
        try
        {
            return await command.WaitAsync(timeout, cancellation).ConfigureAwait(false);
        }
        catch (Exception) when (!command.IsCompleted)
        {
            // Its end will be heard by nobody; an error then must not count as unobserved.
            _ = command.ContinueWith(static c => _ = c.Exception, CancellationToken.None, TaskContinuationOptions.OnlyOnFaulted, TaskScheduler.Default);
            throw;
        }
    }

    /// <summary>
    /// Does what may be done twice, again while there is no connection. An attempt of the client library to connect
    /// that hangs has to end before another begins: hence several times what connecting may take.
    /// </summary>
    public async Task<T> WhenConnected<T>(Func<Task<T>> call, CancellationToken cancellation)
    {
        var start = Stopwatch.GetTimestamp();
        while (true)
        {
            try
            {
                return await call().ConfigureAwait(false);
            }
            catch (RedisConnectionException) when (Stopwatch.GetElapsedTime(start) < 5 * RedisOptions.ConnectTimeout)
            {
                await Task.Delay(25, cancellation).ConfigureAwait(false);
            }
        }
    }

    public Task<RedisResult> Execute(CancellationToken cancellation, string command, params object[] arguments) =>
        Within(Database.ExecuteAsync(command, arguments), cancellation);

    /// <summary>
    /// Runs a script by its name, and by its text when the server does not know it (it was restarted): that answer comes
    /// before anything is run. The client library's own cache of scripts needs a right of its own, SCRIPT LOAD.
    /// </summary>
    public Task<RedisResult> Run(
        RedisScript script, RedisKey[] keys, RedisValue[] values, CancellationToken cancellation) =>
        Run(script, keys, values, _timeout, cancellation);

    /// <summary>
    /// The same, and replicas must have what it did. Both go over one connection, side by side: the second command
    /// waits for what that connection has written.
    /// </summary>
    /// <exception cref="TooFewReplicasException">They have not; what the script did is done.</exception>
    public async Task<RedisResult> RunAndWait(
        RedisScript script, RedisKey[] keys, RedisValue[] values, ReplicaWait replicas, CancellationToken cancellation)
    {
        var within = _timeout + TimeSpan.FromMilliseconds(replicas.TimeoutMs);
        try
        {
            return await Send(batch => batch.ScriptEvaluateAsync(script.Hash, keys, values)).ConfigureAwait(false);
        }
        catch (RedisServerException error) when (error.Kind == RedisErrorKind.NoScript)
        {
            return await Send(batch => batch.ScriptEvaluateAsync(script.Text, keys, values, CommandFlags.NoScriptCache))
                .ConfigureAwait(false);
        }
        catch (RedisServerException error)
        {
            _refused(error.Message);
            throw;
        }

        async Task<RedisResult> Send(Func<IBatch, Task<RedisResult>> run)
        {
            var batch = Database.CreateBatch();
            var running = run(batch);
            var waiting = replicas.Ask(batch);
            batch.Execute();
            try
            {
                var answer = await Within(running, within, cancellation).ConfigureAwait(false);
                await Within(waiting, within, cancellation).ConfigureAwait(false);
                return answer;
            }
            catch when (!waiting.IsCompletedSuccessfully)
            {
                // Of what was not done it says nothing.
                _ = waiting.ContinueWith(
                    static w => _ = w.Exception, CancellationToken.None, TaskContinuationOptions.OnlyOnFaulted,
                    TaskScheduler.Default);
                throw;
            }
        }
    }

    /// <summary>A script without effects whose answer may be large: it may take longer.</summary>
    public Task<RedisResult> ReadLarge(RedisScript script, RedisKey[] keys, RedisValue[] values, CancellationToken cancellation) =>
        Run(script, keys, values, LargeFactor * _timeout, cancellation);

    private async Task<RedisResult> Run(RedisScript script, RedisKey[] keys, RedisValue[] values, TimeSpan within, CancellationToken cancellation)
    {
        try
        {
            var byName = Database.ScriptEvaluateAsync(script.Hash, keys, values);
            return await Within(byName, within, cancellation).ConfigureAwait(false);
        }
        catch (RedisServerException error) when (error.Kind == RedisErrorKind.NoScript)
        {
            var byText = Database.ScriptEvaluateAsync(script.Text, keys, values, CommandFlags.NoScriptCache);
            return await Within(byText, within, cancellation).ConfigureAwait(false);
        }
        catch (RedisServerException error)
        {
            _refused(error.Message);
            throw;
        }
    }
}
