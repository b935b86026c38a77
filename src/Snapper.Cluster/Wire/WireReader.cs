using System.Buffers.Binary;
using System.Text;
using Snapper.Protocol.Identity;

namespace Snapper.Cluster.Wire;

/// <summary>Reads one message between workers. Safe on any bytes: whatever does not fit is a <see cref="WireFormatException"/>.</summary>
internal ref struct WireReader(ReadOnlySpan<byte> message)
{
    // A number: what is a TimeSpan here, faults of the simulator are to outlast. Clients may ask for 300 s.
    private const long LongestTicks = TimeSpan.TicksPerDay;

    private static readonly UTF8Encoding s_strict = new(false, throwOnInvalidBytes: true);

    // Names of types and methods, of which each message has some and a program has few: read without a new string. What falls into the same place is overwritten; any thread.
    private static readonly string?[] s_names = new string?[256];

    private readonly ReadOnlySpan<byte> _span = message;
    private int _position;

    public readonly int Left => _span.Length - _position;

    public byte Byte() => Left > 0 ? _span[_position++] : throw new WireFormatException("it ends where a byte should be");

    public bool Flag() => Byte() switch
    {
        0 => false,
        1 => true,
        var other => throw new WireFormatException($"a flag {other}"),
    };

    public long Number()
    {
        ulong value = 0;
        for (var shift = 0; shift < 63; shift += 7)
        {
            var next = Byte();
            value |= (ulong)(next & 0x7F) << shift;
            if (next < 0x80)
            {
                return (long)value;
            }
        }

        throw new WireFormatException("a number of more than 63 bits");
    }

    public int Int()
    {
        var number = Number();
        return number <= int.MaxValue ? (int)number : throw new WireFormatException($"a number {number} that is too large");
    }

    /// <summary>A moment, UTC ticks.</summary>
    public long Moment() => Number() is var ticks && ticks <= DateTime.MaxValue.Ticks
        ? ticks
        : throw new WireFormatException($"a moment {ticks} that no calendar has");

    /// <summary>What is left of a request's time.</summary>
    public TimeSpan Time() => Number() is var ticks && ticks <= LongestTicks
        ? TimeSpan.FromTicks(ticks)
        : throw new WireFormatException($"a time of {ticks} ticks, which no request has");

    public TransactionId Tid() => new(Number());

    public BatchId Bid() => new(Number());

    public Incarnation Worker()
    {
        var worker = Number();
        var epoch = Number();
        return worker < TransactionId.WorkerLimit ? new Incarnation((int)worker, epoch) : throw new WireFormatException($"a worker number {worker}");
    }

    public UInt128 Hash() => BinaryPrimitives.ReadUInt128LittleEndian(Take(16));

    public ActorKey Actor()
    {
        var type = Name();
        var id = Text();
        return type.Length > 0 && id.Length > 0 ? new ActorKey(type, id) : throw new WireFormatException("an actor with an empty name");
    }

    public string Text() => Text(Take(Int()));

    /// <summary>As <see cref="Text()"/>, for what most messages repeat.</summary>
    public string Name()
    {
        var bytes = Take(Int());
        if (bytes.Length is 0 or > 64)
        {
            return Text(bytes);
        }

        ref var known = ref s_names[(byte)(bytes.Length + (bytes[0] * 31) + (bytes[bytes.Length / 2] * 7) + bytes[^1])];
        return known is { } name && Ascii.Equals(bytes, name) ? name : known = Text(bytes);
    }

    private static string Text(ReadOnlySpan<byte> bytes)
    {
        try
        {
            return s_strict.GetString(bytes);
        }
        catch (DecoderFallbackException)
        {
            throw new WireFormatException("a text that is not UTF-8");
        }
    }

    public string? OptionalText() => Flag() ? Text() : null;

    public byte[] Bytes() => Take(Int()).ToArray();

    /// <summary>A number of elements; one that the bytes left cannot hold is refused before anything is allocated for it.</summary>
    public int Count(int atLeastBytesEach)
    {
        var count = Number();
        return count <= Left / atLeastBytesEach ? (int)count : throw new WireFormatException($"{count} elements in {Left} bytes");
    }

    /// <summary>A list behind the number of its elements.</summary>
    /// <param name="atLeastBytesEach">As for <see cref="Count"/>.</param>
    /// <param name="read">Reads an element. Static, so that no message makes one.</param>
    public T[] List<T>(int atLeastBytesEach, ElementReader<T> read)
    {
        var count = Count(atLeastBytesEach);
        var list = count == 0 ? [] : new T[count];
        for (var i = 0; i < list.Length; i++)
        {
            list[i] = read(ref this);
        }

        return list;
    }

    public Incarnation[] Workers() => List(2, static (ref WireReader reader) => reader.Worker());

    public readonly void End()
    {
        if (Left > 0)
        {
            throw new WireFormatException($"{Left} bytes behind its end");
        }
    }

    private ReadOnlySpan<byte> Take(int size)
    {
        if (size > Left)
        {
            throw new WireFormatException($"{size} bytes wanted where {Left} are left");
        }

        var bytes = _span.Slice(_position, size);
        _position += size;
        return bytes;
    }
}

/// <summary>Reads one element of a list.</summary>
internal delegate T ElementReader<out T>(ref WireReader reader);

/// <summary>A message from another worker is not what this program writes.</summary>
internal sealed class WireFormatException(string message) : Exception(message);
