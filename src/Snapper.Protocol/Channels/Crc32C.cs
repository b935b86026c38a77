using System.Buffers.Binary;
using System.Numerics;

namespace Snapper.Protocol.Channels;

/// <summary>CRC-32C (Castagnoli); one processor instruction per eight bytes.</summary>
internal static class Crc32C
{
    public static uint Of(ReadOnlySpan<byte> bytes)
    {
        var crc = ~0u;
        while (bytes.Length >= sizeof(ulong))
        {
            crc = BitOperations.Crc32C(crc, BinaryPrimitives.ReadUInt64LittleEndian(bytes));
            bytes = bytes[sizeof(ulong)..];
        }

        foreach (var b in bytes)
        {
            crc = BitOperations.Crc32C(crc, b);
        }

        return ~crc;
    }
}
