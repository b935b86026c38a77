using System.Buffers.Binary;

namespace Snapper.Storage.Log.Records;

/// <summary>
/// Reads the records of a group one after another. Safe on any bytes: the only error is <see cref="CorruptLogException"/>,
/// which names the record's sequence number. Values in the records point into the group's memory: copy what is kept for long.
/// </summary>
/// <remarks>One decoder may be used for many groups; it is not thread-safe.</remarks>
public sealed class GroupDecoder
{
    private readonly NamePool _names = new();
    private ReadOnlyMemory<byte> _left;
    private long _next;
    private long _end;

    /// <summary>The record that <see cref="MoveNext"/> read.</summary>
    public LogRecord Current { get; private set; } = null!;

    /// <summary>Sequence number of <see cref="Current"/>.</summary>
    public long Sequence { get; private set; }

    /// <summary>Bytes of <see cref="Current"/>, header included.</summary>
    public int RecordBytes { get; private set; }

    /// <summary>Starts on a group.</summary>
    public void Start(LogGroup group)
    {
        _left = group.Records;
        _next = group.FirstSequence;
        _end = group.FirstSequence + group.Count;
    }

    /// <summary>Reads the next record of the group; false at its end.</summary>
    /// <exception cref="CorruptLogException">A record fails its check, is of an unknown kind or version, or the group's count is wrong.</exception>
    public bool MoveNext()
    {
        if (_next >= _end)
        {
            return _left.Length == 0 ? false : throw new CorruptLogException($"The group that ends before record {_end} has {_left.Length} bytes behind its last record.");
        }

        var body = TakeBody(check: true);
        var version = body.Span[0];
        var kind = (RecordKind)body.Span[1];
        if (version != RecordEncoder.FormatVersion || kind is < RecordKind.LocalBatchCommitted or > RecordKind.ActCommittedWithOthers)
        {
            throw new CorruptLogException(
                $"Record {_next} has kind {(byte)kind} ({kind}) in format version {version}; this program reads kinds 1 to 9 in version {RecordEncoder.FormatVersion}.");
        }

        try
        {
            var reader = new RecordReader(body[2..], _names);
            Current = kind switch
            {
                RecordKind.LocalBatchCommitted => reader.LocalBatch(),
                RecordKind.Prepared => reader.Prepared(),
                RecordKind.Decision => reader.Decision(),
                RecordKind.Decided => reader.Decided(),
                RecordKind.ActPrepared => reader.ActPrepared(),
                RecordKind.ActEnded => reader.ActEnded(),
                RecordKind.MovedIn => reader.MovedIn(),
                _ => reader.Act(withOthers: kind == RecordKind.ActCommittedWithOthers),
            };
            reader.End();
        }
        catch (MalformedRecordException malformed)
        {
            throw new CorruptLogException($"Record {_next} of kind {kind} holds {malformed.Message}.");
        }

        Sequence = _next++;
        return true;
    }

    /// <summary>Passes over records below a number without decoding them.</summary>
    /// <exception cref="CorruptLogException">A length does not fit.</exception>
    public void SkipTo(long sequence)
    {
        while (_next < sequence && _next < _end)
        {
            TakeBody(check: false);
            _next++;
        }
    }

    /// <summary>Reads an outcome that <see cref="RecordEncoder.EncodeOutcome"/> wrote.</summary>
    internal static OutcomeRecord StoredOutcome(ReadOnlyMemory<byte> bytes, string where)
    {
        try
        {
            var decoder = new GroupDecoder();
            decoder.Start(new LogGroup(0, 1, bytes));
            var body = decoder.TakeBody(check: true);
            if (body.Span[0] != RecordEncoder.FormatVersion || body.Span[1] != (byte)RecordKind.StoredOutcome || decoder._left.Length > 0)
            {
                throw new MalformedRecordException($"kind {body.Span[1]} in format version {body.Span[0]}");
            }

            var reader = new RecordReader(body[2..], decoder._names);
            var outcome = reader.Outcome();
            reader.End();
            return outcome;
        }
        catch (Exception error) when (error is MalformedRecordException or CorruptLogException)
        {
            throw new CorruptLogException($"The stored outcome {where} is damaged: {error.Message}");
        }
    }

    private ReadOnlyMemory<byte> TakeBody(bool check)
    {
        var span = _left.Span;
        if (span.Length < RecordEncoder.HeaderBytes + 2)
        {
            throw new CorruptLogException($"Record {_next} is cut off: {span.Length} bytes where a header should be.");
        }

        var length = BinaryPrimitives.ReadUInt32LittleEndian(span);
        if (length < 2 || length > span.Length - RecordEncoder.HeaderBytes)
        {
            throw new CorruptLogException($"Record {_next} says that it has {length} bytes where {span.Length - RecordEncoder.HeaderBytes} are left.");
        }

        var body = _left.Slice(RecordEncoder.HeaderBytes, (int)length);
        if (check && Checksum.Of(body.Span) != BinaryPrimitives.ReadUInt32LittleEndian(span[4..]))
        {
            throw new CorruptLogException($"Record {_next} fails its checksum ({length} bytes).");
        }

        RecordBytes = RecordEncoder.HeaderBytes + (int)length;
        _left = _left[RecordBytes..];
        return body;
    }
}
