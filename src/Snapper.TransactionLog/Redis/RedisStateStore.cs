using System.Globalization;
using System.Text;
using Snapper.Protocol.Identity;
using Snapper.TransactionLog.Records;
using StackExchange.Redis;

namespace Snapper.TransactionLog.Redis;

/// <summary>
/// States as one Redis hash per actor (<c>version</c>, <c>state</c> as JSON that redis-cli shows, or further fields), outcomes
/// as one hash per minute that expires. Writes are fenced by the log that was opened.
/// </summary>
public sealed class RedisStateStore : IStateStore, IActorListing
{
    private const int ActorsPerCall = 200;
    private const int CallsAtOnce = 4; // they share the store's flush to its disk, and delay others' appends by a few milliseconds at most
    private const int BytesPerCall = 256 * 1024;
    private const long MinuteMs = 60_000;
    private readonly RedisTransactionLog _log;
    private readonly RedisCommands _commands;
    private readonly RedisKeys _keys;
    private readonly TimeProvider _time;
    private readonly StateStoreOptions _options;
    private readonly RedisActorListing _listing;

    /// <summary>The states of a log's worker. A log that was not opened can be read, not written.</summary>
    public RedisStateStore(RedisTransactionLog log, TimeProvider time, StateStoreOptions options)
    {
        ArgumentNullException.ThrowIfNull(log);
        ArgumentNullException.ThrowIfNull(time);
        ArgumentNullException.ThrowIfNull(options);
        _log = log;
        _commands = log.Connections.State;
        _keys = log.Keys;
        _listing = new RedisActorListing(_commands, _keys);
        _time = time;
        _options = options;
    }

    /// <inheritdoc/>
    public async Task<StoredState?> Load(ActorKey actor, CancellationToken cancellation)
    {
        var key = _keys.State(actor);
        HashEntry[] entries;
        try
        {
            entries = await _commands.Within(_commands.Database.HashGetAllAsync(key), cancellation).ConfigureAwait(false);
        }
        catch (RedisServerException error) when (error.Message.StartsWith("WRONGTYPE", StringComparison.Ordinal))
        {
            throw new CorruptLogException($"Key {key} of actor {actor} is not the hash of a state: {error.Message}");
        }

        if (entries.Length == 0)
        {
            return null;
        }

        long? version = null;
        var fields = new List<StateField>(entries.Length - 1);
        foreach (var entry in entries)
        {
            if (entry.Name == StateFolding.VersionField)
            {
                version = long.TryParse((string)entry.Value!, NumberStyles.None, CultureInfo.InvariantCulture, out var number) && number <= StateFolding.HighestVersion ? number : null;
            }
            else
            {
                fields.Add(new StateField(NameOf(entry, key), (byte[])entry.Value!));
            }
        }

        return version is { } stored
            ? new StoredState(stored, fields)
            : throw new CorruptLogException($"Key {key}, the stored state of actor {actor}, has no usable field 'version' (0 to {StateFolding.HighestVersion}).");
    }

    /// <inheritdoc/>
    public Task<IReadOnlyList<StoredActor>> List(ActorListQuery query, CancellationToken cancellation) => _listing.List(query, cancellation);

    /// <inheritdoc/>
    public async Task<AppendResult> Fold(long epoch, IReadOnlyList<StateFold> folds, CancellationToken cancellation)
    {
        StateFolding.Validate(folds);
        if (folds.Count == 0)
        {
            return await _log.CheckEpochForStates(epoch, cancellation).ConfigureAwait(false);
        }

        var running = new List<Task<AppendResult>>();
        var keys = new List<RedisKey>();
        var values = new List<RedisValue>();
        var bytes = 0;
        for (var i = 0; i < folds.Count; i++)
        {
            if (keys.Count == 0)
            {
                keys.Add(_keys.Meta);
                values.AddRange(_log.FenceValues(epoch));
            }

            bytes += Add(folds[i], keys, values);
            if (keys.Count > ActorsPerCall || bytes >= BytesPerCall || i + 1 == folds.Count)
            {
                running.Add(_log.RunFenced(RedisScripts.Fold, [.. keys], [.. values], cancellation));
                keys.Clear();
                values.Clear();
                bytes = 0;
                if (running.Count == CallsAtOnce || i + 1 == folds.Count)
                {
                    foreach (var result in await Task.WhenAll(running).ConfigureAwait(false))
                    {
                        if (result.Status != AppendStatus.Appended)
                        {
                            return result;
                        }
                    }

                    running.Clear();
                }
            }
        }

        return new AppendResult(AppendStatus.Appended);
    }

    /// <inheritdoc/>
    public async Task<AppendResult> SaveOutcomes(long epoch, IReadOnlyList<OutcomeRecord> outcomes, CancellationToken cancellation)
    {
        var now = _time.GetUtcNow().ToUnixTimeMilliseconds();
        var minutes = new SortedDictionary<long, List<OutcomeRecord>>();
        foreach (var outcome in outcomes)
        {
            if (_options.IsInWindow(outcome, now))
            {
                var minute = outcome.AtUnixMs / MinuteMs;
                if (!minutes.TryGetValue(minute, out var list))
                {
                    minutes.Add(minute, list = []);
                }

                list.Add(outcome);
            }
        }

        if (minutes.Count == 0)
        {
            return await _log.CheckEpochForStates(epoch, cancellation).ConfigureAwait(false);
        }

        foreach (var (minute, list) in minutes)
        {
            var result = await SaveMinute(epoch, minute, list, now, cancellation).ConfigureAwait(false);
            if (result.Status != AppendStatus.Appended)
            {
                return result;
            }
        }

        return new AppendResult(AppendStatus.Appended);
    }

    /// <inheritdoc/>
    public async Task<OutcomeRecord?> FindOutcome(string requestId, CancellationToken cancellation)
    {
        var now = _time.GetUtcNow().ToUnixTimeMilliseconds();
        var oldest = (now - (long)_options.OutcomeWindow.TotalMilliseconds) / MinuteMs;
        var keys = new List<RedisKey>();

        // One minute ahead, for a clock that was a little faster.
        for (var minute = (now / MinuteMs) + 1; minute >= oldest; minute--)
        {
            keys.Add(_keys.Outcomes(minute));
        }

        byte[]? found;
        try
        {
            found = (byte[]?)await _commands.Run(RedisScripts.FindOutcome, [.. keys], [Utf8(requestId)], cancellation).ConfigureAwait(false);
        }
        catch (RedisServerException error) when (error.Message.StartsWith("WRONGTYPE", StringComparison.Ordinal))
        {
            throw new CorruptLogException($"A key from {keys[^1]} to {keys[0]} is not a hash of outcomes: {error.Message}");
        }

        if (found is null)
        {
            return null;
        }

        var outcome = GroupDecoder.StoredOutcome(found, $"of request {requestId}");
        return _options.IsInWindow(outcome, now) ? outcome : null;
    }

    /// <summary>The connections are the caller's; nothing is held beside them.</summary>
    public ValueTask DisposeAsync()
    {
        _listing.Dispose();
        return ValueTask.CompletedTask;
    }

    private static string NameOf(HashEntry entry, RedisKey key)
    {
        try
        {
            return GroupBuffer.StrictUtf8.GetString((byte[])entry.Name!);
        }
        catch (DecoderFallbackException)
        {
            throw new CorruptLogException($"Key {key} has a field whose name is not UTF-8.");
        }
    }

    private static byte[] Utf8(string text) => GroupBuffer.StrictUtf8.GetBytes(text);

    private int Add(StateFold fold, List<RedisKey> keys, List<RedisValue> values)
    {
        var bytes = 0;
        keys.Add(_keys.State(fold.Actor));
        values.Add(fold.From);
        values.Add(fold.To);
        values.Add(fold.Fields.Count);
        for (var i = 0; i < fold.Fields.Count; i++)
        {
            var field = fold.Fields[i];
            values.Add(Utf8(field.Name));
            values.Add(field.Value is null ? 0 : 1);
            values.Add(field.Value is { } value ? value.ToArray() : RedisValue.EmptyString);
            bytes += field.Name.Length + (field.Value?.Length ?? 0) + 16;
        }

        return bytes + fold.Actor.Id.Length + 64;
    }

    private async Task<AppendResult> SaveMinute(long epoch, long minute, List<OutcomeRecord> outcomes, long now, CancellationToken cancellation)
    {
        // The hash outlives its last outcome's window a little, so that clocks need not agree; who reads looks at the time itself.
        var stays = ((minute + 1) * MinuteMs) + (long)_options.OutcomeWindow.TotalMilliseconds + MinuteMs - now;
        var buffer = new GroupBuffer();
        for (var start = 0; start < outcomes.Count;)
        {
            var values = new List<RedisValue>(_log.FenceValues(epoch, stays));
            var bytes = 0;
            for (; start < outcomes.Count && bytes < BytesPerCall; start++)
            {
                buffer.Truncate(0);
                RecordEncoder.EncodeOutcome(outcomes[start], buffer);
                values.Add(Utf8(outcomes[start].RequestId));
                values.Add(buffer.Written.ToArray());
                bytes += buffer.Length + outcomes[start].RequestId.Length;
            }

            var result = await _log.RunFenced(RedisScripts.SaveOutcomes, [_keys.Meta, _keys.Outcomes(minute)], [.. values], cancellation).ConfigureAwait(false);
            if (result.Status != AppendStatus.Appended)
            {
                buffer.Release();
                return result;
            }
        }

        buffer.Release();
        return new AppendResult(AppendStatus.Appended);
    }
}
