using Snapper.Protocol.Directory;
using Snapper.Protocol.Identity;

namespace Snapper.Storage.Membership;

/// <summary>
/// The directory: partition or actor to incarnation. Each change of an entry gets a version of its own from one counter. Nothing ever changes an entry of an incarnation
/// that is current but that incarnation's own step, or a plan's commit.
/// </summary>
public interface IClusterDirectory
{
    /// <summary>
    /// Entries whose last change comes after the cursor, in the order of their versions. From <see cref="DirectoryCursor.Start"/> on, to the last page, it is the whole
    /// directory.
    /// </summary>
    /// <param name="after">Where the page before ended.</param>
    /// <param name="most">Most entries, 1..<see cref="LongestPage"/>.</param>
    /// <param name="cancellation">Gives up.</param>
    /// <returns><see cref="ClusterStatus.Lost"/>: the directory is another one, or ends before the cursor; begin again at the start once this worker has recovered.</returns>
    Task<ClusterResult<DirectoryPage>> Read(DirectoryCursor after, int most, CancellationToken cancellation);

    /// <summary>Most entries of a page.</summary>
    public const int LongestPage = 8192;

    /// <summary>
    /// Says by which keys this worker places actors, after it has registered and before it looks at the directory. The directory keeps what the first worker said of a type for good:
    /// all workers place alike, and stay able to find what was stored.
    /// </summary>
    /// <param name="keys">Of the types that this worker hosts.</param>
    /// <param name="cancellation">Gives up.</param>
    /// <returns>
    /// The keys of all types that any worker ever declared, which this worker places by. <see cref="ClusterStatus.Conflict"/>: a type has another key there; the detail names both.
    /// <see cref="ClusterStatus.NotYet"/>: a type that names a key is new, and a worker that does not know it lives: that one would place the type's actors elsewhere. One that
    /// does not renew in time is told <see cref="ClusterStatus.Stale"/> when it does. <see cref="ClusterStatus.Stale"/>: this worker is not registered.
    /// </returns>
    Task<ClusterResult<PartitionKeys>> Declare(PartitionKeys keys, CancellationToken cancellation);

    /// <summary>Gives an empty directory its first owners.</summary>
    /// <param name="owners">By number of the partition, all of them (<see cref="PartitionDivision.Evenly"/>).</param>
    /// <param name="cancellation">Gives up.</param>
    /// <returns>
    /// <see cref="ClusterStatus.AlreadyDone"/>: it is not empty. <see cref="ClusterStatus.Stale"/>: one of them is fenced, not registered, or has left.
    /// <see cref="ClusterStatus.NotYet"/>: a worker that ran alone has logged something and is not registered in its log's current epoch; what only its log holds would be
    /// missed (R4). A log of such a worker that holds nothing is fenced instead.
    /// <see cref="ClusterStatus.Lost"/>: there was a directory, or a log records a division.
    /// </returns>
    Task<ClusterResult> AssignAll(IReadOnlyList<Incarnation> owners, CancellationToken cancellation);

    /// <summary>
    /// Gives entries of a worker that was fenced to another incarnation (R4), once everything in its log is checkpointed. Only entries that still name that worker in an epoch
    /// before the fence change; others stay as they are, so that repeating does no harm.
    /// </summary>
    /// <param name="rescue">Still the latest opening of that worker's log.</param>
    /// <param name="keys">At most <see cref="ClusterOptions.KeysPerCall"/>.</param>
    /// <param name="target">The new owner: this worker or another; registered, current, not left.</param>
    /// <param name="cancellation">Gives up.</param>
    /// <returns>The entries that changed. <see cref="ClusterStatus.Stale"/>: the rescue is over (the log was opened again), or the target is not current.</returns>
    Task<ClusterResult<IReadOnlyList<DirectoryEntry>>> TakeOver(Rescue rescue, IReadOnlyList<DirectoryKey> keys, Incarnation target, CancellationToken cancellation);

    /// <summary>Gives this worker the entries of its own earlier incarnations (R4), once everything in its log is checkpointed.</summary>
    /// <param name="keys">At most <see cref="ClusterOptions.KeysPerCall"/>; those that do not name this worker stay as they are.</param>
    /// <param name="cancellation">Gives up.</param>
    /// <returns>The entries that changed. <see cref="ClusterStatus.Stale"/>: this worker is not registered.</returns>
    Task<ClusterResult<IReadOnlyList<DirectoryEntry>>> Reclaim(IReadOnlyList<DirectoryKey> keys, CancellationToken cancellation);
}

/// <summary>A place in the changes of the directory.</summary>
/// <param name="DirectoryId">Of which directory; empty: of any.</param>
/// <param name="Through">Every change up to this version was read.</param>
/// <param name="Since">Version of the directory when this pass over it began.</param>
public readonly record struct DirectoryCursor(string DirectoryId, long Through, long Since)
{
    /// <summary>Before everything.</summary>
    public static DirectoryCursor Start => new("", 0, 0);
}

/// <summary>A page of the directory's changes.</summary>
/// <param name="Entries">In the order of their versions.</param>
/// <param name="Next">Where the next page begins; <see cref="DirectoryCursor.Through"/> is the version up to which everything is read.</param>
/// <param name="IsWhole">It begins a whole directory: what is known from before is to be replaced, not added to, once its last page is read.</param>
/// <param name="IsLast">There was nothing more.</param>
public sealed record DirectoryPage(IReadOnlyList<DirectoryEntry> Entries, DirectoryCursor Next, bool IsWhole, bool IsLast);
