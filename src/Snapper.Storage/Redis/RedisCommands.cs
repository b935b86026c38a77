using System.Diagnostics;
using System.Security.Cryptography;
using System.Text;
using StackExchange.Redis;

namespace Snapper.Storage.Redis;

/// <summary>A server-side script; the server finds it by its SHA-1 once it has seen its text.</summary>
internal sealed class RedisScript(string text)
{
    private RedisScript? _guarded;

    public string Text { get; } = text;

    /// <summary>The same behind <see cref="RedisScripts.Guard"/>: its key and arguments follow the script's own.</summary>
    public RedisScript Guarded => _guarded ??= new RedisScript(RedisScripts.Guard + Text);

    // Redis names scripts so; it is no safeguard of anything.
#pragma warning disable CA5350
    public byte[] Hash { get; } = SHA1.HashData(Encoding.UTF8.GetBytes(text));
#pragma warning restore CA5350

    /// <summary>The hash as text.</summary>
    public string Sha => Convert.ToHexStringLower(Hash);
}

/// <summary>Commands with a bound on their time. An exception other than a certain refusal means: effect unknown.</summary>
internal sealed class RedisCommands(IDatabase database, TimeSpan timeout)
{
    /// <summary>So many times as long may a command take whose answer is large.</summary>
    public const int LargeFactor = 6;

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
        Within(database.ExecuteAsync(command, arguments), cancellation);

    /// <summary>A command without effects whose answer may be large: it may take longer.</summary>
    public Task<RedisResult> ReadLarge(CancellationToken cancellation, string command, params object[] arguments) =>
        Within(database.ExecuteAsync(command, arguments), LargeFactor * timeout, cancellation);

    /// <summary>
    /// Runs a script by its name, and by its text when the server does not know it (it was restarted): that answer comes
    /// before anything is run. The client library's own cache of scripts needs a right of its own, SCRIPT LOAD.
    /// </summary>
    public Task<RedisResult> Run(RedisScript script, RedisKey[] keys, RedisValue[] values, CancellationToken cancellation) => Run(script, keys, values, timeout, cancellation);

    /// <summary>A script without effects whose answer may be large: it may take longer.</summary>
    public Task<RedisResult> ReadLarge(RedisScript script, RedisKey[] keys, RedisValue[] values, CancellationToken cancellation) =>
        Run(script, keys, values, LargeFactor * timeout, cancellation);

    private async Task<RedisResult> Run(RedisScript script, RedisKey[] keys, RedisValue[] values, TimeSpan within, CancellationToken cancellation)
    {
        try
        {
            var byName = database.ScriptEvaluateAsync(script.Hash, keys, values);
            return await Within(byName, within, cancellation).ConfigureAwait(false);
        }
        catch (RedisServerException error) when (error.Kind == RedisErrorKind.NoScript)
        {
            var byText = database.ScriptEvaluateAsync(script.Text, keys, values, CommandFlags.NoScriptCache);
            return await Within(byText, within, cancellation).ConfigureAwait(false);
        }
    }
}
