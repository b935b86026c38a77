namespace Snapper.Protocol.Channels;

/// <summary>Bounds of a channel. <see cref="Validate"/> names the first one that is out of range.</summary>
public sealed class ChannelLimits
{
    /// <summary>Bytes of a packet, all included, at which the next message goes into another one, 1 KiB..4 MiB. Default: 1 MiB, well below what sidecars carry.</summary>
    public int PacketBytes { get; init; } = 1 << 20;

    /// <summary>Most messages of a packet, 1..1,000,000. Default: 16,384.</summary>
    public int PacketMessages { get; init; } = 16_384;

    /// <summary>Largest message in bytes, 1 KiB..15 MiB; one that is over <see cref="PacketBytes"/> goes alone. Default: 3 MiB.</summary>
    public int MessageBytes { get; init; } = 3 << 20;

    /// <summary>Most bytes of an input or a result in a message; the rest of it is for names and lists.</summary>
    public int ContentBytes => MessageBytes / 3 * 2;

    /// <summary>Queued bytes from which on the channel calls itself full, so that no new work is admitted. Default: 8 MiB.</summary>
    public long FullBytes { get; init; } = 8 << 20;

    /// <summary>
    /// Queued bytes that should not be exceeded, at least <see cref="FullBytes"/>: room for what admitted work still has to say. A peer for which more is queued, for as long as one may be out
    /// of reach, is evicted (R5). Default: 64 MiB.
    /// </summary>
    public long QueueBytes { get; init; } = 64 << 20;

    /// <summary>Largest packet that a sender within these limits makes, also to be passed on, in bytes: what a receiver must be able to read.</summary>
    public int LargestPacket => PassedOnPacket.HeadBytes + Math.Max(PacketBytes, PacketLayout.Overhead + PacketLayout.LengthBytesMax + MessageBytes);

    /// <summary>Throws when a limit is out of range, naming it.</summary>
    /// <exception cref="ArgumentOutOfRangeException">A limit is out of range.</exception>
    public void Validate()
    {
        Check(PacketBytes, 1 << 10, 4 << 20, nameof(PacketBytes));
        Check(PacketMessages, 1, 1_000_000, nameof(PacketMessages));
        Check(MessageBytes, 1 << 10, 15 << 20, nameof(MessageBytes));
        Check(FullBytes, 1, long.MaxValue, nameof(FullBytes));
        Check(QueueBytes, FullBytes, long.MaxValue, nameof(QueueBytes));
    }

    private static void Check(long value, long least, long most, string name)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(value, least, name);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(value, most, name);
    }
}
