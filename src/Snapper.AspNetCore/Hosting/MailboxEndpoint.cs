using Snapper.Cluster.Mailboxes;
using Snapper.Protocol.Channels;
using Snapper.Sidecar.Hosting;

namespace Snapper.AspNetCore.Hosting;

/// <summary>
/// The actor type at which packets of other workers arrive, <c>Mailbox@w2</c>: one actor, <c>0</c>, with one method, <c>Deliver</c>. The sidecar may bring a
/// packet more than once, late, and at the same time as another; the mailboxes see to that. Answers with a <see cref="ChannelAnswer"/>, at once but for packets that are passed on, which come
/// to other actors than <c>0</c>.
/// </summary>
/// <param name="seal">What packets must show; null: none is taken.</param>
internal sealed class MailboxEndpoint(MailboxSeal? seal)
{
    /// <summary>Name of the type, before <c>@</c> and the worker.</summary>
    public const string ActorType = "Mailbox";

    public const string ActorId = "0";

    public const string Method = "Deliver";

    private const string MediaType = "application/octet-stream";

    private volatile MailboxHub? _hub;

    /// <summary>Packets reach these mailboxes from now on; before, others are told that the worker is not ready.</summary>
    public void Open(MailboxHub hub) => _hub = hub;

    /// <summary>Packets are answered "not ready" from now on.</summary>
    public void Close() => _hub = null;

    public ValueTask<ActorReply> Call(in Sidecar.Hosting.ActorCall call)
    {
        var passesOn = PassedOnPacket.Is(call.Body.Span);
        if (call.Method != Method || passesOn == (call.ActorId == ActorId) || call.IdIsUnreadable || call.IdIsDoubtful)
        {
            return Refuse("A mailbox is actor 0 with the method Deliver, for workers alone.");
        }

        if (call.BodyTooLarge)
        {
            return Refuse("The packet is larger than this worker reads.");
        }

        if (seal is null)
        {
            return Refuse($"This worker has no {MailboxSeal.Variable}, and takes no packets.");
        }

        var secret = seal.Find(call.Authorization, call.ActorType, call.Body.Span);
        if (secret < 0)
        {
            return Refuse($"The packet does not show that a worker with this one's {MailboxSeal.Variable} has sent it.");
        }

        return passesOn && _hub is { } hub
            ? PassOn(hub, seal, secret, call.Authorization, call.Body)
            : new(new ActorReply(seal.Seal(secret, call.Authorization, _hub?.Deliver(call.Body) ?? MailboxHub.NotReady), MediaType));
    }

    private static async ValueTask<ActorReply> PassOn(MailboxHub hub, MailboxSeal seal, int secret, string? shown, ReadOnlyMemory<byte> packet) =>
        new(seal.Seal(secret, shown, await hub.Receive(packet)), MediaType);

    private static ValueTask<ActorReply> Refuse(string problem) =>
        new(new ActorReply(new ChannelAnswer { Kind = AnswerKind.Refused, Problem = problem }.ToBytes(), MediaType));
}
