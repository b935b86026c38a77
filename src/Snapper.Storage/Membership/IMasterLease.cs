using Snapper.Protocol.Identity;
using Snapper.Storage.Log;

namespace Snapper.Storage.Membership;

/// <summary>
/// Who is master. The master's epoch is the epoch of a log of its own, the global stream, in which it writes decisions: taking the lease raises it, which fences the
/// master before (R2, R3).
/// </summary>
public interface IMasterLease
{
    /// <summary>Name of the master's log.</summary>
    public const string LogName = "master";

    /// <summary>
    /// Takes the lease if nobody holds it, it has run out, or its holder was fenced or has left, and opens the master's log in the same step. The holder itself may take it
    /// again, in a new master epoch.
    /// </summary>
    /// <returns><see cref="ClusterStatus.NotYet"/>: another holds it; or it has run out, and this worker's own lease has been unbroken for less than a lease.
    /// <see cref="ClusterStatus.Stale"/>: this worker is not registered.</returns>
    /// <exception cref="CorruptLogException">The master's log is damaged.</exception>
    Task<ClusterResult<Mastership>> Take(CancellationToken cancellation);

    /// <summary>Renews the lease, also one that had run out and that nobody else has taken.</summary>
    /// <param name="masterEpoch">As taken.</param>
    /// <param name="cancellation">Gives up.</param>
    /// <returns><see cref="ClusterStatus.Stale"/>: another is master, or this worker in a later master epoch.</returns>
    Task<ClusterResult> Renew(long masterEpoch, CancellationToken cancellation);

    /// <summary>Gives the lease up, so that another can take it at once.</summary>
    /// <returns><see cref="ClusterStatus.Stale"/>: it was not held in this master epoch.</returns>
    Task<ClusterResult> Release(long masterEpoch, CancellationToken cancellation);

    /// <summary>Who is master now.</summary>
    Task<MasterStanding> Read(CancellationToken cancellation);
}

/// <summary>The master's lease as taken.</summary>
/// <param name="MasterEpoch">Epoch of the master's log.</param>
/// <param name="Log">The master's log, open; to be disposed of.</param>
/// <param name="Opening">Where it stands.</param>
public sealed record Mastership(long MasterEpoch, ITransactionLog Log, LogOpening Opening);

/// <summary>Who is master, as the store knows it.</summary>
/// <param name="Holder">Nobody: nobody ever was, or it was given up.</param>
/// <param name="MasterEpoch">In which master epoch; 0: nobody ever was.</param>
/// <param name="Remaining">What is left of the lease by the server's clock; zero when it has run out.</param>
/// <param name="IsFenced">The holder was fenced as a worker, or has left: the lease is free.</param>
public sealed record MasterStanding(Incarnation Holder, long MasterEpoch, TimeSpan Remaining, bool IsFenced)
{
    /// <summary>Nobody can take the lease.</summary>
    public bool IsHeld => !Holder.IsNone && !IsFenced && Remaining > TimeSpan.Zero;
}
