using System.Globalization;
using Snapper.Cluster.Mailboxes;
using Snapper.Protocol.Channels;
using Snapper.Protocol.Identity;
using Snapper.Sidecar.Client;

namespace Snapper.AspNetCore.Hosting;

/// <summary>Packets as actor calls through this worker's own sidecar to <c>Mailbox@w{n}</c>; those that it shall pass on, to the actor with the number of the worker that they are for.</summary>
/// <param name="sidecar">The sidecar.</param>
/// <param name="seal">What packets show, and answers must.</param>
internal sealed class SidecarMailboxTransport(DaprSidecarClient sidecar, MailboxSeal seal) : IMailboxTransport
{
    private readonly Peer?[] _peers = new Peer?[TransactionId.WorkerLimit];

    public async Task<ReadOnlyMemory<byte>> Deliver(int worker, ReadOnlyMemory<byte> packet, CancellationToken cancellation)
    {
        // A call that waits for a third worker must not hold up those to actor 0: a sidecar lets one call at a time to an actor in.
        var peer = PassedOnPacket.ReceiverOf(packet.Span) is > 0 and var receiver
            ? PeerOf(worker, receiver.ToString(CultureInfo.InvariantCulture))
            : _peers[worker] ??= PeerOf(worker, MailboxEndpoint.ActorId);
        var shown = seal.Of(peer.Mailbox, packet.Span);

        // No continuation may run on a context of the caller's.
        var answer = await sidecar.InvokeActor(peer.Address, packet, cancellation, shown).ConfigureAwait(false);
        return answer.Status == 200
            ? seal.Open(shown, answer.Body) ?? throw new IOException($"The answer for w{worker} does not show that a worker with this one's {MailboxSeal.Variable} has given it: the worker has another one, or it is not a worker that answers.")
            : throw new IOException($"The sidecar answered {answer.Status} for w{worker}: {answer.SidecarError?.Message ?? "without saying why."}");
    }

    private Peer PeerOf(int worker, string actor)
    {
        var mailbox = MailboxEndpoint.ActorType + "@w" + worker.ToString(CultureInfo.InvariantCulture);
        return new Peer(mailbox, sidecar.ActorMethod(mailbox, actor, MailboxEndpoint.Method));
    }

    private sealed record Peer(string Mailbox, Uri Address);
}
