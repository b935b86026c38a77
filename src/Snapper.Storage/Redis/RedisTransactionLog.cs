using System.Globalization;
using System.Runtime.CompilerServices;
using Snapper.Storage.Log;
using StackExchange.Redis;

namespace Snapper.Storage.Redis;

/// <summary>
/// A log as a Redis stream: one entry per group, added by a script that checks epoch and sequence number in the same step (L6).
/// Needs Redis 6.2 or later. How durable an acknowledged append is, is the server's setting: see <see cref="RedisDurability"/>.
/// </summary>
/// <remarks>
/// Commands that are still on their way from before an outage cannot do harm: a late append finds a higher next sequence
/// number, or another epoch, and changes nothing. Appends and checks of the epoch have a connection of their own, unless the
/// log was fenced on behalf of another worker (R4), who appends little: then every script checks that worker's epoch as well.
/// </remarks>
public sealed class RedisTransactionLog : IIdentifiedLog
{
    private const int ReadBytes = 4 * 1024 * 1024;
    private const int ReadEntries = 4096;
    private const long NumberEnd = 1L << 53;
    private readonly RedisConnections _connections;
    private readonly RedisKeys _keys;
    private readonly AppendConnection? _appends;
    private readonly RedisLogGuard? _guard;
    private long _acknowledgedNext;
    private long _changes; // checkpoints, trims and savings of outcomes that were acknowledged, by several connections
    private string _mark = "";
    private long _epoch;
    private bool _isBound;

    /// <summary>The log of a worker.</summary>
    /// <param name="connections">Not disposed by the log.</param>
    /// <param name="worker">Letters, digits, <c>-</c>, <c>_</c> and <c>.</c>.</param>
    /// <exception cref="ArgumentException">The worker's name is not usable in a key.</exception>
    public RedisTransactionLog(RedisConnections connections, string worker)
    {
        ArgumentNullException.ThrowIfNull(connections);
        _connections = connections;
        _keys = new RedisKeys(connections.Options.KeyPrefix, worker);
        _appends = connections.NewAppendConnection(_keys, Acknowledged);
    }

    /// <summary>A worker's log for a rescuer: opened by the script that fences it, never by itself.</summary>
    internal RedisTransactionLog(RedisConnections connections, string worker, RedisLogGuard guard)
    {
        _connections = connections;
        _keys = new RedisKeys(connections.Options.KeyPrefix, worker);
        _guard = guard;
    }

    /// <inheritdoc/>
    public string Kind => "redis";

    /// <inheritdoc/>
    public string Id { get; private set; } = "";

    /// <inheritdoc/>
    public long AcknowledgedNext => Volatile.Read(ref _acknowledgedNext);

    /// <summary>How often this log was found to have lost acknowledged records; known after <see cref="Open"/>.</summary>
    public long Generation { get; private set; }

    /// <summary>Key of the stream.</summary>
    public string StreamName => _keys.Stream.ToString();

    internal RedisConnections Connections => _connections;

    internal RedisKeys Keys => _keys;

    /// <summary>What names this opening, beside the epoch.</summary>
    internal string Mark => _mark;

    /// <summary>The log is that of one of several workers, for good. Said before it is opened, so that even a first life has a name that no lost one had.</summary>
    public bool IsOneOfSeveral { get; set; }

    /// <inheritdoc/>
    /// <exception cref="CorruptLogException">The stream and its hash do not fit together.</exception>
    /// <exception cref="InvalidOperationException">The log was fenced on behalf of another worker, which opens it by fencing it again.</exception>
    public async Task<LogOpening> Open(CancellationToken cancellation)
    {
        if (_guard is not null)
        {
            throw new InvalidOperationException($"The log {_keys.Meta} was fenced on behalf of another worker; it is opened again by fencing it again.");
        }

        var mark = Guid.NewGuid().ToString("N");
        RedisValue[] answer;
        try
        {
            RedisValue[] values = [mark, Guid.NewGuid().ToString("N"), IsOneOfSeveral ? "1" : "0"];
            answer = (RedisValue[])(await _connections.Run(
                RedisScripts.Open, [_keys.Meta, _keys.Stream], values, cancellation, alone: _connections.Log)
                .ConfigureAwait(false))!;
        }
        catch (RedisServerException error) when (error.Message.Contains("WRONGTYPE", StringComparison.Ordinal) || error.Message.Contains("not an integer", StringComparison.Ordinal) || error.Message.Contains("would overflow", StringComparison.Ordinal))
        {
            throw new CorruptLogException($"Hash {_keys.Meta} or stream {_keys.Stream} is not what this program wrote: {error.Message}");
        }

        var opening = Opened(answer, mark);
        _connections.Own = this;
        return opening;
    }

    /// <summary>Takes in what the script said that opened the log.</summary>
    /// <param name="answer">The twelve values of <see cref="RedisScripts.OpenText"/>.</param>
    /// <param name="mark">The mark that it was given.</param>
    /// <exception cref="CorruptLogException">The stream and its hash do not fit together.</exception>
    internal LogOpening Opened(RedisValue[] answer, string mark)
    {
        foreach (var number in (ReadOnlySpan<RedisValue>)[.. answer.AsSpan(0, 5), answer[9], answer[11]])
        {
            if (Number((string?)number) is null)
            {
                throw new CorruptLogException($"Hash {_keys.Meta} holds '{number}' where a number should be.");
            }
        }

        var (next, kept) = ((long)answer[1], (long)answer[9]);
        if (next < 1 || kept < 1 || kept > next)
        {
            throw new CorruptLogException($"Hash {_keys.Meta} says that record {next} is next and that the stream begins with record {kept}.");
        }

        foreach (var id in (ReadOnlySpan<RedisValue>)[answer[5], answer[6], answer[10]])
        {
            if ((string)id! is { Length: > 0 } text && Number(text) is null)
            {
                throw new CorruptLogException($"Stream {_keys.Stream} has, or had, an entry {text}, which was not written by this program.");
            }
        }

        CheckHead(kept, next, (string)answer[5]!);
        Check(next, (string)answer[5]!, (string)answer[6]!, (string)answer[7]!);
        if (Number((string)answer[10]!) >= next)
        {
            throw new CorruptLogException($"Stream {_keys.Stream} had an entry {answer[10]}, but its hash says that record {next} is next: somebody else wrote to it, and Redis takes no entry below.");
        }

        Generation = (long)answer[4];
        Id = (string)answer[8]!;
        _mark = mark;
        _epoch = (long)answer[0];
        Volatile.Write(ref _acknowledgedNext, next);
        Volatile.Write(ref _changes, (long)answer[11]);
        var first = ((string)answer[5]!).Length == 0 ? next : (long)answer[5];
        return new LogOpening((long)answer[0], next, first, new LogWatermarks((long)answer[2], (long)answer[3])) { Losses = Generation };
    }

    /// <inheritdoc/>
    public async Task<LogStanding?> Look(CancellationToken cancellation)
    {
        var state = _connections.State;
        RedisValue[] found;
        try
        {
            found = await state.WhenConnected(
                () => state.Within(state.Database.HashGetAsync(_keys.Meta, ["id", "epoch", "next"]), cancellation), cancellation).ConfigureAwait(false);
        }
        catch (RedisServerException error) when (error.Message.StartsWith("WRONGTYPE", StringComparison.Ordinal))
        {
            throw new CorruptLogException($"Key {_keys.Meta} is not the hash of a log: {error.Message}");
        }

        if (Array.TrueForAll(found, value => value.IsNull))
        {
            return null;
        }

        return Number((string?)found[1]) is { } epoch && Number((string?)found[2]) is { } next
            ? new LogStanding((string?)found[0] ?? "", epoch, next)
            : throw new CorruptLogException($"Hash {_keys.Meta} holds epoch '{found[1]}' and next '{found[2]}' where numbers should be.");
    }

    /// <inheritdoc/>
    /// <remarks>
    /// Completed inline on the thread of the log's own connection: a continuation must hand over and return. A failed task
    /// means that nobody reads <paramref name="group"/> any more.
    /// </remarks>
    public Task<AppendResult> Append(long epoch, long firstSequence, int count, ReadOnlyMemory<byte> group, CancellationToken cancellation)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(firstSequence, 1);
        ArgumentOutOfRangeException.ThrowIfLessThan(count, 1);
        var command = new AppendCommand
        {
            Epoch = epoch,
            Mark = _mark,
            AcknowledgedNext = Volatile.Read(ref _acknowledgedNext),
            Changes = Volatile.Read(ref _changes),
            FirstSequence = firstSequence,
            Count = count,
            Group = group,
        };
        return _appends is not null ? _appends.Run(command, cancellation) : AppendGuarded(command, cancellation);
    }

    /// <inheritdoc/>
    /// <remarks>Completed like <see cref="Append"/>.</remarks>
    public Task<AppendResult> CheckEpoch(long epoch, CancellationToken cancellation) =>
        _appends?.Run(
            new AppendCommand { Epoch = epoch, Mark = _mark, AcknowledgedNext = Volatile.Read(ref _acknowledgedNext), Changes = Volatile.Read(ref _changes) }, cancellation)
        ?? CheckEpochForStates(epoch, cancellation);

    /// <inheritdoc/>
    public Task<AppendResult> Trim(long epoch, long keepFrom, LogWatermarks watermarks, CancellationToken cancellation) =>
        RunFenced(RedisScripts.Trim, [_keys.Meta, _keys.Stream], FenceValues(epoch, keepFrom, watermarks.Transaction, watermarks.ActCounter), cancellation);

    /// <inheritdoc/>
    public async IAsyncEnumerable<LogGroup> Read(long fromSequence, [EnumeratorCancellation] CancellationToken cancellation)
    {
        var state = _connections.State;
        var next = (RedisValue[])(await state.WhenConnected(
            () => _connections.Read(RedisScripts.ReadNext, [_keys.Meta], [], cancellation),
            cancellation).ConfigureAwait(false))!;
        var end = (long)next.FirstOrDefault();
        if (end <= fromSequence)
        {
            yield break;
        }

        // The entry that holds a sequence number is the last one that does not begin behind it.
        var from = fromSequence;
        var holding = Groups(await _connections.Read(
            RedisScripts.ReadHolding, [_keys.Stream], [EntryId(fromSequence)],
            cancellation, isLarge: true).ConfigureAwait(false));
        if (holding.Count > 0 && holding[0].FirstSequence + holding[0].Count > fromSequence)
        {
            yield return holding[0];
            from = holding[0].FirstSequence + holding[0].Count;
        }

        // The next part is asked for before this one is handed out: the server reads while the caller decodes.
        var part = from < end ? Part(from, end, cancellation) : null;
        while (part is not null)
        {
            var groups = await part.ConfigureAwait(false);
            part = null;
            if (groups.Count > 0 && groups[^1] is var last && last.FirstSequence + last.Count < end)
            {
                part = Part(last.FirstSequence + last.Count, end, cancellation);
            }

            foreach (var group in groups)
            {
                yield return group;
            }
        }
    }

    /// <summary>Closes the log's own connection; the others are the caller's.</summary>
    public ValueTask DisposeAsync()
    {
        _appends?.Dispose();
        return ValueTask.CompletedTask;
    }

    /// <summary>Checks the epoch for the state store, off the writer's connection: its callers may go on at length on the completing thread.</summary>
    internal Task<AppendResult> CheckEpochForStates(long epoch, CancellationToken cancellation) =>
        RunFenced(
            _connections.Replicas.Replicas > 0 ? RedisScripts.CheckEpochTold : RedisScripts.CheckEpoch, [_keys.Meta],
            FenceValues(epoch), cancellation);

    /// <summary>
    /// From now on the log belongs to one of several workers: it takes nothing over a connection to another instance of the server than that of its opening. What that one holds
    /// is a prefix of what was written, of this log and of the others'; a life that knows more of any of them could write half of a transaction there (L6).
    /// </summary>
    internal void BindToInstance()
    {
        _isBound = true;
        _appends?.BindToInstance();
    }

    /// <summary>What <see cref="RedisScripts.Known"/> compares.</summary>
    internal RedisValue[] Knowledge() =>
        [_epoch, _mark, Volatile.Read(ref _acknowledgedNext), Volatile.Read(ref _changes), _isBound ? "1" : "0"];

    /// <summary>Runs a script that begins with the fence; for a rescuer, behind the check of its own epoch.</summary>
    internal async Task<AppendResult> RunFenced(RedisScript script, RedisKey[] keys, List<RedisValue> values, CancellationToken cancellation)
    {
        RedisValue[] all = [.. values, Volatile.Read(ref _changes)];
        var result = await (_guard is { } guard
            ? RedisRefusal.Run(
                _connections, script.Guarded, [.. keys, guard.Meta], [.. all, guard.Epoch, guard.Mark], cancellation)
            : RedisRefusal.Run(_connections, script, keys, all, cancellation)).ConfigureAwait(false);
        if (result.Status == AppendStatus.Appended && Number(result.Detail) is { } changes)
        {
            Counted(changes);
            return new AppendResult(AppendStatus.Appended);
        }

        return result;
    }

    /// <summary>What every fenced script begins with, and what follows; its last argument is added by <see cref="RunFenced"/>.</summary>
    internal List<RedisValue> FenceValues(long epoch, params ReadOnlySpan<RedisValue> more) => [epoch, _mark, Volatile.Read(ref _acknowledgedNext), .. more];

    /// <summary>Calls that run side by side are answered in any order.</summary>
    private void Counted(long changes)
    {
        var known = Volatile.Read(ref _changes);
        while (changes > known && Interlocked.CompareExchange(ref _changes, changes, known) is var found && found != known)
        {
            known = found;
        }
    }

    /// <summary>A number of ours: scripts count in doubles, which are exact up to there. Null: it is none. The client's own parsing throws on long ones.</summary>
    private static long? Number(string? text) =>
        long.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out var number) && number < NumberEnd ? number : null;

    private static string EntryId(long sequence) => string.Create(CultureInfo.InvariantCulture, $"{sequence}-0");

    private async Task<List<LogGroup>> Part(long from, long end, CancellationToken cancellation) =>
        Groups(await _connections.Read(
            RedisScripts.ReadPart, [_keys.Stream], [EntryId(from), EntryId(end - 1), ReadBytes, ReadEntries],
            cancellation, isLarge: true).ConfigureAwait(false));

    private static List<LogGroup> Groups(RedisResult answer)
    {
        var entries = (RedisResult[])answer!;
        var groups = new List<LogGroup>(entries.Length);
        foreach (var entry in entries)
        {
            var parts = (RedisResult[])entry!;
            var id = (string)parts[0]!;
            var fields = (RedisValue[])parts[1]!;
            if (fields.Length != 4 || fields[0] != "n" || fields[2] != "r"
                || !long.TryParse(id.AsSpan(0, id.IndexOf('-')), NumberStyles.None, CultureInfo.InvariantCulture, out var first)
                || !int.TryParse((string)fields[1]!, NumberStyles.None, CultureInfo.InvariantCulture, out var count) || count < 1)
            {
                throw new CorruptLogException($"Stream entry {id} was not written by this program.");
            }

            groups.Add(new LogGroup(first, count, (byte[])fields[3]!));
        }

        return groups;
    }

    private async Task<AppendResult> AppendGuarded(AppendCommand command, CancellationToken cancellation)
    {
        var result = await RunFenced(
            RedisScripts.Append,
            [_keys.Meta, _keys.Stream],
            FenceValues(command.Epoch, command.FirstSequence, command.Behind, command.Count, command.Group.ToArray()),
            cancellation).ConfigureAwait(false);
        if (result.Status is AppendStatus.Appended or AppendStatus.AlreadyThere)
        {
            Acknowledged(command);
        }

        return result;
    }

    private void Acknowledged(AppendCommand command)
    {
        // A check of the epoch has no records, and an append may be one that had been there for long.
        if (command.Count > 0 && command.Behind > Volatile.Read(ref _acknowledgedNext))
        {
            Volatile.Write(ref _acknowledgedNext, command.Behind);
        }
    }

    /// <summary>Everything from the number on up to which the log was trimmed must be in the stream.</summary>
    private void CheckHead(long kept, long next, string first)
    {
        if (first.Length == 0 && kept < next)
        {
            throw new CorruptLogException($"Stream {_keys.Stream} is empty or gone: records {kept} to {next - 1} are missing.");
        }

        if (first.Length > 0 && long.Parse(first, CultureInfo.InvariantCulture) is var begins && begins > kept)
        {
            throw new CorruptLogException($"Stream {_keys.Stream} begins with record {begins}: records {kept} to {begins - 1} are missing.");
        }
    }

    private void Check(long next, string first, string last, string lastCount)
    {
        if (last.Length == 0)
        {
            return;
        }

        var behind = long.Parse(last, CultureInfo.InvariantCulture) + (int.TryParse(lastCount, NumberStyles.None, CultureInfo.InvariantCulture, out var count) ? count : 0);
        if (behind != next)
        {
            throw new CorruptLogException($"Stream {_keys.Stream} holds entries {first} to {last} and ends before record {behind}, but its hash says that record {next} is next.");
        }
    }
}
