using System.Buffers.Binary;
using Snapper.Protocol.Identity;

namespace Snapper.Protocol.Channels;

/// <summary>How a packet looks in bytes. Numbers are little-endian.</summary>
/// <remarks>
/// <code>
/// 0   2  magic "SP"
/// 2   1  version, 1
/// 3   1  bytes of the header blob, 0..64
/// 4   2  worker of the sender        6   2  worker of the receiver
/// 8   8  epoch of the sender         16  8  epoch of the receiver; 0: the sender does not know it (a hello, without messages)
/// 24  8  number of the first message, 1 or more; without messages, of the next one
/// 32  4  number of messages          36  4  bytes of the messages
/// 40     header blob, then the messages (each: length in 7-bit groups, lowest first, then its bytes), then 4 bytes CRC-32C of all before
/// </code>
/// The checksum is not optional: it costs about 10 ns per 100 bytes, and a packet passes two sidecars and four reused buffers on its way; TCP's own
/// checksum ends at each of them.
/// </remarks>
internal static class PacketLayout
{
    public const byte Version = 1;
    public const int FixedBytes = 40;
    public const int ChecksumBytes = sizeof(uint);
    public const int HeaderBytesMax = 64;

    /// <summary>Bytes of the longest length that is accepted: 28 bits are more than any body may have.</summary>
    public const int LengthBytesMax = 4;

    /// <summary>Most bytes of a packet that are not messages.</summary>
    public const int Overhead = FixedBytes + HeaderBytesMax + ChecksumBytes;

    public static ReadOnlySpan<byte> Magic => "SP"u8;

    public static int LengthBytes(int length) => length < 1 << 7 ? 1 : length < 1 << 14 ? 2 : length < 1 << 21 ? 3 : 4;

    public static int WriteLength(Span<byte> to, int length)
    {
        var at = 0;
        var rest = (uint)length;
        while (rest >= 0x80)
        {
            to[at++] = (byte)(rest | 0x80);
            rest >>= 7;
        }

        to[at++] = (byte)rest;
        return at;
    }

    /// <summary>Reads a length; false: none that <see cref="WriteLength"/> writes begins here.</summary>
    public static bool TryReadLength(ReadOnlySpan<byte> from, out int length, out int bytes)
    {
        length = 0;
        for (bytes = 0; bytes < LengthBytesMax && bytes < from.Length; bytes++)
        {
            var b = from[bytes];
            length |= (b & 0x7F) << (7 * bytes);
            if (b < 0x80)
            {
                bytes++;

                // Only the shortest form counts, so that equal packets have equal bytes.
                return bytes == LengthBytes(length);
            }
        }

        return false;
    }

    /// <summary>Writes all that stands before the messages.</summary>
    public static void WriteHead(Span<byte> to, Incarnation sender, Incarnation receiver, long first, int count, int bytes, ReadOnlySpan<byte> header)
    {
        Magic.CopyTo(to);
        to[2] = Version;
        to[3] = (byte)header.Length;
        BinaryPrimitives.WriteUInt16LittleEndian(to[4..], (ushort)sender.Worker);
        BinaryPrimitives.WriteUInt16LittleEndian(to[6..], (ushort)receiver.Worker);
        BinaryPrimitives.WriteInt64LittleEndian(to[8..], sender.Epoch);
        BinaryPrimitives.WriteInt64LittleEndian(to[16..], receiver.Epoch);
        BinaryPrimitives.WriteInt64LittleEndian(to[24..], first);
        BinaryPrimitives.WriteInt32LittleEndian(to[32..], count);
        BinaryPrimitives.WriteInt32LittleEndian(to[36..], bytes);
        header.CopyTo(to[FixedBytes..]);
    }
}
