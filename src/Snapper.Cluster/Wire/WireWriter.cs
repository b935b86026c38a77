using System.Buffers.Binary;
using System.Text;
using Snapper.Protocol.Identity;

namespace Snapper.Cluster.Wire;

/// <summary>
/// Writes one message between workers. Numbers are variable-length, texts are UTF-8 behind their length. One per thread, reused: a message is copied into its channel
/// before the next one is begun.
/// </summary>
internal sealed class WireWriter
{
    private const int KeptBytes = 1 << 16;

    [ThreadStatic]
    private static WireWriter? t_writer;

    private byte[] _bytes = new byte[1024];
    private int _length;

    private WireWriter()
    {
    }

    /// <summary>What was written; valid until the next <see cref="Begin"/> on this thread.</summary>
    public ReadOnlySpan<byte> Written => _bytes.AsSpan(0, _length);

    public static WireWriter Begin(WireKind kind)
    {
        var writer = t_writer ??= new WireWriter();
        if (writer._bytes.Length > KeptBytes)
        {
            writer._bytes = new byte[1024]; // one large message does not keep its room for ever
        }

        writer._length = 0;
        writer.Byte((byte)kind);
        return writer;
    }

    public void Byte(byte value)
    {
        Reserve(1);
        _bytes[_length++] = value;
    }

    public void Flag(bool value) => Byte(value ? (byte)1 : (byte)0);

    /// <summary>A number, not negative; small ones take few bytes.</summary>
    public void Number(long value)
    {
        Reserve(10);
        var rest = (ulong)value;
        while (rest >= 0x80)
        {
            _bytes[_length++] = (byte)(rest | 0x80);
            rest >>= 7;
        }

        _bytes[_length++] = (byte)rest;
    }

    public void Tid(TransactionId tid) => Number(tid.Value);

    public void Bid(BatchId bid) => Number(bid.Value);

    public void Worker(Incarnation worker)
    {
        Number(worker.Worker);
        Number(worker.Epoch);
    }

    public void Hash(UInt128 hash)
    {
        Reserve(16);
        BinaryPrimitives.WriteUInt128LittleEndian(_bytes.AsSpan(_length), hash);
        _length += 16;
    }

    public void Actor(ActorKey actor)
    {
        Text(actor.Type);
        Text(actor.Id);
    }

    public void Text(string text)
    {
        var size = Encoding.UTF8.GetByteCount(text);
        Reserve(size + 10);
        Number(size);
        _length += Encoding.UTF8.GetBytes(text, _bytes.AsSpan(_length));
    }

    /// <summary>A text that may be missing.</summary>
    public void OptionalText(string? text)
    {
        Flag(text is not null);
        if (text is not null)
        {
            Text(text);
        }
    }

    /// <summary>A list behind the number of its elements.</summary>
    /// <param name="elements">The elements.</param>
    /// <param name="write">Writes one. Static, so that no message makes one.</param>
    public void List<T>(IReadOnlyList<T> elements, Action<WireWriter, T> write)
    {
        Number(elements.Count);
        for (var i = 0; i < elements.Count; i++)
        {
            write(this, elements[i]);
        }
    }

    public void Workers(Incarnation[] workers) => List(workers, static (writer, worker) => writer.Worker(worker));

    public void Bytes(ReadOnlySpan<byte> bytes)
    {
        Number(bytes.Length);
        Reserve(bytes.Length);
        bytes.CopyTo(_bytes.AsSpan(_length));
        _length += bytes.Length;
    }

    private void Reserve(int more)
    {
        if (_bytes.Length - _length < more)
        {
            Array.Resize(ref _bytes, Math.Max(_bytes.Length * 2, _length + more));
        }
    }
}
