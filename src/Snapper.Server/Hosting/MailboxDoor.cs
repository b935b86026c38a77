using Snapper.Protocol.Channels;
using Snapper.Runtime.Cluster;
using Snapper.Sidecar.Hosting;

namespace Snapper.Server.Hosting;

/// <summary>
/// The actor type at which packets of other workers arrive, <c>Mailbox@w2</c>: one actor, <c>0</c>, with one method, <c>Deliver</c>. The sidecar may bring a
/// packet more than once, late, and at the same time as another; the mailboxes see to that. Always answers at once, with a <see cref="ChannelAnswer"/>.
/// </summary>
/// <param name="seal">What packets must show; null: nothing.</param>
internal sealed class MailboxDoor(MailboxSeal? seal = null)
{
    /// <summary>Name of the type, before <c>@</c> and the worker.</summary>
    public const string ActorType = "Mailbox";

    /// <summary>The one actor.</summary>
    public const string ActorId = "0";

    /// <summary>Its one method.</summary>
    public const string Method = "Deliver";

    private const string MediaType = "application/octet-stream";

    private readonly MailboxSeal _seal = seal ?? MailboxSeal.None;
    private volatile MailboxHub? _hub;

    /// <summary>Packets reach these mailboxes from now on; before, others are told that the worker is not ready.</summary>
    public void Open(MailboxHub hub) => _hub = hub;

    /// <summary>Packets are answered "not ready" from now on.</summary>
    public void Close() => _hub = null;

    /// <summary>A call of the actor.</summary>
    public ActorReply Call(in Sidecar.Hosting.ActorCall call)
    {
        if (call.Method != Method || call.ActorId != ActorId || call.IdIsUnreadable || call.IdIsDoubtful)
        {
            return Refuse("A mailbox is actor 0 with the method Deliver, for workers alone.");
        }

        if (call.BodyTooLarge)
        {
            return Refuse("The packet is larger than this worker reads.");
        }

        var secret = _seal.Find(call.Authorization, call.ActorType, call.Body.Span);
        if (secret < 0)
        {
            return Refuse($"The packet does not show that a worker with this one's {MailboxSeal.Variable} has sent it.");
        }

        return new ActorReply(_seal.Seal(secret, call.Authorization, _hub?.Deliver(call.Body) ?? MailboxHub.NotReady), MediaType);
    }

    private static ActorReply Refuse(string problem) =>
        new(new ChannelAnswer { Kind = AnswerKind.Refused, Problem = problem }.ToBytes(), MediaType);
}
