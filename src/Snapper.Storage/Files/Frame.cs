using System.Buffers.Binary;
using Snapper.Storage.Log.Records;

namespace Snapper.Storage.Files;

/// <summary>
/// The header of a frame in our files: magic, payload length (u32), a number (i64), a count (i32), the payload's CRC-32C and the
/// header's own, seeded with the file's salt. Little-endian.
/// </summary>
/// <remarks>
/// The salt keeps bytes that a user stored (a copy of a log, say) from passing for a frame of this file, when a damaged file
/// is searched for what follows the damage.
/// </remarks>
internal readonly record struct FrameHeader(int PayloadBytes, long Number, int Count, uint PayloadChecksum)
{
    public const int Bytes = 28;
    private const uint Magic = 0x474E5053; // "SPNG"

    public static void Write(Span<byte> into, uint salt, long number, int count, ReadOnlySpan<byte> payload)
    {
        BinaryPrimitives.WriteUInt32LittleEndian(into, Magic);
        BinaryPrimitives.WriteInt32LittleEndian(into[4..], payload.Length);
        BinaryPrimitives.WriteInt64LittleEndian(into[8..], number);
        BinaryPrimitives.WriteInt32LittleEndian(into[16..], count);
        BinaryPrimitives.WriteUInt32LittleEndian(into[20..], Checksum.Of(payload));
        BinaryPrimitives.WriteUInt32LittleEndian(into[24..], Checksum.Of(into[..24], salt));
    }

    public static bool TryRead(ReadOnlySpan<byte> from, uint salt, out FrameHeader header)
    {
        if (from.Length < Bytes
            || BinaryPrimitives.ReadUInt32LittleEndian(from) != Magic
            || BinaryPrimitives.ReadUInt32LittleEndian(from[24..]) != Checksum.Of(from[..24], salt)
            || BinaryPrimitives.ReadInt32LittleEndian(from[4..]) < 0)
        {
            header = default;
            return false;
        }

        header = new FrameHeader(
            BinaryPrimitives.ReadInt32LittleEndian(from[4..]),
            BinaryPrimitives.ReadInt64LittleEndian(from[8..]),
            BinaryPrimitives.ReadInt32LittleEndian(from[16..]),
            BinaryPrimitives.ReadUInt32LittleEndian(from[20..]));
        return true;
    }
}

/// <summary>The first bytes of each of our files: what it is, and its salt.</summary>
internal static class FileHeader
{
    public const int Bytes = 16;
    private const ulong Magic = 0x31474F4C50414E53; // "SNAPLOG1" in file order

    public static void Write(Span<byte> into, uint salt)
    {
        BinaryPrimitives.WriteUInt64LittleEndian(into, Magic);
        BinaryPrimitives.WriteUInt32LittleEndian(into[8..], salt);
        BinaryPrimitives.WriteUInt32LittleEndian(into[12..], Checksum.Of(into[..12]));
    }

    public static bool TryRead(ReadOnlySpan<byte> from, out uint salt)
    {
        salt = 0;
        if (from.Length < Bytes
            || BinaryPrimitives.ReadUInt64LittleEndian(from) != Magic
            || BinaryPrimitives.ReadUInt32LittleEndian(from[12..]) != Checksum.Of(from[..12]))
        {
            return false;
        }

        salt = BinaryPrimitives.ReadUInt32LittleEndian(from[8..]);
        return true;
    }
}
