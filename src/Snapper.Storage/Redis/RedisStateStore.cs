using System.Globalization;
using System.Text;
using Snapper.Protocol.Identity;
using Snapper.Storage.Checkpoints;
using Snapper.Storage.Log;
using Snapper.Storage.Log.Records;
using Snapper.Storage.States;
using StackExchange.Redis;

namespace Snapper.Storage.Redis;

/// <summary>
/// States as one Redis hash per actor (<c>version</c>, <c>state</c> as JSON that redis-cli shows, or further fields), outcomes
/// as one hash per minute of copying, with an index beside them. Writes are fenced by the log that was opened.
/// </summary>
public sealed class RedisStateStore : IStateStore, IActorListing, IOutcomeArchive
{
    private const int ActorsPerCall = 200;
    private const int CallsAtOnce = 4; // they share the store's flush to its disk, and delay others' appends by a few milliseconds at most
    private const int BytesPerCall = 256 * 1024;
    private const string CopiedField = "copied";
    private static readonly byte[] s_wholeState = Utf8(StateField.WholeState);
    private readonly RedisTransactionLog _log;
    private readonly RedisCommands _commands;
    private readonly RedisKeys _keys;
    private readonly TimeProvider _time;
    private readonly StateStoreOptions _options;
    private readonly RedisActorListing _listing;
    private readonly OutcomeClock _clock;

    /// <summary>The states of a log's worker. A log that was not opened can be read, not written.</summary>
    public RedisStateStore(RedisTransactionLog log, TimeProvider time, StateStoreOptions options)
    {
        ArgumentNullException.ThrowIfNull(log);
        ArgumentNullException.ThrowIfNull(time);
        ArgumentNullException.ThrowIfNull(options);
        _log = log;
        _commands = log.Connections.State;
        _keys = log.Keys;
        _listing = new RedisActorListing(log.Connections, _keys);
        _time = time;
        _options = options;
        _clock = new OutcomeClock(time, options);
    }

    /// <inheritdoc/>
    public async Task<StoredState?> Load(ActorKey actor, CancellationToken cancellation)
    {
        var key = _keys.State(actor);
        RedisValue[] entries;
        try
        {
            entries = await ReadHash(key, cancellation).ConfigureAwait(false);
        }
        catch (RedisServerException error) when (error.Message.Contains("WRONGTYPE", StringComparison.Ordinal))
        {
            throw new CorruptLogException($"Key {key} of actor {actor} is not the hash of a state: {error.Message}");
        }

        if (entries.Length == 0)
        {
            return null;
        }

        long? version = null;
        var fields = new List<StateField>((entries.Length / 2) - 1);
        for (var i = 0; i < entries.Length; i += 2)
        {
            if (entries[i] == CheckpointRule.VersionField)
            {
                version = long.TryParse((string)entries[i + 1]!, NumberStyles.None, CultureInfo.InvariantCulture, out var number) && number <= CheckpointRule.HighestVersion ? number : null;
            }
            else
            {
                fields.Add(new StateField(NameOf(entries[i], key), (byte[])entries[i + 1]!));
            }
        }

        return version is { } stored
            ? new StoredState(stored, fields)
            : throw new CorruptLogException($"Key {key}, the stored state of actor {actor}, has no usable field 'version' (0 to {CheckpointRule.HighestVersion}).");
    }

    /// <inheritdoc/>
    public Task<IReadOnlyList<StoredActor>> List(ActorListQuery query, CancellationToken cancellation) => _listing.List(query, cancellation);

    /// <inheritdoc/>
    public async Task<AppendResult> Checkpoint(long epoch, IReadOnlyList<StateCheckpoint> checkpoints, CancellationToken cancellation)
    {
        CheckpointRule.Validate(checkpoints);
        if (checkpoints.Count == 0)
        {
            return await _log.CheckEpochForStates(epoch, cancellation).ConfigureAwait(false);
        }

        var running = new List<Task<AppendResult>>();
        var keys = new List<RedisKey>();
        var values = new List<RedisValue>(6 * Math.Min(checkpoints.Count, ActorsPerCall)); // as many as actors with one field have
        var bytes = 0;
        for (var i = 0; i < checkpoints.Count; i++)
        {
            if (keys.Count == 0)
            {
                keys.Add(_keys.Meta);
                values.AddRange(_log.FenceValues(epoch));
            }

            bytes += Add(checkpoints[i], keys, values);
            if (keys.Count > ActorsPerCall || bytes >= BytesPerCall || i + 1 == checkpoints.Count)
            {
                running.Add(_log.RunFenced(RedisScripts.Checkpoint, [.. keys], values, cancellation));
                keys.Clear();
                values.Clear();
                bytes = 0;
                if (running.Count == CallsAtOnce || i + 1 == checkpoints.Count)
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
        if (outcomes.Count == 0)
        {
            return await _log.CheckEpochForStates(epoch, cancellation).ConfigureAwait(false);
        }

        if (await BeginClock(epoch, cancellation).ConfigureAwait(false) is { } index
            && await Drop(epoch, index.Minutes, cancellation).ConfigureAwait(false) is { Status: not AppendStatus.Appended } refused)
        {
            return refused;
        }

        return await SaveMinute(epoch, outcomes, cancellation).ConfigureAwait(false);
    }

    /// <inheritdoc/>
    public async Task<AppendResult> DropOutcomes(long epoch, CancellationToken cancellation)
    {
        var index = await BeginClock(epoch, cancellation).ConfigureAwait(false) ?? await ReadIndex(cancellation).ConfigureAwait(false);
        return await Drop(epoch, index.Minutes, cancellation).ConfigureAwait(false);
    }

    private async Task<AppendResult> Drop(long epoch, SortedDictionary<long, long> minutes, CancellationToken cancellation)
    {
        var oldest = _clock.Oldest;
        foreach (var minute in minutes.Keys)
        {
            if (minute < oldest)
            {
                var result = await _log.RunFenced(RedisScripts.DropOutcomes, [_keys.Meta, _keys.CopiedIndex, _keys.Copied(minute)], _log.FenceValues(epoch, minute), cancellation).ConfigureAwait(false);
                if (result.Status != AppendStatus.Appended)
                {
                    return result;
                }
            }
        }

        return new AppendResult(AppendStatus.Appended);
    }

    /// <inheritdoc/>
    public async Task<ArchiveStanding> Look(CancellationToken cancellation)
    {
        var (minutes, copied) = await ReadIndex(cancellation).ConfigureAwait(false);

        // A rescuer of an earlier version may have copied something at any time, and does not count it.
        return new ArchiveStanding(
            minutes.Count > 0 || (long)await _commands.Execute(cancellation, "EXISTS", [.. KeysOfEarlierVersions()]).ConfigureAwait(false) > 0, copied);
    }

    /// <inheritdoc/>
    public async Task Clear(ArchiveStanding seen, CancellationToken cancellation)
    {
        var (minutes, _) = await ReadIndex(cancellation).ConfigureAwait(false);
        foreach (var minute in minutes.Keys)
        {
            await _commands.Run(RedisScripts.ClearOutcomes, [_keys.CopiedIndex, _keys.Copied(minute)], [minute, seen.Copied], cancellation).ConfigureAwait(false);
        }
    }

    /// <inheritdoc/>
    public async Task<OutcomeRecord?> FindOutcome(string requestId, CancellationToken cancellation)
    {
        List<RedisKey> keys = [_keys.CopiedIndex, .. KeysOfEarlierVersions()];
        try
        {
            RedisValue[] values = [Utf8(requestId), _keys.CopiedPrefix];
            var found = (RedisValue[])(await _log.Connections.Read(
                RedisScripts.FindOutcome, [.. keys], values, cancellation).ConfigureAwait(false))!;
            return found.Length == 0 ? null : GroupDecoder.StoredOutcome((byte[])found[0]!, $"of request {requestId}");
        }
        catch (RedisServerException error) when (error.Message.Contains("WRONGTYPE", StringComparison.Ordinal))
        {
            throw new CorruptLogException($"Key {_keys.CopiedIndex}, a key of a minute beside it, or one from {keys[^1]} to {keys[1]} is not a hash of outcomes: {error.Message}");
        }
    }

    /// <summary>The connections are the caller's; nothing is held beside them.</summary>
    public ValueTask DisposeAsync()
    {
        _listing.Dispose();
        return ValueTask.CompletedTask;
    }

    /// <summary>Where an earlier version has copied what is inside its window, newest first. One minute ahead, for a clock that was a little faster.</summary>
    private IEnumerable<RedisKey> KeysOfEarlierVersions()
    {
        var now = _time.GetUtcNow().ToUnixTimeMilliseconds();
        var oldest = (now - (long)_options.OutcomeWindow.TotalMilliseconds) / OutcomeClock.MinuteMs;
        for (var minute = (now / OutcomeClock.MinuteMs) + 1; minute >= oldest; minute--)
        {
            yield return _keys.Outcomes(minute);
        }
    }

    private static string NameOf(RedisValue name, RedisKey key)
    {
        try
        {
            return GroupBuffer.StrictUtf8.GetString((byte[])name!);
        }
        catch (DecoderFallbackException)
        {
            throw new CorruptLogException($"Key {key} has a field whose name is not UTF-8.");
        }
    }

    private static byte[] Utf8(string text) => GroupBuffer.StrictUtf8.GetBytes(text);

    private int Add(StateCheckpoint checkpoint, List<RedisKey> keys, List<RedisValue> values)
    {
        var bytes = 0;
        keys.Add(_keys.State(checkpoint.Actor));
        values.Add(checkpoint.From);
        values.Add(checkpoint.To);
        values.Add(checkpoint.Fields.Count);
        for (var i = 0; i < checkpoint.Fields.Count; i++)
        {
            var field = checkpoint.Fields[i];
            values.Add(field.Name == StateField.WholeState ? s_wholeState : Utf8(field.Name));
            values.Add(field.Value is null ? 0 : 1);
            values.Add(field.Value is { } value ? value.ToArray() : RedisValue.EmptyString);
            bytes += field.Name.Length + (field.Value?.Length ?? 0) + 16;
        }

        return bytes + checkpoint.Actor.Id.Length + 64;
    }

    /// <summary>A life goes on in the newest minute that is filed.</summary>
    /// <returns>The index, if it had to be read.</returns>
    private async Task<(SortedDictionary<long, long> Minutes, long Copied)?> BeginClock(long epoch, CancellationToken cancellation)
    {
        if (_clock.HasBegun(epoch))
        {
            return null;
        }

        var index = await ReadIndex(cancellation).ConfigureAwait(false);
        var (newest, passedMs) = index.Minutes.Count == 0 ? default : index.Minutes.Last();
        _clock.Begin(epoch, newest, passedMs);
        return index;
    }

    /// <summary>The minutes, each with how much of it had passed at its last copying.</summary>
    private async Task<(SortedDictionary<long, long> Minutes, long Copied)> ReadIndex(CancellationToken cancellation)
    {
        var minutes = new SortedDictionary<long, long>();
        var copied = 0L;
        try
        {
            var entries = await ReadHash(_keys.CopiedIndex, cancellation).ConfigureAwait(false);
            for (var i = 0; i < entries.Length; i += 2)
            {
                var value = Number(entries[i + 1]);
                if (entries[i] == CopiedField)
                {
                    copied = value;
                }
                else
                {
                    minutes[Number(entries[i])] = Math.Min(value, OutcomeClock.MinuteMs);
                }
            }
        }
        catch (RedisServerException error) when (error.Message.Contains("WRONGTYPE", StringComparison.Ordinal))
        {
            throw new CorruptLogException($"Key {_keys.CopiedIndex} is not the index of copied outcomes: {error.Message}");
        }

        return (minutes, copied);

        long Number(RedisValue text) => long.TryParse((string)text!, NumberStyles.None, CultureInfo.InvariantCulture, out var number)
            ? number
            : throw new CorruptLogException($"Hash {_keys.CopiedIndex} holds '{text}' where a number should be.");
    }

    /// <summary>Its fields and values, in turn.</summary>
    private async Task<RedisValue[]> ReadHash(RedisKey key, CancellationToken cancellation) =>
        (RedisValue[])(await _log.Connections.Read(
            RedisScripts.ReadHash, [key], [], cancellation).ConfigureAwait(false))!;

    private async Task<AppendResult> SaveMinute(long epoch, IReadOnlyList<OutcomeRecord> outcomes, CancellationToken cancellation)
    {
        var (minute, passedMs) = _clock.Now;
        var buffer = new GroupBuffer();
        for (var start = 0; start < outcomes.Count;)
        {
            var values = _log.FenceValues(epoch, minute, passedMs);
            var bytes = 0;
            for (; start < outcomes.Count && bytes < BytesPerCall; start++)
            {
                buffer.Truncate(0);
                RecordEncoder.EncodeOutcome(outcomes[start], buffer);
                values.Add(Utf8(outcomes[start].RequestId));
                values.Add(buffer.Written.ToArray());
                bytes += buffer.Length + outcomes[start].RequestId.Length;
            }

            var result = await _log.RunFenced(RedisScripts.SaveOutcomes, [_keys.Meta, _keys.Copied(minute), _keys.CopiedIndex], values, cancellation).ConfigureAwait(false);
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
