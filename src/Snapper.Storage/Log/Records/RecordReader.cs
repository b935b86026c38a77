using System.Buffers.Binary;
using System.Text;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;

namespace Snapper.Storage.Log.Records;

/// <summary>Reads the body of one record. Safe on any bytes: whatever does not fit is a <see cref="MalformedRecordException"/>.</summary>
internal ref struct RecordReader(ReadOnlyMemory<byte> body, NamePool names)
{
    private readonly ReadOnlyMemory<byte> _memory = body;
    private readonly ReadOnlySpan<byte> _span = body.Span;
    private readonly NamePool _names = names;
    private int _position;

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
        if (flags > 15)
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
            IsResultDropped = (flags & 8) != 0,
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

    public StateField[] Fields() => List(2, static (ref RecordReader reader) => reader.Field());

    public readonly void End()
    {
        if (Left != 0)
        {
            throw new MalformedRecordException($"{Left} bytes behind its end");
        }
    }

    private StateField Field()
    {
        var name = Name();
        var size = Varint();
        if (size < 0 || size - 1 > Left)
        {
            throw new MalformedRecordException($"a field of {size - 1} bytes where {Left} are left");
        }

        return new StateField(name, size == 0 ? (ReadOnlyMemory<byte>?)null : Bytes((int)size - 1));
    }

    private OutcomeRecord[] Outcomes() => List(24, static (ref RecordReader reader) => reader.Outcome());

    private long[] Versions() => List(1, static (ref RecordReader reader) => reader.Varint());

    private int[] Workers() => List(1, static (ref RecordReader reader) => reader.Worker());

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

    private ActorChange[] Changes() => List(
        6, static (ref RecordReader reader) => new ActorChange(reader.Actor(), reader.Varint(), reader.Fields()));

    private T[] List<T>(int atLeastBytesEach, ElementReader<T> read)
    {
        var list = new T[Count(atLeastBytesEach)];
        for (var i = 0; i < list.Length; i++)
        {
            list[i] = read(ref this);
        }

        return list;
    }

    private delegate T ElementReader<out T>(ref RecordReader reader);

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
