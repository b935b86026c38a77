using System.Buffers.Binary;
using Snapper.Protocol.Channels;
using Snapper.Protocol.Identity;

namespace Snapper.Protocol.Tests.Channels;

/// <summary>Packets as bytes, for tests that make or change them behind the sender's back.</summary>
internal static class PacketBytes
{
    public static byte[] Of(Incarnation from, Incarnation to, long first, params byte[][] messages) => Of(from, to, first, [], messages);

    public static byte[] Of(Incarnation from, Incarnation to, long first, byte[] header, byte[][] messages)
    {
        var packet = new PendingPacket();
        packet.Reset(first);
        foreach (var message in messages)
        {
            packet.Add(message);
        }

        var bytes = packet.Seal(from, to, header).ToArray();
        packet.Release();
        return bytes;
    }

    /// <summary>The same messages under another head.</summary>
    public static byte[] Changed(ReadOnlySpan<byte> packet, Incarnation from, Incarnation to, long first)
    {
        var bytes = packet.ToArray();
        BinaryPrimitives.WriteUInt16LittleEndian(bytes.AsSpan(4), (ushort)from.Worker);
        BinaryPrimitives.WriteUInt16LittleEndian(bytes.AsSpan(6), (ushort)to.Worker);
        BinaryPrimitives.WriteInt64LittleEndian(bytes.AsSpan(8), from.Epoch);
        BinaryPrimitives.WriteInt64LittleEndian(bytes.AsSpan(16), to.Epoch);
        BinaryPrimitives.WriteInt64LittleEndian(bytes.AsSpan(24), first);
        return Signed(bytes);
    }

    /// <summary>With the checksum that fits.</summary>
    public static byte[] Signed(byte[] bytes)
    {
        BinaryPrimitives.WriteUInt32LittleEndian(bytes.AsSpan(bytes.Length - sizeof(uint)), Crc32C.Of(bytes.AsSpan(0, bytes.Length - sizeof(uint))));
        return bytes;
    }

    public static ChannelPacket Read(ReadOnlyMemory<byte> bytes)
    {
        Assert.True(ChannelPacket.TryRead(bytes, out var packet, out var problem), problem);
        return packet;
    }
}
