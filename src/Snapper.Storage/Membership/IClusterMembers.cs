using Snapper.Protocol.Identity;
using Snapper.Storage.Log;

namespace Snapper.Storage.Membership;

/// <summary>
/// Membership: which incarnations there are, and until when each is taken to be alive. Leases decide <i>when</i> a worker is taken over; epochs keep it safe (R4).
/// All times are the server's.
/// </summary>
public interface IClusterMembers
{
    /// <summary>
    /// Makes this incarnation known and starts its lease. First of all after its log is open: a worker that is not registered is not renewed, gets nothing and rescues
    /// nobody. What was said of an earlier incarnation of the worker is replaced.
    /// </summary>
    Task<ClusterResult<ClusterStanding>> Register(MemberAddress address, CancellationToken cancellation);

    /// <summary>
    /// Renews the lease, also one that had run out. For a thread of its own, at least three times in a lease; costs the server some tens of microseconds.
    /// </summary>
    /// <param name="directoryId">The directory's id as told before; empty: not known yet.</param>
    /// <param name="directoryVersion">Highest version of the directory that this worker has heard of, from whomever; 0: none.</param>
    /// <param name="cancellation">Gives up.</param>
    /// <returns>
    /// <see cref="ClusterStatus.Fenced"/>, <see cref="ClusterStatus.Lost"/> (also: its registration is gone), <see cref="ClusterStatus.Stale"/>: it has left, or its lease
    /// had run out and a type was declared meanwhile that this worker would place wrongly (<see cref="IClusterDirectory.Declare"/>).
    /// </returns>
    Task<ClusterResult<ClusterStanding>> Renew(string directoryId, long directoryVersion, CancellationToken cancellation);

    /// <summary>The same look at the whole without renewing anything: to be asked a few times a second, to read the rest only when a version has changed.</summary>
    Task<ClusterStanding> Look(CancellationToken cancellation);

    /// <summary>All workers that ever registered, by number.</summary>
    Task<IReadOnlyList<Member>> Read(CancellationToken cancellation);

    /// <summary>
    /// Leaves for good: nothing can be given to this incarnation from now on; it gives up the master's lease, too.
    /// </summary>
    /// <returns><see cref="ClusterStatus.Conflict"/>: the directory still names this worker.</returns>
    Task<ClusterResult> Leave(CancellationToken cancellation);

    /// <summary>
    /// Fences an incarnation: raises the epoch of its log from outside and ends its lease (R4, R5). What it returns is the log, opened on behalf of this worker under the
    /// new epoch, to be read to its end and checkpointed; each of its scripts checks this worker's epoch, too. Repeated, or done by another worker, it raises the epoch again
    /// and fences the rescuer before.
    /// </summary>
    /// <param name="target">The incarnation as it is registered.</param>
    /// <param name="when">On what condition.</param>
    /// <param name="cancellation">Gives up.</param>
    /// <returns>
    /// <see cref="ClusterStatus.NotYet"/>: its lease runs; or another worker that is alive has fenced it and is at it; or this worker's own lease has run out or has been
    /// unbroken for less than a lease: after the store was away, everyone who is alive has time to renew before anyone is taken for dead.
    /// <see cref="ClusterStatus.Stale"/>: another incarnation of that worker is registered, or it is this worker, or this worker is not registered.
    /// </returns>
    /// <exception cref="CorruptLogException">The log is damaged. It is fenced all the same.</exception>
    Task<ClusterResult<Rescue>> Fence(Incarnation target, FenceWhen when, CancellationToken cancellation);
}

/// <summary>On what condition another worker is fenced.</summary>
public enum FenceWhen : byte
{
    /// <summary>Its lease has run out, or it has left.</summary>
    LeaseExpired,

    /// <summary>In any case: it is evicted, because it cannot be reached (R5), or an operator says that it is gone.</summary>
    Always,
}

/// <summary>How to reach a worker, and what it is.</summary>
/// <param name="AppId">Dapr app id of its sidecar, e.g. <c>w2</c>.</param>
/// <param name="Url">Its own HTTP address without the sidecar, e.g. <c>http://127.0.0.1:5002</c>; empty: none.</param>
/// <param name="ProcessId">On its machine.</param>
/// <param name="Version">Of the program.</param>
/// <param name="Link">Where it takes direct links of other workers; empty: it takes none.</param>
public sealed record MemberAddress(string AppId, string Url, int ProcessId, string Version, string Link = "")
{
    private const int Longest = 1024;

    internal void Validate()
    {
        foreach (var text in (ReadOnlySpan<string>)[AppId, Url, Version, Link])
        {
            ArgumentNullException.ThrowIfNull(text);
            if (text.Length > Longest)
            {
                throw new ArgumentException($"An address of a worker has more than {Longest} characters.");
            }
        }
    }
}

/// <summary>What is said of a worker's life.</summary>
public enum MemberState : byte
{
    /// <summary>Its lease runs.</summary>
    Live,

    /// <summary>Its lease has run out; it may be alive, and owns what it owned until it is fenced.</summary>
    Expired,

    /// <summary>Its epoch is not its log's current one: it was fenced, or the worker is starting again. It owns nothing.</summary>
    Fenced,

    /// <summary>It has left, with nothing.</summary>
    Left,
}

/// <summary>A worker as the store knows it.</summary>
public sealed record Member
{
    /// <summary>The incarnation that is registered.</summary>
    public required Incarnation Incarnation { get; init; }

    /// <summary>Where it stands.</summary>
    public required MemberState State { get; init; }

    /// <summary>Epoch of its log now; above the incarnation's: whatever carries a lower one is of a fenced incarnation (R3, R4).</summary>
    public required long CurrentEpoch { get; init; }

    /// <summary>What is left of its lease, by the server's clock; zero when it has run out.</summary>
    public required TimeSpan Remaining { get; init; }

    /// <summary>Since when the lease has been unbroken, by the server's clock.</summary>
    public required TimeSpan LiveFor { get; init; }

    /// <summary>Entries of the directory that name the worker, in whatever epoch.</summary>
    public required long Entries { get; init; }

    /// <summary>Who fenced it last to rescue it; nobody: nobody did.</summary>
    public required Incarnation Rescuer { get; init; }

    /// <summary>How often a life of this worker was fenced by another one after its lease had run out, since the directory began; also when its
    /// worker had begun a new life, which had not registered by then.</summary>
    public required long Expirations { get; init; }

    /// <summary>How often a life of this worker was fenced by another one although its lease lived (R5), since the directory began.</summary>
    public required long Evictions { get; init; }

    /// <summary>How to reach it.</summary>
    public required MemberAddress Address { get; init; }
}

/// <summary>Where everything stands, at a glance. Equal versions: nothing has changed.</summary>
public sealed record ClusterStanding
{
    /// <summary>Random name of the directory, given once; another one: everything was lost.</summary>
    public required string DirectoryId { get; init; }

    /// <summary>Version of the directory's last change; 0: it is empty.</summary>
    public required long DirectoryVersion { get; init; }

    /// <summary>Rises when a worker registers, leaves or is fenced. Leases that run out change nothing here.</summary>
    public required long MembershipVersion { get; init; }

    /// <summary>Rises when a plan is made, done or cancelled.</summary>
    public required long PlanVersion { get; init; }

    /// <summary>How often data was found to be lost. Risen: every worker recovers from its log (L6).</summary>
    public required long Generation { get; init; }

    /// <summary>Number of registered incarnations whose lease has run out; those that left or that another worker fenced have none.</summary>
    public required int Expired { get; init; }

    /// <summary>The master.</summary>
    public required MasterStanding Master { get; init; }
}
