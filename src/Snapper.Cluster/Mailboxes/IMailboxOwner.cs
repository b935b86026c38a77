using Snapper.Protocol.Identity;

namespace Snapper.Cluster.Mailboxes;

/// <summary>
/// Whoever the mailboxes of a worker work for. What concerns one peer is told one at a time and in order; peers are independent of each other, so calls
/// for different ones come at the same time. Every method returns at once and throws nothing: it only queues.
/// </summary>
public interface IMailboxOwner
{
    /// <summary>So much is queued here that no more messages are taken for now; the peers keep theirs and try again.</summary>
    bool IsBusy { get; }

    /// <summary>A packet is about to be handed over; before its messages.</summary>
    /// <param name="from">Its sender.</param>
    /// <param name="header">Its head; perhaps empty.</param>
    void OnPacket(Incarnation from, ReadOnlyMemory<byte> header)
    {
    }

    /// <summary>The messages of a packet were handed over, or as many of them as could be.</summary>
    void OnPacketEnd()
    {
    }

    /// <summary>
    /// A packet or an answer claims a life that would end another one: a later one of its sender, or of this worker.
    /// Called at each such packet; one that is not believed changes nothing, and comes again.
    /// </summary>
    /// <param name="claimed">The life; of this worker: one that is to have followed.</param>
    /// <returns>True: it is known to be true from where it cannot be forged.</returns>
    bool Believes(Incarnation claimed) => true;

    /// <summary>
    /// Reads a message. All messages of a packet are read before the first one is handed over: a packet with one that
    /// cannot be read is refused, and nothing of it is taken. It may come again.
    /// </summary>
    /// <param name="from">Its sender.</param>
    /// <param name="message">Valid only during the call: copy what is kept.</param>
    /// <param name="problem">What is wrong with it, when it cannot be read.</param>
    /// <returns>The message as <see cref="OnMessage"/> is to be given it; null: it cannot be read.</returns>
    object? Read(Incarnation from, ReadOnlyMemory<byte> message, out string problem);

    /// <summary>A packet was refused, because a message of it cannot be read.</summary>
    /// <param name="from">Its sender.</param>
    /// <param name="problem">What is wrong with it.</param>
    void OnUnreadable(Incarnation from, string problem)
    {
    }

    /// <summary>A message, in the order of sending and exactly once for each life of the peer.</summary>
    /// <param name="from">Its sender, which is the peer's current life.</param>
    /// <param name="message">As <see cref="Read"/> has returned it.</param>
    void OnMessage(Incarnation from, object message);

    /// <summary>
    /// The head of a packet, after its messages. An old one may come late: what it says must only grow. Empty ones are not told.
    /// </summary>
    void OnHeader(Incarnation from, ReadOnlyMemory<byte> header);

    /// <summary>A life of a peer is known; before its first message.</summary>
    void OnPeerUp(Incarnation peer);

    /// <summary>A life of a peer is over; after its last message. What was queued for it is dropped.</summary>
    void OnPeerGone(Incarnation peer);

    /// <summary>A peer knows a later life of this worker: check the log's epoch. At most once per peer.</summary>
    void OnOwnIncarnationEnded(Incarnation later);

    /// <summary>An invariant of a channel is broken: the worker must stop. At most once per peer.</summary>
    void OnViolation(Exception violation);

    /// <summary>Packets to a worker go another way from now on, and are answered; from any thread.</summary>
    /// <param name="worker">Number of the worker.</param>
    /// <param name="via">Number of the worker that passes them on; 0: they go directly again.</param>
    void OnRoad(int worker, int via)
    {
    }

    /// <summary>Writes what the next packet to a worker shall carry in its head. Called from any thread.</summary>
    /// <param name="worker">The worker.</param>
    /// <param name="waited">For how long the messages of the packet may have waited here; zero: for no longer than a packet takes.</param>
    /// <param name="header">Where to.</param>
    /// <returns>Bytes written.</returns>
    int WriteHeader(int worker, TimeSpan waited, Span<byte> header);
}
