using System.Buffers.Binary;
using Snapper.Protocol.Identity;

namespace Snapper.Protocol.Channels;

/// <summary>A packet as it was read: consecutive messages of one channel, or none. Lives as long as the bytes that it was read from.</summary>
public readonly struct ChannelPacket
{
    /// <summary>Most bytes of the header blob.</summary>
    public const int HeaderBytesMax = PacketLayout.HeaderBytesMax;

    /// <summary>Who sent it.</summary>
    public Incarnation From { get; private init; }

    /// <summary>Whom it is for; epoch 0: whoever is that worker now (then it holds no messages).</summary>
    public Incarnation To { get; private init; }

    /// <summary>Number of the first message; without messages, of the next one. 1 or more.</summary>
    public long First { get; private init; }

    /// <summary>Number of messages.</summary>
    public int Count { get; private init; }

    /// <summary>What the sender's owner put into the packet's head; at most <see cref="HeaderBytesMax"/> bytes.</summary>
    public ReadOnlyMemory<byte> Header { get; private init; }

    /// <summary>The messages with their lengths.</summary>
    internal ReadOnlyMemory<byte> Body { get; private init; }

    /// <summary>The messages, in order.</summary>
    public PacketMessages GetEnumerator() => new(Body);

    /// <summary>Reads a packet. Allocates nothing, never throws, and refuses whatever a sender does not write.</summary>
    /// <param name="bytes">All bytes of the packet and nothing else.</param>
    /// <param name="packet">The packet; every message in it can be read.</param>
    /// <param name="problem">What is wrong; empty when nothing is.</param>
    public static bool TryRead(ReadOnlyMemory<byte> bytes, out ChannelPacket packet, out string problem)
    {
        packet = default;
        problem = Read(bytes, ref packet);
        return problem.Length == 0;
    }

    private static string Read(ReadOnlyMemory<byte> bytes, ref ChannelPacket packet)
    {
        var span = bytes.Span;
        if (span.Length < PacketLayout.FixedBytes + PacketLayout.ChecksumBytes)
        {
            return "The packet is shorter than its head.";
        }

        if (!span.StartsWith(PacketLayout.Magic))
        {
            return "These bytes are no packet.";
        }

        if (span[2] != PacketLayout.Version)
        {
            return "The packet has a version that is not known here.";
        }

        var headerBytes = span[3];
        if (headerBytes > PacketLayout.HeaderBytesMax)
        {
            return "The header blob of the packet is too long.";
        }

        var bodyBytes = BinaryPrimitives.ReadInt32LittleEndian(span[36..]);
        if (bodyBytes < 0 || (long)PacketLayout.FixedBytes + headerBytes + bodyBytes + PacketLayout.ChecksumBytes != span.Length)
        {
            return "The packet is not as long as it says.";
        }

        var signed = span[..^PacketLayout.ChecksumBytes];
        if (BinaryPrimitives.ReadUInt32LittleEndian(span[signed.Length..]) != Crc32C.Of(signed))
        {
            return "The checksum of the packet is wrong.";
        }

        var read = new ChannelPacket
        {
            From = new Incarnation(BinaryPrimitives.ReadUInt16LittleEndian(span[4..]), BinaryPrimitives.ReadInt64LittleEndian(span[8..])),
            To = new Incarnation(BinaryPrimitives.ReadUInt16LittleEndian(span[6..]), BinaryPrimitives.ReadInt64LittleEndian(span[16..])),
            First = BinaryPrimitives.ReadInt64LittleEndian(span[24..]),
            Count = BinaryPrimitives.ReadInt32LittleEndian(span[32..]),
            Header = bytes.Slice(PacketLayout.FixedBytes, headerBytes),
            Body = bytes.Slice(PacketLayout.FixedBytes + headerBytes, bodyBytes),
        };
        if (ProblemOf(read) is { Length: > 0 } problem)
        {
            return problem;
        }

        packet = read;
        return "";
    }

    private static string ProblemOf(in ChannelPacket packet)
    {
        if (!IsWorker(packet.From.Worker) || packet.From.Epoch < 1)
        {
            return "The packet names no sender.";
        }

        if (!IsWorker(packet.To.Worker) || packet.To.Epoch < 0)
        {
            return "The packet names no receiver.";
        }

        if (packet.First < 1 || packet.Count < 0 || packet.First > long.MaxValue - packet.Count)
        {
            return "The numbers of the packet's messages are out of range.";
        }

        if (packet.To.Epoch == 0 && packet.Count > 0)
        {
            return "The packet has messages for nobody in particular.";
        }

        // Every length is looked at before the first message is used: nothing is delivered from a packet that breaks off.
        var rest = packet.Body.Span;
        for (var i = 0; i < packet.Count; i++)
        {
            if (!PacketLayout.TryReadLength(rest, out var length, out var bytes) || length > rest.Length - bytes)
            {
                return "A message of the packet is longer than the packet.";
            }

            rest = rest[(bytes + length)..];
        }

        return rest.IsEmpty ? "" : "The packet has more bytes than messages.";
    }

    private static bool IsWorker(int number) => number is > 0 and < TransactionId.WorkerLimit;
}

/// <summary>Walks through the messages of a packet.</summary>
public ref struct PacketMessages
{
    private ReadOnlyMemory<byte> _rest;

    internal PacketMessages(ReadOnlyMemory<byte> body) => _rest = body;

    /// <summary>The message.</summary>
    public ReadOnlyMemory<byte> Current { get; private set; }

    /// <summary>Goes to the next message; false: there is none.</summary>
    public bool MoveNext()
    {
        // The packet was checked when it was read; a length that cannot be read ends it.
        if (!PacketLayout.TryReadLength(_rest.Span, out var length, out var bytes))
        {
            return false;
        }

        Current = _rest.Slice(bytes, length);
        _rest = _rest[(bytes + length)..];
        return true;
    }
}
