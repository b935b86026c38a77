using System.Diagnostics;
using System.Security.Cryptography;
using System.Text;
using StackExchange.Redis;

namespace Snapper.TransactionLog.Redis;

/// <summary>A server-side script; the server finds it by its SHA-1 once it has seen its text.</summary>
internal sealed class RedisScript(string text)
{
    private RedisScript? _guarded;

    public string Text { get; } = text;

    /// <summary>The same behind <see cref="RedisScripts.Guard"/>: its key and arguments follow the script's own.</summary>
    public RedisScript Guarded => _guarded ??= new RedisScript(RedisScripts.Guard + Text);

    // Redis names scripts so; it is no safeguard of anything.
#pragma warning disable CA5350
    public string Sha { get; } = Convert.ToHexStringLower(SHA1.HashData(Encoding.UTF8.GetBytes(text)));
#pragma warning restore CA5350
}

/// <summary>Commands with a bound on their time. An exception other than a certain refusal means: effect unknown.</summary>
internal sealed class RedisCommands(IDatabase database, TimeSpan timeout)
{
    public IDatabase Database => database;

    /// <summary>Bounds a command. When it throws, the command may still be on its way: its effect is unknown.</summary>
    public Task<T> Within<T>(Task<T> command, CancellationToken cancellation) => Within(command, timeout, cancellation);

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
    /// Does what may be done twice, again while there is no connection. After an outage appends work at once, but the client
    /// library looks for the server only every few seconds unless it is told to, and one attempt of its own that hangs has to
    /// end before another begins: hence several times what connecting may take.
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
                await Reconnect(cancellation).ConfigureAwait(false);
            }
        }
    }

    public Task<RedisResult> Execute(CancellationToken cancellation, string command, params object[] arguments) =>
        Within(database.ExecuteAsync(command, arguments), cancellation);

    /// <summary>A command without effects whose answer may be large: it may take longer.</summary>
    public Task<RedisResult> ReadLarge(CancellationToken cancellation, string command, params object[] arguments) =>
        Within(database.ExecuteAsync(command, arguments), 6 * timeout, cancellation);

    private async Task Reconnect(CancellationToken cancellation)
    {
        try
        {
            await Within(database.Multiplexer.ConfigureAsync(), cancellation).ConfigureAwait(false);
        }
        catch (Exception error) when (error is RedisException or TimeoutException)
        {
            // The call itself tells what is wrong, when its time is over.
        }

        await Task.Delay(25, cancellation).ConfigureAwait(false);
    }

    /// <summary>
    /// Runs a script by its name, and by its text when the server does not know it (it was restarted): that answer comes
    /// before anything is run. The client library's own script cache fails here instead.
    /// </summary>
    public Task<RedisResult> Run(RedisScript script, RedisKey[] keys, RedisValue[] values, CancellationToken cancellation) => Run(script, keys, values, timeout, cancellation);

    /// <summary>A script without effects whose answer may be large: it may take longer.</summary>
    public Task<RedisResult> ReadLarge(RedisScript script, RedisKey[] keys, RedisValue[] values, CancellationToken cancellation) =>
        Run(script, keys, values, 6 * timeout, cancellation);

    private async Task<RedisResult> Run(RedisScript script, RedisKey[] keys, RedisValue[] values, TimeSpan within, CancellationToken cancellation)
    {
        var arguments = new object[2 + keys.Length + values.Length];
        arguments[0] = script.Sha;
        arguments[1] = keys.Length;
        for (var i = 0; i < keys.Length; i++)
        {
            arguments[2 + i] = keys[i];
        }

        for (var i = 0; i < values.Length; i++)
        {
            arguments[2 + keys.Length + i] = values[i];
        }

        try
        {
            return await Within(database.ExecuteAsync("EVALSHA", arguments), within, cancellation).ConfigureAwait(false);
        }
        catch (RedisServerException error) when (error.Message.StartsWith("NOSCRIPT", StringComparison.Ordinal))
        {
            arguments = (object[])arguments.Clone();
            arguments[0] = script.Text;
            return await Within(database.ExecuteAsync("EVAL", arguments), within, cancellation).ConfigureAwait(false);
        }
    }
}
