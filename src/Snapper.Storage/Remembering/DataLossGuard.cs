using Snapper.Storage.Log;

namespace Snapper.Storage.Remembering;

/// <summary>
/// A log whose worker remembers, outside of it, which one it is and how far it certainly went. Opening refuses another log,
/// an older copy and a shorter one; everything else goes straight to the log, at the cost of one call.
/// </summary>
/// <remarks>
/// What is remembered is a lower bound, and only what is certainly on disk: a record that a server may lose by right (one that
/// flushes every second, after a crash of its machine) must not make the next opening fail. Hence the delay, which the caller
/// knows. <see cref="Remember"/> is to be called every few seconds, after a failure, and at the end; never for each group.
/// </remarks>
public sealed class DataLossGuard : ITransactionLog
{
    private readonly IIdentifiedLog _log;
    private readonly LogIdentityFile _memory;
    private readonly string _place;
    private readonly TimeProvider _time;
    private readonly Func<TimeSpan?> _durableAfter;
    private readonly Action<IOException>? _notWritten;
    private readonly Lock _gate = new();

    // Guarded by the gate.
    private readonly Queue<(long At, long Next)> _samples = new();
    private LogIdentity? _written;
    private TimeSpan? _delayBefore;
    private long _epoch;

    /// <summary>Puts a memory before a log.</summary>
    /// <param name="log">The log; disposed of with this.</param>
    /// <param name="memory">Where to remember.</param>
    /// <param name="place">The log in words, for messages.</param>
    /// <param name="durableAfter">How long after its acknowledgement a record is certainly on disk: 0 when acknowledging means that; null: one never knows. Asked at each call.</param>
    /// <param name="time">Measures that.</param>
    /// <param name="notWritten">Hears when the memory cannot be written at opening, which goes on all the same.</param>
    public DataLossGuard(
        IIdentifiedLog log, LogIdentityFile memory, string place, Func<TimeSpan?> durableAfter, TimeProvider time, Action<IOException>? notWritten = null)
    {
        ArgumentNullException.ThrowIfNull(log);
        ArgumentNullException.ThrowIfNull(memory);
        ArgumentNullException.ThrowIfNull(durableAfter);
        ArgumentNullException.ThrowIfNull(time);
        _log = log;
        _memory = memory;
        _place = place;
        _durableAfter = durableAfter;
        _time = time;
        _notWritten = notWritten;
    }

    /// <summary>Hears that the log is open.</summary>
    public Action? Opened { get; init; }

    /// <inheritdoc/>
    public string Kind => _log.Kind;

    /// <summary>What is lost between what is remembered and what is found, in words; null: nothing that can be seen.</summary>
    /// <param name="remembered">What a worker knows to have been durable.</param>
    /// <param name="found">What is there; null: no log.</param>
    /// <param name="place">The log in words.</param>
    /// <param name="memory">Where it is remembered.</param>
    public static string? Difference(LogIdentity remembered, LogStanding? found, string place, string memory)
    {
        ArgumentNullException.ThrowIfNull(remembered);
        var missing = found switch
        {
            null => "there is no log",
            _ when found.Id != remembered.Id => $"there is another log, {Name(found.Id)}, opened {found.Epoch} times",
            _ when found.Epoch < remembered.Epoch => $"the log was opened {found.Epoch} times only (an older copy?)",
            _ when found.NextSequence < remembered.NextSequence => $"the log ends before record {found.NextSequence}",
            _ => null,
        };
        return missing is null
            ? null
            : $"The {place} is not what this worker left there. Found: {missing}. Remembered in {memory}: log {Name(remembered.Id)}, "
                + $"opened {remembered.Epoch} times, every record below {remembered.NextSequence} durable. Acknowledged commits would be missing.";
    }

    /// <inheritdoc/>
    /// <exception cref="LostLogException">It is not the log that is remembered, or has lost what was durable. Another log is left untouched.</exception>
    public async Task<LogOpening> Open(CancellationToken cancellation)
    {
        var remembered = _memory.Read();
        if (remembered is not null)
        {
            // Before the epoch rises: a log that is refused must stay as it was found, or enough tries would make it pass.
            Check(remembered, await _log.Look(cancellation).ConfigureAwait(false));
        }

        var opening = await _log.Open(cancellation).ConfigureAwait(false);
        if (remembered is not null)
        {
            Check(remembered, new LogStanding(_log.Id, opening.Epoch - 1, opening.NextSequence));
        }

        IOException? problem = null;
        lock (_gate)
        {
            _written = remembered;
            _epoch = opening.Epoch;
            _samples.Clear();
            _delayBefore = _durableAfter();
            _samples.Enqueue((_time.GetTimestamp(), opening.NextSequence));
            try
            {
                WriteWhatIsCertain(_delayBefore);
            }
            catch (IOException error)
            {
                // What the file says is less than it could be, and true: a full disk here is no reason to keep a log in Redis shut.
                problem = error;
            }
        }

        if (problem is not null)
        {
            _notWritten?.Invoke(problem);
        }

        Opened?.Invoke();
        return opening;
    }

    /// <summary>Writes down what is certain by now, if it is more than is written already.</summary>
    /// <exception cref="IOException">The file cannot be written; what it says is less than it could be, and true.</exception>
    public void Remember()
    {
        lock (_gate)
        {
            if (_epoch == 0)
            {
                return;
            }

            // Whoever changed the server's setting since the last look: the weaker of the two counts for what came between.
            var delay = _durableAfter();
            var certain = delay is null || _delayBefore is null ? null : (TimeSpan?)TimeSpan.FromTicks(Math.Max(delay.Value.Ticks, _delayBefore.Value.Ticks));
            _delayBefore = delay;
            _samples.Enqueue((_time.GetTimestamp(), _log.AcknowledgedNext));
            WriteWhatIsCertain(certain);
        }
    }

    /// <inheritdoc/>
    public Task<AppendResult> Append(long epoch, long firstSequence, int count, ReadOnlyMemory<byte> group, CancellationToken cancellation) =>
        _log.Append(epoch, firstSequence, count, group, cancellation);

    /// <inheritdoc/>
    public Task<AppendResult> CheckEpoch(long epoch, CancellationToken cancellation) => _log.CheckEpoch(epoch, cancellation);

    /// <inheritdoc/>
    public IAsyncEnumerable<LogGroup> Read(long fromSequence, CancellationToken cancellation) => _log.Read(fromSequence, cancellation);

    /// <inheritdoc/>
    public Task<AppendResult> Trim(long epoch, long keepFrom, LogWatermarks watermarks, CancellationToken cancellation) =>
        _log.Trim(epoch, keepFrom, watermarks, cancellation);

    /// <inheritdoc/>
    public ValueTask DisposeAsync() => _log.DisposeAsync();

    private void Check(LogIdentity remembered, LogStanding? found)
    {
        if (Difference(remembered, found, _place, _memory.FilePath) is { } lost)
        {
            throw new LostLogException(lost);
        }
    }

    private static string Name(string id) => id.Length == 0 ? "without a name" : id;

    /// <summary>Needs the gate.</summary>
    private void WriteWhatIsCertain(TimeSpan? delay)
    {
        if (delay is null)
        {
            // A time in which nothing was certain is no part of any delay.
            _samples.Clear();
            return;
        }

        long? next = null;
        while (_samples.TryPeek(out var oldest) && _time.GetElapsedTime(oldest.At) >= delay)
        {
            next = _samples.Dequeue().Next;
        }

        if (next is null || (_written is { } written && written.Epoch == _epoch && next <= written.NextSequence))
        {
            return;
        }

        var standing = new LogIdentity(_log.Id, _epoch, Math.Max(next.Value, _written?.NextSequence ?? 0));
        _memory.Write(standing);
        _written = standing;
    }
}
