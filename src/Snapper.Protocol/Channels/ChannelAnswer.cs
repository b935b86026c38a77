using System.Buffers.Binary;
using System.Text;
using Snapper.Protocol.Identity;

namespace Snapper.Protocol.Channels;

/// <summary>What a receiver says to a packet.</summary>
public enum AnswerKind : byte
{
    /// <summary>No answer.</summary>
    None,

    /// <summary>All messages below <see cref="ChannelAnswer.Next"/> are taken, this packet's among them.</summary>
    Taken,

    /// <summary>The packet begins too late: <see cref="ChannelAnswer.Next"/> is expected.</summary>
    Expecting,

    /// <summary>Taken up to <see cref="ChannelAnswer.Next"/>; the rest may come again a little later.</summary>
    Busy,

    /// <summary>The packet was for another life of this worker; nothing was taken.</summary>
    OtherEpoch,

    /// <summary>The sender is fenced: a later life of it, or its end, is known (<see cref="ChannelAnswer.Newest"/>); nothing was taken.</summary>
    Fenced,

    /// <summary>The worker is starting or stopping; nothing was taken.</summary>
    NotReady,

    /// <summary>The packet cannot be read, or is for another worker (<see cref="ChannelAnswer.Problem"/>); nothing was taken.</summary>
    Refused,
}

/// <summary>The answer to a packet, given at once; nothing waits for it but the next packet.</summary>
/// <remarks>
/// <code>
/// 0   2  magic "SA"     2  1  version, 1     3   1  kind
/// 4   2  worker that answers                 6   2  worker that is answered
/// 8   8  epoch that answers                  16  8  epoch that is answered
/// 24  8  next number                         32  8  newest epoch
/// 40  1  bytes of the problem's text, which follows in ASCII; then 4 bytes CRC-32C of all before
/// </code>
/// </remarks>
public readonly record struct ChannelAnswer
{
    /// <summary>Most bytes of an answer.</summary>
    public const int BytesMax = FixedBytes + ProblemBytesMax + sizeof(uint);

    private const byte Version = 1;
    private const int FixedBytes = 41;
    private const int ProblemBytesMax = 200;

    /// <summary>What is said.</summary>
    public AnswerKind Kind { get; init; }

    /// <summary>Who says it; nobody in an answer that was given before the receiver knew its epoch.</summary>
    public Incarnation From { get; init; }

    /// <summary>Whom: the sender of the packet; nobody when the packet could not be read.</summary>
    public Incarnation To { get; init; }

    /// <summary>The number that is expected next: all below it are taken. 0 where nothing is said about it.</summary>
    public long Next { get; init; }

    /// <summary>With <see cref="AnswerKind.Fenced"/>: the lowest epoch of the sender that is accepted. Otherwise 0.</summary>
    public long Newest { get; init; }

    /// <summary>With <see cref="AnswerKind.Refused"/>: what is wrong, for people. Otherwise null.</summary>
    public string? Problem { get; init; }

    /// <summary>Writes the answer.</summary>
    public byte[] ToBytes()
    {
        var text = Problem is null ? [] : Encoding.ASCII.GetBytes(Problem, 0, Math.Min(Problem.Length, ProblemBytesMax));
        var bytes = new byte[FixedBytes + text.Length + sizeof(uint)];
        "SA"u8.CopyTo(bytes);
        bytes[2] = Version;
        bytes[3] = (byte)Kind;
        BinaryPrimitives.WriteUInt16LittleEndian(bytes.AsSpan(4), (ushort)From.Worker);
        BinaryPrimitives.WriteUInt16LittleEndian(bytes.AsSpan(6), (ushort)To.Worker);
        BinaryPrimitives.WriteInt64LittleEndian(bytes.AsSpan(8), From.Epoch);
        BinaryPrimitives.WriteInt64LittleEndian(bytes.AsSpan(16), To.Epoch);
        BinaryPrimitives.WriteInt64LittleEndian(bytes.AsSpan(24), Next);
        BinaryPrimitives.WriteInt64LittleEndian(bytes.AsSpan(32), Newest);
        bytes[40] = (byte)text.Length;
        text.CopyTo(bytes, FixedBytes);
        BinaryPrimitives.WriteUInt32LittleEndian(bytes.AsSpan(FixedBytes + text.Length), Crc32C.Of(bytes.AsSpan(0, FixedBytes + text.Length)));
        return bytes;
    }

    /// <summary>Reads an answer; false: these bytes are none. Never throws.</summary>
    public static bool TryRead(ReadOnlySpan<byte> bytes, out ChannelAnswer answer)
    {
        answer = default;
        if (bytes.Length < FixedBytes + sizeof(uint) || !bytes.StartsWith("SA"u8) || bytes[2] != Version
            || bytes.Length != FixedBytes + bytes[40] + sizeof(uint)
            || BinaryPrimitives.ReadUInt32LittleEndian(bytes[^sizeof(uint)..]) != Crc32C.Of(bytes[..^sizeof(uint)])
            || bytes[3] is 0 or > (byte)AnswerKind.Refused)
        {
            return false;
        }

        answer = new ChannelAnswer
        {
            Kind = (AnswerKind)bytes[3],
            From = new Incarnation(BinaryPrimitives.ReadUInt16LittleEndian(bytes[4..]), BinaryPrimitives.ReadInt64LittleEndian(bytes[8..])),
            To = new Incarnation(BinaryPrimitives.ReadUInt16LittleEndian(bytes[6..]), BinaryPrimitives.ReadInt64LittleEndian(bytes[16..])),
            Next = BinaryPrimitives.ReadInt64LittleEndian(bytes[24..]),
            Newest = BinaryPrimitives.ReadInt64LittleEndian(bytes[32..]),
            Problem = bytes[40] == 0 ? null : Encoding.ASCII.GetString(bytes.Slice(FixedBytes, bytes[40])),
        };
        return true;
    }
}
