using System.Buffers;
using System.Buffers.Binary;
using Snapper.Protocol.Identity;

namespace Snapper.Protocol.Channels;

/// <summary>
/// Messages that wait, in the bytes in which they will be sent: room for the head in front, messages behind each other. A message costs its bytes and
/// one copy. Not thread-safe.
/// </summary>
internal sealed class PendingPacket
{
    private const int Front = PacketLayout.FixedBytes + PacketLayout.HeaderBytesMax;
    private const int FirstRent = 4096;

    private byte[] _bytes = [];
    private int _start = Front;
    private int _end = Front;

    /// <summary>Number of the first message.</summary>
    public long First { get; private set; }

    public int Count { get; private set; }

    /// <summary>Number after the last message.</summary>
    public long End => First + Count;

    /// <summary>Bytes of the messages with their lengths.</summary>
    public int Bytes => _end - _start;

    /// <summary>Begins anew, with its memory as it is.</summary>
    public void Reset(long first)
    {
        First = first;
        Count = 0;
        _start = _end = Front;
    }

    /// <summary>Whether a message fits beside those that are in; the first one always does.</summary>
    public bool HasRoom(int length, ChannelLimits limits) =>
        Count == 0
        || (Count < limits.PacketMessages && PacketLayout.Overhead + Bytes + PacketLayout.LengthBytes(length) + length <= limits.PacketBytes);

    public void Add(ReadOnlySpan<byte> message)
    {
        var head = PacketLayout.LengthBytes(message.Length);
        Reserve(head + message.Length);
        PacketLayout.WriteLength(_bytes.AsSpan(_end), message.Length);
        message.CopyTo(_bytes.AsSpan(_end + head));
        _end += head + message.Length;
        Count++;
    }

    /// <summary>Forgets messages that were taken, all below <paramref name="next"/>.</summary>
    public void DropBelow(long next)
    {
        for (; First < next; First++, Count--)
        {
            PacketLayout.TryReadLength(_bytes.AsSpan(_start, _end - _start), out var length, out var head);
            _start += head + length;
        }
    }

    /// <summary>Writes head and checksum around the messages. The bytes stay as they are until the next call to anything here.</summary>
    public ReadOnlyMemory<byte> Seal(Incarnation sender, Incarnation receiver, ReadOnlySpan<byte> header)
    {
        Reserve(PacketLayout.ChecksumBytes);
        var begin = _start - PacketLayout.FixedBytes - header.Length;
        var length = _end - begin;
        PacketLayout.WriteHead(_bytes.AsSpan(begin), sender, receiver, First, Count, Bytes, header);
        BinaryPrimitives.WriteUInt32LittleEndian(_bytes.AsSpan(_end), Crc32C.Of(_bytes.AsSpan(begin, length)));
        return _bytes.AsMemory(begin, length + PacketLayout.ChecksumBytes);
    }

    /// <summary>Goes on in other memory: whoever had the sealed bytes may still be reading them.</summary>
    public void LeaveMemory()
    {
        var left = _bytes;
        _bytes = [];
        if (Count == 0)
        {
            _start = _end = Front;
            return;
        }

        var bytes = Bytes;
        _bytes = ArrayPool<byte>.Shared.Rent(Front + bytes + PacketLayout.ChecksumBytes);
        left.AsSpan(_start, bytes).CopyTo(_bytes.AsSpan(Front));
        _start = Front;
        _end = Front + bytes;
    }

    /// <summary>Gives the memory back.</summary>
    public void Release()
    {
        if (_bytes.Length > 0)
        {
            ArrayPool<byte>.Shared.Return(_bytes);
            _bytes = [];
        }
    }

    private void Reserve(int more)
    {
        // The checksum's room is always kept, so that sealing hardly ever moves a packet.
        var needed = _end + more + PacketLayout.ChecksumBytes;
        if (needed <= _bytes.Length)
        {
            return;
        }

        var larger = ArrayPool<byte>.Shared.Rent(Math.Max(needed, Math.Max(FirstRent, _bytes.Length * 2)));
        _bytes.AsSpan(0, Math.Min(_end, _bytes.Length)).CopyTo(larger);
        Release();
        _bytes = larger;
    }
}
