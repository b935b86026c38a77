using Snapper.Protocol.Identity;

namespace Snapper.Protocol.Channels;

/// <summary>
/// The receiving end of the channel from one peer: in order and exactly once for each life of the peer. Duplicates are dropped, gaps and earlier lives
/// refused; a later life begins anew. Not thread-safe.
/// </summary>
/// <remarks>
/// For each packet: <see cref="Offer"/>; if it says so, tell the notices of the <see cref="PeerView"/>, hand out the messages from <c>skip</c> on with a
/// <see cref="Take"/> before each, and answer with <see cref="Answer"/>.
/// </remarks>
public sealed class ChannelReceiver
{
    private readonly Incarnation _own;
    private readonly PeerView _peer;
    private Incarnation _from;
    private readonly List<uint> _checksums = []; // of the messages of the packet that brought something new last
    private long _checksumsFrom = 1;
    private long _next = 1;

    /// <param name="own">This worker in this life.</param>
    /// <param name="peer">What is known of the peer; shared with the channel to it.</param>
    public ChannelReceiver(Incarnation own, PeerView peer)
    {
        ArgumentNullException.ThrowIfNull(peer);
        _own = own;
        _peer = peer;
    }

    /// <summary>Messages that came again and were dropped.</summary>
    public long Duplicates { get; private set; }

    /// <summary>Packets that were refused.</summary>
    public long Refusals { get; private set; }

    /// <summary>Number of the message that is expected next from the peer's current life.</summary>
    public long Next => _from == _peer.Known ? _next : 1;

    /// <summary>Looks at a packet.</summary>
    /// <param name="packet">The packet, as read.</param>
    /// <param name="skip">How many of its messages are known already.</param>
    /// <param name="refusal">The answer, when nothing of the packet must be used.</param>
    /// <returns>True: take the messages after <paramref name="skip"/>, which may be none.</returns>
    public bool Offer(in ChannelPacket packet, out int skip, out ChannelAnswer refusal)
    {
        skip = 0;
        refusal = Refuse(packet);
        if (refusal.Kind != AnswerKind.None)
        {
            Refusals++;
            return false;
        }

        skip = (int)Math.Min(_next - packet.First, packet.Count);
        Duplicates += skip;
        if (packet.Count > skip)
        {
            Remember(packet);
        }

        return true;
    }

    /// <summary>The next message of a packet that was accepted is taken.</summary>
    public void Take() => _next++;

    /// <summary>The answer after messages of a packet were taken.</summary>
    /// <param name="to">The packet's sender.</param>
    /// <param name="all">False: its last ones were not, because this worker has too much to do.</param>
    public ChannelAnswer Answer(Incarnation to, bool all) =>
        new() { Kind = all ? AnswerKind.Taken : AnswerKind.Busy, From = _own, To = to, Next = _next };

    private ChannelAnswer Refuse(in ChannelPacket packet)
    {
        if (packet.To.Worker != _own.Worker || packet.From.Worker != _peer.Worker)
        {
            return Say(AnswerKind.Refused, packet) with { Problem = $"The packet from {packet.From} to {packet.To} came to {_own}." };
        }

        if (packet.From.Epoch < _peer.Lowest)
        {
            return Say(AnswerKind.Fenced, packet) with { Newest = _peer.Lowest };
        }

        // Also from a packet that was meant for another life of this worker: its sender is who it says.
        _peer.Learn(packet.From);
        Follow();
        if (packet.To.Epoch != _own.Epoch)
        {
            if (packet.To.Epoch > _own.Epoch)
            {
                _peer.OwnLifeIsOver(packet.To);
            }

            return Say(AnswerKind.OtherEpoch, packet);
        }

        if (packet.First > _next)
        {
            return Say(AnswerKind.Expecting, packet) with { Next = _next };
        }

        return IsTheSame(packet) ? default : Say(AnswerKind.Refused, packet) with
        {
            Problem = $"Other messages of {packet.From} have come with the numbers from {packet.First} on.",
        };
    }

    /// <summary>
    /// A message that comes again is what was taken under its number. If not, another has sent one of both, and to call
    /// it known would lose it in silence. A sender goes back no further than to its last packet.
    /// </summary>
    private bool IsTheSame(in ChannelPacket packet)
    {
        var number = packet.First;
        foreach (var message in packet)
        {
            if (number == _next)
            {
                break;
            }

            var at = number++ - _checksumsFrom;
            if (at >= 0 && at < _checksums.Count && _checksums[(int)at] != Crc32C.Of(message.Span))
            {
                return false;
            }
        }

        return true;
    }

    private void Remember(in ChannelPacket packet)
    {
        _checksums.Clear();
        _checksumsFrom = packet.First;
        foreach (var message in packet)
        {
            _checksums.Add(Crc32C.Of(message.Span));
        }
    }

    private ChannelAnswer Say(AnswerKind kind, in ChannelPacket packet) => new() { Kind = kind, From = _own, To = packet.From };

    /// <summary>Numbers count per life of the sender.</summary>
    private void Follow()
    {
        if (_from != _peer.Known)
        {
            _from = _peer.Known;
            _next = 1;
            _checksums.Clear();
        }
    }
}
