using System.Buffers.Binary;
using System.Text;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;

namespace Snapper.Storage.Log.Records;

/// <summary>Reads the body of one record. Safe on any bytes: whatever does not fit is a <see cref="MalformedRecordException"/>.</summary>
internal ref struct RecordReader
{
    private readonly ReadOnlyMemory<byte> _memory;
    private readonly ReadOnlySpan<byte> _span;
    private readonly NamePool _names;
    private int _position;

    public RecordReader(ReadOnlyMemory<byte> body, NamePool names)
    {
        _memory = body;
        _span = body.Span;
        _names = names;
    }

    private readonly int Left => _span.Length - _position;

    public LocalBatchCommitted LocalBatch()
    {
        var batch = new BatchId(Varint());
        var last = new TransactionId(Varint());
        var changes = Changes();
        return new LocalBatchCommitted { Batch = batch, LastTransaction = last, Changes = changes, Outcomes = Outcomes() };
    }

    public Prepared Prepared()
    {
        var global = new BatchId(Varint());
        var batch = new BatchId(Varint());
        var last = new TransactionId(Varint());
        var changes = Changes();
        return new Prepared { Global = global, Batch = batch, LastTransaction = last, Changes = changes, Outcomes = Outcomes() };
    }

    public Decided Decided()
    {
        var global = new BatchId(Varint());
        var committed = Flag();
        return new Decided { Global = global, Committed = committed, Versions = Versions() };
    }

    public Decision Decision() => new() { Global = new BatchId(Varint()) };

    public ActPrepared ActPrepared()
    {
        var transaction = new TransactionId(Varint());
        var root = new Incarnation(Worker(), Varint());
        return new ActPrepared { Transaction = transaction, Root = root, Changes = Changes() };
    }

    public ActEnded ActEnded()
    {
        var transaction = new TransactionId(Varint());
        var committed = Flag();
        return new ActEnded { Transaction = transaction, Committed = committed, Versions = Versions() };
    }

    public MovedIn MovedIn()
    {
        var plan = Text();
        var actor = Actor();
        var version = Varint();
        var fields = Fields();
        return new MovedIn { Plan = plan, Actor = actor, Version = version, Fields = fields, Outcomes = Outcomes() };
    }

    public ActCommitted Act(bool withOthers)
    {
        var transaction = new TransactionId(Varint());
        var changes = Changes();
        var participants = withOthers ? Workers() : [];
        var outcome = Byte() switch
        {
            0 => null,
            1 => Outcome(),
            var other => throw new MalformedRecordException($"outcome flag {other}"),
        };
        return new ActCommitted { Transaction = transaction, Changes = changes, Participants = participants, Outcome = outcome };
    }

    public OutcomeRecord Outcome()
    {
        var requestId = Text();
        var flags = Byte();
        if (flags > 7)
        {
            throw new MalformedRecordException($"outcome flags {flags}");
        }

        var hash = BinaryPrimitives.ReadUInt128LittleEndian(Bytes(16).Span);
        var transaction = new TransactionId(Varint());
        var batch = new BatchId(Varint());
        var attempts = Varint();
        if (attempts is < int.MinValue or > int.MaxValue)
        {
            throw new MalformedRecordException($"{attempts} attempts");
        }

        var at = Varint();
        var abort = Byte();
        if (abort > (byte)AbortReason.Undone)
        {
            throw new MalformedRecordException($"abort reason {abort}");
        }

        return new OutcomeRecord
        {
            RequestId = requestId,
            IsCallerKey = (flags & 1) != 0,
            IsAct = (flags & 2) != 0,
            RequestHash = hash,
            Transaction = transaction,
            Batch = batch,
            Attempts = (int)attempts,
            AtUnixMs = at,
            Abort = (AbortReason)abort,
            Payload = Bytes(Length()),
            AbortActor = (flags & 4) != 0 ? Actor() : null,
        };
    }

    public ActorKey Actor()
    {
        var type = Name();
        var id = Text();
        if (type.Length == 0 || id.Length == 0)
        {
            throw new MalformedRecordException("an actor with an empty name");
        }

        return new ActorKey(type, id);
    }

    public StateField[] Fields()
    {
        var fields = new StateField[Count(atLeastBytesEach: 2)];
        for (var i = 0; i < fields.Length; i++)
        {
            var name = Name();
            var size = Varint();
            if (size < 0 || size - 1 > Left)
            {
                throw new MalformedRecordException($"a field of {size - 1} bytes where {Left} are left");
            }

            fields[i] = new StateField(name, size == 0 ? (ReadOnlyMemory<byte>?)null : Bytes((int)size - 1));
        }

        return fields;
    }

    public readonly void End()
    {
        if (Left != 0)
        {
            throw new MalformedRecordException($"{Left} bytes behind its end");
        }
    }

    private OutcomeRecord[] Outcomes()
    {
        var outcomes = new OutcomeRecord[Count(atLeastBytesEach: 24)];
        for (var i = 0; i < outcomes.Length; i++)
        {
            outcomes[i] = Outcome();
        }

        return outcomes;
    }

    private long[] Versions()
    {
        var versions = new long[Count(atLeastBytesEach: 1)];
        for (var i = 0; i < versions.Length; i++)
        {
            versions[i] = Varint();
        }

        return versions;
    }

    private int[] Workers()
    {
        var workers = new int[Count(atLeastBytesEach: 1)];
        for (var i = 0; i < workers.Length; i++)
        {
            workers[i] = Worker();
        }

        return workers;
    }

    private int Worker()
    {
        var worker = Varint();
        return worker is >= 1 and < TransactionId.WorkerLimit ? (int)worker : throw new MalformedRecordException($"a worker number {worker}");
    }

    private bool Flag() => Byte() switch
    {
        0 => false,
        1 => true,
        var other => throw new MalformedRecordException($"a flag {other}"),
    };

    private ActorChange[] Changes()
    {
        var changes = new ActorChange[Count(atLeastBytesEach: 6)];
        for (var i = 0; i < changes.Length; i++)
        {
            var actor = Actor();
            var version = Varint();
            changes[i] = new ActorChange(actor, version, Fields());
        }

        return changes;
    }

    /// <summary>A number of elements; one that the bytes left cannot hold is refused before anything is allocated for it.</summary>
    private int Count(int atLeastBytesEach)
    {
        var count = Varint();
        if (count < 0 || count > Left / atLeastBytesEach)
        {
            throw new MalformedRecordException($"{count} elements in {Left} bytes");
        }

        return (int)count;
    }

    private int Length()
    {
        var length = Varint();
        if (length < 0 || length > Left)
        {
            throw new MalformedRecordException($"a length of {length} where {Left} bytes are left");
        }

        return (int)length;
    }

    private ReadOnlyMemory<byte> Bytes(int size)
    {
        if (size > Left)
        {
            throw new MalformedRecordException($"{size} bytes wanted where {Left} are left");
        }

        var bytes = _memory.Slice(_position, size);
        _position += size;
        return bytes;
    }

    private string Name() => Decode(pooled: true);

    private string Text() => Decode(pooled: false);

    private string Decode(bool pooled)
    {
        var size = Length();
        var utf8 = _span.Slice(_position, size);
        _position += size;
        try
        {
            return pooled ? _names.Get(utf8) : GroupBuffer.StrictUtf8.GetString(utf8);
        }
        catch (DecoderFallbackException)
        {
            throw new MalformedRecordException("a text that is not UTF-8");
        }
    }

    private byte Byte()
    {
        if (Left == 0)
        {
            throw new MalformedRecordException("an end where a byte should be");
        }

        return _span[_position++];
    }

    private long Varint()
    {
        ulong value = 0;
        for (var shift = 0; shift < 64; shift += 7)
        {
            var next = Byte();
            if (shift == 63 && next > 1)
            {
                break;
            }

            value |= (ulong)(next & 0x7F) << shift;
            if (next < 0x80)
            {
                return (long)value;
            }
        }

        throw new MalformedRecordException("a number of more than 64 bits");
    }
}

/// <summary>A record's bytes do not form a record; the decoder adds where.</summary>
internal sealed class MalformedRecordException(string message) : Exception(message);
