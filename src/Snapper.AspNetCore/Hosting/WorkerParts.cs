using Snapper.AspNetCore.Api;

namespace Snapper.AspNetCore.Hosting;

/// <summary>What HTTP knows of a worker from the start of its process on, before there is one.</summary>
/// <param name="Door">Where transactions go.</param>
/// <param name="Inspection">What can be seen.</param>
/// <param name="Mailbox">Where packets of other workers go.</param>
internal sealed record WorkerParts(LifecycleGate Door, InspectionSwitch Inspection, MailboxEndpoint Mailbox)
{
    /// <summary>Of a worker that has not begun yet.</summary>
    public static WorkerParts Of(WorkerSettings settings) =>
        new(new LifecycleGate(), new InspectionSwitch(settings), new MailboxEndpoint(settings.MailboxSeal));
}
