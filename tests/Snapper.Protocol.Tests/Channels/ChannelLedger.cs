using System.Buffers.Binary;
using Snapper.Protocol.Channels;
using Snapper.Protocol.Identity;

namespace Snapper.Protocol.Tests.Channels;

/// <summary>
/// What was sent and what came, between every two lives: the contract of the channels, said in the most obvious way. Messages carry sender, receiver and
/// their place in the order of sending.
/// </summary>
internal sealed class ChannelLedger
{
    public const int MessageBytesMin = 36;

    private readonly Dictionary<(Incarnation From, Incarnation To), int> _sent = [];
    private readonly Dictionary<(Incarnation From, Incarnation To), int> _came = [];
    private readonly Dictionary<(Incarnation At, int Worker), Incarnation> _up = [];
    private readonly Dictionary<(Incarnation At, int Worker), long> _over = [];

    public long Delivered { get; private set; }

    public int Sent(Incarnation from, Incarnation to) => _sent.GetValueOrDefault((from, to));

    public int Came(Incarnation from, Incarnation to) => _came.GetValueOrDefault((from, to));

    /// <summary>The next message from one life to another; counted only with <see cref="Count"/>.</summary>
    public byte[] Message(Incarnation from, Incarnation to, int length)
    {
        var bytes = new byte[Math.Max(length, MessageBytesMin)];
        BinaryPrimitives.WriteInt32LittleEndian(bytes, from.Worker);
        BinaryPrimitives.WriteInt64LittleEndian(bytes.AsSpan(4), from.Epoch);
        BinaryPrimitives.WriteInt32LittleEndian(bytes.AsSpan(12), to.Worker);
        BinaryPrimitives.WriteInt64LittleEndian(bytes.AsSpan(16), to.Epoch);
        BinaryPrimitives.WriteInt32LittleEndian(bytes.AsSpan(24), Sent(from, to));
        BinaryPrimitives.WriteInt32LittleEndian(bytes.AsSpan(28), bytes.Length);
        bytes.AsSpan(32).Fill((byte)Sent(from, to));
        return bytes;
    }

    public void Count(Incarnation from, Incarnation to) => _sent[(from, to)] = Sent(from, to) + 1;

    /// <summary>A message was handed out.</summary>
    public void Deliver(Incarnation at, Incarnation from, ReadOnlySpan<byte> message)
    {
        Delivered++;
        Require(message.Length >= MessageBytesMin, $"{at} got {message.Length} bytes from {from}: too few.");
        var sender = new Incarnation(BinaryPrimitives.ReadInt32LittleEndian(message), BinaryPrimitives.ReadInt64LittleEndian(message[4..]));
        var receiver = new Incarnation(BinaryPrimitives.ReadInt32LittleEndian(message[12..]), BinaryPrimitives.ReadInt64LittleEndian(message[16..]));
        var place = BinaryPrimitives.ReadInt32LittleEndian(message[24..]);
        Require(receiver == at, $"{at} got message {place} from {sender} to {receiver}.");
        Require(sender == from, $"{at} got message {place} of {sender} as one of {from}.");
        Require(place == Came(from, at), $"{at} got message {place} of {from} as its number {Came(from, at)}.");
        Require(BinaryPrimitives.ReadInt32LittleEndian(message[28..]) == message.Length, $"Message {place} of {from} came with {message.Length} bytes.");
        Require(message[32..].IndexOfAnyExcept((byte)place) < 0, $"Message {place} of {from} came with other bytes.");
        Require(_up.GetValueOrDefault((at, from.Worker)) == from, $"{at} got message {place} of {from}, which is not up there.");
        _came[(from, at)] = place + 1;
        Require(place < Sent(from, at), $"{at} got message {place} of {from} before it was sent.");
    }

    /// <summary>The owner of a channel was told something.</summary>
    public void Notice(Incarnation at, PeerNotice notice)
    {
        var key = (at, notice.Peer.Worker);
        switch (notice.Kind)
        {
            case PeerNoticeKind.Up:
                Require(_up.GetValueOrDefault(key).IsNone, $"{at} was told that {notice.Peer} is up while {_up.GetValueOrDefault(key)} was.");
                Require(notice.Peer.Epoch > _over.GetValueOrDefault(key), $"{at} was told that {notice.Peer} is up, after a later life had ended.");
                _up[key] = notice.Peer;
                break;
            case PeerNoticeKind.Gone:
                Require(_up.GetValueOrDefault(key) == notice.Peer, $"{at} was told that {notice.Peer} is gone while {_up.GetValueOrDefault(key)} was up.");
                _up.Remove(key);
                _over[key] = notice.Peer.Epoch;
                break;
            case PeerNoticeKind.OwnLifeIsOver:
                Require(notice.Peer.Worker == at.Worker && notice.Peer.Epoch > at.Epoch, $"{at} was told that it is over because of {notice.Peer}.");
                break;
        }
    }

    public static void Require(bool condition, string otherwise)
    {
        if (!condition)
        {
            throw new LedgerException(otherwise);
        }
    }
}

/// <summary>The contract of the channels is broken.</summary>
internal sealed class LedgerException(string message) : Exception(message);
