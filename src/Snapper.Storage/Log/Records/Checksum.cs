using System.Numerics;
using System.Runtime.InteropServices;

namespace Snapper.Storage.Log.Records;

/// <summary>CRC-32C (Castagnoli), as in iSCSI and ext4; one processor instruction per eight bytes.</summary>
internal static class Checksum
{
    public static uint Of(ReadOnlySpan<byte> bytes, uint seed = 0)
    {
        var crc = ~seed;
        var words = MemoryMarshal.Cast<byte, ulong>(bytes);
        foreach (var word in words)
        {
            crc = BitOperations.Crc32C(crc, BitConverter.IsLittleEndian ? word : System.Buffers.Binary.BinaryPrimitives.ReverseEndianness(word));
        }

        foreach (var b in bytes[(words.Length * sizeof(ulong))..])
        {
            crc = BitOperations.Crc32C(crc, b);
        }

        return ~crc;
    }
}
