using Snapper.Runtime.Door;
using Snapper.Runtime.Execution;
using Snapper.Storage.Checkpoints;
using Snapper.Storage.Log;
using Snapper.Storage.Recovery;

namespace Snapper.Runtime.Hosting;

/// <summary>Makes a worker one of several.</summary>
public interface IPeeringSetup
{
    /// <summary>
    /// Registers the worker among the others: its log is open and read, and nothing of it serves yet.
    /// </summary>
    Task<IPeering> Begin(
        WorkerSetup setup, LogOpening opening, RecoverySummary recovered, CancellationToken cancellation);
}

/// <summary>
/// One worker's life among others, from its registration to its end. <see cref="WorkerHost"/> calls the members in
/// the order in which they stand here.
/// </summary>
public interface IPeering
{
    /// <summary>Settles what was in doubt (R2).</summary>
    Task<SettledRecovery> Settle(
        LogOpening opening, RecoverySummary recovered, CancellationToken cancellation);

    /// <summary>The peers of the worker, which is being built. Called once.</summary>
    /// <param name="worker">The worker.</param>
    /// <param name="idPrefix">With which ids begin that it makes for requests.</param>
    IPeers PeersOf(Worker worker, string idPrefix);

    /// <summary>The worker is built and has its log: from now on it gets what comes.</summary>
    void Attach(RecoverySummary recovered, LogOpening opening);

    /// <summary>Becomes a member; completes when the directory says what is this worker's.</summary>
    Task Join(CancellationToken cancellation);

    /// <summary>Where requests enter.</summary>
    ITransactionService Service { get; }

    /// <summary>The worker has drained: nothing is received and sent any more.</summary>
    ValueTask Stop();

    /// <summary>
    /// A worker that owns nothing leaves for good. Of one that owns something the store does not take it: it is
    /// expected back, or taken over.
    /// </summary>
    Task Leave(CancellationToken cancellation);

    /// <summary>Cuts it off from the others at once, for tests.</summary>
    void Cut();

    /// <summary>Ends what goes on by itself, when the worker is not built or was killed.</summary>
    ValueTask Abandon();
}
