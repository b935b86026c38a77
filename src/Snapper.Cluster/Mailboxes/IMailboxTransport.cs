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
}
