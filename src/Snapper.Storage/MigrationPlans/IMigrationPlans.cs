using System.Globalization;
using Snapper.Protocol.Directory;
using Snapper.Protocol.Identity;
using Snapper.Storage.Membership;

namespace Snapper.Storage.MigrationPlans;

/// <summary>
/// Plans of migrations (M2): planned, then done or cancelled, for good. <see cref="Commit"/> is the point at which ownership changes (M6): before it the source owns
/// everything in the plan, after it the target; nothing else decides.
/// </summary>
public interface IMigrationPlans
{
    /// <summary>Makes a plan.</summary>
    /// <param name="plan">What, from where, to where.</param>
    /// <param name="cancellation">Gives up.</param>
    /// <returns>
    /// <see cref="ClusterStatus.AlreadyDone"/>: the plan is there (in whatever state). <see cref="ClusterStatus.Conflict"/>: another plan has the id, or an open plan names
    /// one of its actors, its partition or an actor in it; or there are too many open plans. <see cref="ClusterStatus.Stale"/>: the source does not own all of it, or one
    /// of the two is not current; the detail names it.
    /// </returns>
    Task<ClusterResult> Create(MigrationPlan plan, CancellationToken cancellation);

    /// <summary>The commit point (M6): still planned, both epochs unchanged, all of it still the source's: the directory names the target, the plan is done.</summary>
    /// <returns>
    /// The entries as they are now. <see cref="ClusterStatus.AlreadyDone"/>: it was done before, and no entries. <see cref="ClusterStatus.Stale"/>: cancelled, or source or
    /// target are not what they were; the detail says which. <see cref="ClusterStatus.NotFound"/>.
    /// </returns>
    Task<ClusterResult<IReadOnlyList<DirectoryEntry>>> Commit(string id, CancellationToken cancellation);

    /// <summary>Cancels a plan that is still planned (M4).</summary>
    /// <param name="id">The plan.</param>
    /// <param name="why">Words for people, at most 1,024 characters.</param>
    /// <param name="cancellation">Gives up.</param>
    /// <returns><see cref="ClusterStatus.AlreadyDone"/>: it was cancelled before. <see cref="ClusterStatus.Stale"/>: it is done. <see cref="ClusterStatus.NotFound"/>.</returns>
    Task<ClusterResult> Cancel(string id, string why, CancellationToken cancellation);

    /// <summary>Keeps with a plan, until it is forgotten, what its source says of its progress. The last one counts; nothing is decided by it.</summary>
    /// <param name="id">The plan, in whatever state.</param>
    /// <param name="note">At most 1,024 characters.</param>
    /// <param name="cancellation">Gives up.</param>
    /// <returns><see cref="ClusterStatus.NotFound"/>: there is no such plan (any more).</returns>
    Task<ClusterResult> Note(string id, string note, CancellationToken cancellation);

    /// <summary>The last note of each of these plans; empty: it has none, or is not there.</summary>
    Task<IReadOnlyList<string>> ReadNotes(IReadOnlyList<string> ids, CancellationToken cancellation);

    /// <summary>A plan with all that it names; null: never made, or ended so long ago that it is forgotten.</summary>
    Task<PlanRecord?> Find(string id, CancellationToken cancellation);

    /// <summary>The plans of a migration that was divided, <c>{migration}.1</c> to the first that is not there, without their keys.</summary>
    Task<IReadOnlyList<PlanRecord>> ReadParts(string migration, CancellationToken cancellation);

    /// <summary>
    /// Open plans in the order in which they were made, without their keys. One that is damaged is not among them:
    /// nothing commits it.
    /// </summary>
    Task<IReadOnlyList<PlanRecord>> ReadOpen(CancellationToken cancellation);

    /// <summary>Open plans that are damaged: the key of each, and what is wrong with it.</summary>
    Task<IReadOnlyList<string>> ReadDamaged(CancellationToken cancellation);

    /// <summary>Plans that ended, the latest first, without their keys, nor those that are damaged.</summary>
    /// <param name="most">Most plans, 1..1,000.</param>
    /// <param name="cancellation">Gives up.</param>
    Task<IReadOnlyList<PlanRecord>> ReadEnded(int most, CancellationToken cancellation);
}

/// <summary>What is to move.</summary>
/// <param name="Id">1..128 printable ASCII characters without spaces.</param>
/// <param name="Keys">Actors or partitions, 1..<see cref="ClusterOptions.KeysPerCall"/>, each once.</param>
/// <param name="From">The incarnation that owns all of it.</param>
/// <param name="To">The incarnation that will.</param>
/// <param name="Reason">Words for people, at most 1,024 characters.</param>
public sealed record MigrationPlan(string Id, IReadOnlyList<DirectoryKey> Keys, Incarnation From, Incarnation To, string Reason)
{
    private const int LongestId = 128;
    private const int LongestAsked = 64;

    /// <summary>
    /// A digest of what was asked for, the same in all plans of a migration: it tells another request under the same id from the same one again, which what has moved since does not.
    /// At most 64 characters; empty: not kept, as of plans that earlier versions made.
    /// </summary>
    public string Asked { get; init; } = "";

    /// <summary>The id of a part of a migration that was divided; parts are numbered from 1.</summary>
    public static string PartOf(string migration, int part) => string.Create(CultureInfo.InvariantCulture, $"{migration}.{part}");

    private const int LongestText = 1024;

    internal static void ValidateId(string id)
    {
        ArgumentException.ThrowIfNullOrEmpty(id);
        if (id.Length > LongestId)
        {
            throw new ArgumentException($"The id of a plan has {id.Length} characters, more than {LongestId}.");
        }

        foreach (var c in id)
        {
            if (c is <= ' ' or > '~')
            {
                throw new ArgumentException($"The id '{id}' of a plan holds something other than printable ASCII characters without spaces.");
            }
        }
    }

    internal static void ValidateText(string text)
    {
        ArgumentNullException.ThrowIfNull(text);
        if (text.Length > LongestText)
        {
            throw new ArgumentException($"A plan's reason has {text.Length} characters, more than {LongestText}.");
        }
    }

    internal void Validate()
    {
        ValidateId(Id);
        ValidateText(Reason);
        ArgumentNullException.ThrowIfNull(Asked);
        if (Asked.Length > LongestAsked)
        {
            throw new ArgumentException($"The digest of what plan {Id} was asked for has {Asked.Length} characters, more than {LongestAsked}.");
        }

        ClusterArguments.Keys(Keys);
        if (Keys.Count == 0)
        {
            throw new ArgumentException($"Plan {Id} names nothing.");
        }

        if (From.Worker == To.Worker)
        {
            throw new ArgumentException($"Plan {Id} moves from {From} to {To}, the same worker.");
        }
    }
}

/// <summary>Where a plan stands.</summary>
public enum PlanState : byte
{
    /// <summary>The source owns everything in it.</summary>
    Planned,

    /// <summary>The target owned everything in it when it was committed.</summary>
    Done,

    /// <summary>Nothing moved.</summary>
    Cancelled,
}

/// <summary>A plan as it is stored.</summary>
public sealed record PlanRecord
{
    /// <summary>The plan; without keys when it comes from a list.</summary>
    public required MigrationPlan Plan { get; init; }

    /// <summary>How many keys it has.</summary>
    public required int KeyCount { get; init; }

    /// <summary>Where it stands.</summary>
    public required PlanState State { get; init; }

    /// <summary>When it was made, by the server's clock.</summary>
    public required DateTimeOffset Created { get; init; }

    /// <summary>When it was done or cancelled; null: it is open.</summary>
    public DateTimeOffset? Ended { get; init; }

    /// <summary>Why it was cancelled; empty: it was not.</summary>
    public string Why { get; init; } = "";
}
