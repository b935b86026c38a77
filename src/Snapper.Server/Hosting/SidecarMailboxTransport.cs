using System.Globalization;
using Snapper.Protocol.Identity;
using Snapper.Runtime.Cluster;
using Snapper.Sidecar.Client;

namespace Snapper.Server.Hosting;

/// <summary>Packets as actor calls through this worker's own sidecar to <c>Mailbox@w{n}</c>.</summary>
/// <param name="sidecar">The sidecar.</param>
/// <param name="seal">What packets show; null: nothing.</param>
internal sealed class SidecarMailboxTransport(DaprSidecarClient sidecar, MailboxSeal? seal = null) : IMailboxTransport
{
    private readonly Uri?[] _addresses = new Uri?[TransactionId.WorkerLimit];

    /// <inheritdoc/>
    public async Task<ReadOnlyMemory<byte>> Deliver(int worker, ReadOnlyMemory<byte> packet, CancellationToken cancellation)
    {
        var address = _addresses[worker] ??= sidecar.ActorMethod(
            MailboxDoor.ActorType + "@w" + worker.ToString(CultureInfo.InvariantCulture), MailboxDoor.ActorId, MailboxDoor.Method);

        // No continuation may run on a context of the caller's.
        var answer = await sidecar.InvokeActor(address, packet, cancellation, seal?.Shown).ConfigureAwait(false);
        return answer.Status == 200
            ? answer.Body
            : throw new IOException($"The sidecar answered {answer.Status} for w{worker}: {answer.SidecarError?.Message ?? "without saying why."}");
    }
}
