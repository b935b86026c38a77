using Snapper.Storage.Membership;

namespace Snapper.Cluster.Mailboxes;

/// <summary>
/// The road on which packets reach the mailboxes of other workers. It may lose, double, delay and reorder them: the channels see to the rest. Thread-safe.
/// </summary>
public interface IMailboxTransport
{
    /// <summary>Brings a packet to a worker and returns the answer of its <see cref="MailboxHub.Receive"/>.</summary>
    /// <param name="worker">Number of the worker.</param>
    /// <param name="packet">The packet; valid until the returned task completes.</param>
    /// <param name="cancellation">Nobody waits for the answer any more.</param>
    /// <returns>The answer. A task that fails, for whatever reason, says that nothing is known; the packet comes again.</returns>
    Task<ReadOnlyMemory<byte>> Deliver(int worker, ReadOnlyMemory<byte> packet, CancellationToken cancellation);

    /// <summary>The workers were read: where they are, and which incarnations.</summary>
    /// <param name="system">Id of the directory that all of them belong to.</param>
    /// <param name="members">All workers that ever registered.</param>
    void OnMembers(string system, IReadOnlyList<Member> members)
    {
    }

    /// <summary>How packets to a worker go now; null: there is but one way.</summary>
    MailboxRoute? RouteOf(int worker) => null;
}

/// <summary>How packets to a worker go.</summary>
/// <param name="IsDirect">By a direct link; else through the sidecars.</param>
/// <param name="Problem">Why there is no direct link; null: there is, or it is just being made.</param>
public readonly record struct MailboxRoute(bool IsDirect, string? Problem);
