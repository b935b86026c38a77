using Snapper.Protocol.Identity;

namespace Snapper.Protocol.Channels;

/// <summary>What became of a message that was to be queued.</summary>
public enum EnqueueResult : byte
{
    /// <summary>It is queued.</summary>
    Queued,

    /// <summary>The life that it was for is over; the owner has been told, or is about to be.</summary>
    Gone,

    /// <summary>
    /// The queue has its hard limit. The channel would have a hole if the owner went on: it must keep the message, or queue it beyond the limit.
    /// </summary>
    Full,

    /// <summary>This worker itself is fenced in the eyes of the peer; nothing is sent any more.</summary>
    OwnLifeIsOver,
}

/// <summary>What the shell does next.</summary>
public enum SendStep : byte
{
    /// <summary>Try to take the next packet.</summary>
    GoOn,

    /// <summary>Pause, then try to take it.</summary>
    Pause,

    /// <summary>The attempt is not the current one; nothing has changed for it.</summary>
    None,
}

/// <summary>
/// The sending end of the channel to one peer. Messages are numbered from 1 for each pair of lives and go out in packets, one at a time; what is queued
/// meanwhile goes in the next one. A packet whose fate is unknown goes again with the same numbers. Not thread-safe.
/// </summary>
public sealed partial class ChannelSender
{
    private readonly Incarnation _own;
    private readonly PeerView _peer;
    private readonly ChannelLimits _limits;
    private readonly Queue<PendingPacket> _queue = new();
    private PendingPacket? _last;
    private PendingPacket? _current;
    private PendingPacket? _spare;
    private Incarnation _to;
    private long _nextNumber = 1;
    private long _attempts;
    private bool _wanted;
    private bool _carriesWish;
    private bool _sentBefore;
    private Incarnation _misled;

    /// <param name="own">This worker in this life.</param>
    /// <param name="peer">What is known of the peer; shared with the channel from it.</param>
    /// <param name="limits">Bounds.</param>
    public ChannelSender(Incarnation own, PeerView peer, ChannelLimits limits)
    {
        ArgumentNullException.ThrowIfNull(peer);
        ArgumentNullException.ThrowIfNull(limits);
        limits.Validate();
        _own = own;
        _peer = peer;
        _limits = limits;
    }

    /// <summary>Bytes that are queued or under way.</summary>
    public long QueuedBytes { get; private set; }

    /// <summary>Messages that are queued or under way.</summary>
    public long QueuedMessages { get; private set; }

    /// <summary>So much is queued that no new work should be begun that needs this peer.</summary>
    public bool IsFull => QueuedBytes >= _limits.FullBytes;

    /// <summary>More is queued than the hard limit: the peer takes less than it must to be one that others can work with (R5).</summary>
    public bool IsOverfull => QueuedBytes > _limits.QueueBytes;

    /// <summary>The peer knows a later life of this worker: nothing is sent to it any more.</summary>
    public bool IsFenced { get; private set; }

    /// <summary>
    /// The peer's life has taken what this life never sent: it was another that sent it. The channel carries nothing
    /// until one of both begins a new life.
    /// </summary>
    public bool IsMisled => !_to.IsNone && _misled == _to;

    /// <summary>There is something to send, or an answer is awaited.</summary>
    public bool HasWork => !IsFenced && (_wanted || QueuedMessages > 0 || Attempt != 0);

    /// <summary>The attempt whose answer is awaited; 0: none.</summary>
    public long Attempt { get; private set; }

    /// <summary>Number of the message that is queued next.</summary>
    public long Next => _nextNumber;

    /// <summary>Number of the first message that the peer has not taken, as far as is known; if there is none, <see cref="Next"/>.</summary>
    public long First => _nextNumber - QueuedMessages;

    /// <summary>Attempts so far.</summary>
    public long Packets => _attempts;

    /// <summary>Attempts that sent a packet again.</summary>
    public long Retransmissions { get; private set; }

    /// <summary>Messages that the peer has taken.</summary>
    public long Acknowledged { get; private set; }

    /// <summary>Messages that were dropped because the life that they were for is over.</summary>
    public long Dropped { get; private set; }

    /// <summary>Answers that could not be used: from another worker, an earlier life, or a refusal.</summary>
    public long UnusableAnswers { get; private set; }

    /// <summary>Queues a message for a life of the peer; copies it.</summary>
    /// <param name="to">That life.</param>
    /// <param name="message">The message.</param>
    /// <param name="beyondLimit">Also when the queue has its hard limit: what others wait for must not be lost.</param>
    /// <exception cref="ArgumentException">The message is too long, or for another worker.</exception>
    public EnqueueResult Enqueue(Incarnation to, ReadOnlySpan<byte> message, bool beyondLimit = false)
    {
        if (message.Length > _limits.MessageBytes)
        {
            throw new ArgumentException($"A message of {message.Length} bytes is over the limit of {_limits.MessageBytes}.", nameof(message));
        }

        _peer.Learn(to);
        Follow();
        if (IsFenced)
        {
            return EnqueueResult.OwnLifeIsOver;
        }

        if (to != _to)
        {
            return EnqueueResult.Gone;
        }

        var bytes = PacketLayout.LengthBytes(message.Length) + message.Length;
        if (QueuedBytes + bytes > _limits.QueueBytes && QueuedBytes > 0 && !beyondLimit)
        {
            return EnqueueResult.Full;
        }

        if (_last is null || !_last.HasRoom(message.Length, _limits))
        {
            _last = New();
            _queue.Enqueue(_last);
        }

        _last.Add(message);
        _nextNumber++;
        QueuedBytes += bytes;
        QueuedMessages++;
        return EnqueueResult.Queued;
    }

    /// <summary>
    /// Asks for a packet even if no message is queued: to carry a header blob, or to learn which life of the peer answers. Repeated until it is answered.
    /// </summary>
    public void RequestPacket() => _wanted = !IsFenced;

    /// <summary>Both directions look at one <see cref="PeerView"/>; what another life than the current one was to get is dropped.</summary>
    public void Follow()
    {
        if (_to == _peer.Known)
        {
            return;
        }

        DropAll();
        _to = _peer.Known;
        _nextNumber = 1;
    }

    /// <summary>The next packet to send, or the one before again; false: nothing to send, or an attempt is under way.</summary>
    /// <param name="header">Blob for the packet's head, at most <see cref="ChannelPacket.HeaderBytesMax"/> bytes.</param>
    /// <param name="packet">The bytes. They are valid until this attempt is answered, has failed, or is no longer <see cref="Attempt"/>.</param>
    public bool TryTake(ReadOnlySpan<byte> header, out ReadOnlyMemory<byte> packet)
    {
        ArgumentOutOfRangeException.ThrowIfGreaterThan(header.Length, ChannelPacket.HeaderBytesMax, nameof(header));
        packet = default;
        Follow();
        if (Attempt != 0 || IsFenced || (_current ??= NextPacket()) is not { } current)
        {
            return false;
        }

        // Any packet will do; should this one fail, the wish comes back.
        _carriesWish = _wanted;
        _wanted = false;
        Attempt = ++_attempts;
        if (_sentBefore)
        {
            Retransmissions++;
        }

        _sentBefore = true;
        var receiver = _to.IsNone ? new Incarnation(_peer.Worker, 0) : _to;
        packet = current.Seal(_own, receiver, header);
        return true;
    }

    private PendingPacket? NextPacket()
    {
        _sentBefore = false;
        if (_queue.TryDequeue(out var packet))
        {
            // What is queued from now on goes into another packet.
            _last = _queue.Count == 0 ? null : _last;
            return packet;
        }

        return _wanted ? New() : null;
    }

    private PendingPacket New()
    {
        var packet = _spare ?? new PendingPacket();
        _spare = null;
        packet.Reset(_nextNumber);
        return packet;
    }

    private void RestoreWish()
    {
        _wanted |= _carriesWish;
        _carriesWish = false;
    }

    private void Forget(PendingPacket packet)
    {
        packet.Release();
        _spare = packet;
    }

    private void DropAll()
    {
        if (_current is not null && Attempt != 0)
        {
            // Somebody may still be reading its bytes.
            _current.LeaveMemory();
            RestoreWish();
        }

        _current?.Release();
        _current = null;
        while (_queue.TryDequeue(out var packet))
        {
            packet.Release();
        }

        _last = null;
        Attempt = 0;
        Dropped += QueuedMessages;
        QueuedBytes = 0;
        QueuedMessages = 0;
    }
}
