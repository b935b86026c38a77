using System.Buffers.Binary;

namespace Snapper.Protocol.Channels;

/// <summary>
/// A packet on its way to a third worker, which passes it on to its receiver: the bytes of the packet as they are, behind four of its own. The packet names its receiver itself.
/// </summary>
/// <remarks>
/// <code>
/// 0  2  magic "SV"     2  1  version, 1     3  1  0     4  the packet (<see cref="PacketLayout"/>)
/// </code>
/// What is inside is a packet and never another one of these: nothing is passed on twice. A worker that does not know them refuses them as bytes that are no packet.
/// </remarks>
public static class PassedOnPacket
{
    /// <summary>Bytes before the packet.</summary>
    public const int HeadBytes = 4;

    private const byte Version = 1;
    private const int ReceiverAt = HeadBytes + 6;

    private static ReadOnlySpan<byte> Head => [(byte)'S', (byte)'V', Version, 0];

    /// <summary>These bytes are to be passed on.</summary>
    public static bool Is(ReadOnlySpan<byte> bytes) => bytes.StartsWith(Head);

    /// <summary>Writes it; copies the packet.</summary>
    public static byte[] Wrap(ReadOnlySpan<byte> packet)
    {
        var bytes = new byte[HeadBytes + packet.Length];
        Head.CopyTo(bytes);
        packet.CopyTo(bytes.AsSpan(HeadBytes));
        return bytes;
    }

    /// <summary>The packet that is in it; bytes that are not to be passed on stay as they are.</summary>
    public static ReadOnlyMemory<byte> Unwrap(ReadOnlyMemory<byte> bytes) => Is(bytes.Span) ? bytes[HeadBytes..] : bytes;

    /// <summary>Number of the worker that the packet in it is for; 0: these bytes are not to be passed on.</summary>
    public static int ReceiverOf(ReadOnlySpan<byte> bytes) =>
        Is(bytes) && bytes.Length >= ReceiverAt + sizeof(ushort) ? BinaryPrimitives.ReadUInt16LittleEndian(bytes[ReceiverAt..]) : 0;
}
