using Snapper.Contracts;
using Snapper.Protocol.Identity;
using Snapper.Runtime.Inspection;

namespace Snapper.Cluster.Control;

/// <summary>The workers as one system: who is there, who owns what, and moving it. Thread-safe.</summary>
public interface IClusterControl
{
    /// <summary>Name of this worker.</summary>
    string Name { get; }

    /// <summary>All workers that ever registered, by number.</summary>
    /// <exception cref="StorageUnavailableException">The store cannot be reached now.</exception>
    Task<IReadOnlyList<ClusterMember>> Workers(CancellationToken cancellation);

    /// <summary>Placement, as this worker knows it.</summary>
    DirectoryView Directory();

    /// <summary>Numbers of the partitions of a worker, as this worker knows them.</summary>
    IReadOnlyList<int> PartitionsOf(string worker);

    /// <summary>Where an actor lives, as this worker knows it; null: it has no owner now.</summary>
    string? OwnerOf(ActorKey actor);

    /// <summary>The number of the partition of an actor, whether it is there or was moved out of it.</summary>
    int PartitionOf(ActorKey actor);

    /// <summary>Plans migrations, and begins them unless it is a dry run.</summary>
    /// <exception cref="MigrationRefusedException">
    /// What is asked for cannot be; the message says what is wrong.
    /// </exception>
    /// <exception cref="StorageUnavailableException">
    /// The store cannot be reached now; ask again with the same id.
    /// </exception>
    Task<MigrationStatus> Migrate(MigrationAsk ask, CancellationToken cancellation);

    /// <summary>
    /// This worker leaves for good, if it owns nothing: requests under way are answered first, none is let in any more,
    /// nothing can be given to it, and it is about to be stopped. One that does not leave goes on as before.
    /// </summary>
    /// <returns>Null: it has left; else why not.</returns>
    /// <exception cref="StorageUnavailableException">
    /// The store cannot be reached now; asked again, it says what became of it.
    /// </exception>
    Task<string?> Leave(CancellationToken cancellation);

    /// <summary>What the policy sees and proposes, as this worker knows it; nothing while it is off.</summary>
    MigrationProposals Proposals();

    /// <summary>A migration; null: never made, or forgotten.</summary>
    /// <exception cref="StorageUnavailableException">The store cannot be reached now.</exception>
    Task<MigrationStatus?> Migration(string id, CancellationToken cancellation);

    /// <summary>Open migrations, and those that ended last.</summary>
    /// <exception cref="StorageUnavailableException">The store cannot be reached now.</exception>
    Task<IReadOnlyList<MigrationStatus>> Migrations(int limit, CancellationToken cancellation);
}

/// <summary>What shall move. Exactly one of actors, partitions, worker and rebalance is given.</summary>
/// <param name="Id">
/// The caller's id; null: one is made. The same again changes nothing; something else under it is refused.
/// </param>
/// <param name="Actors">Single actors.</param>
/// <param name="Partitions">Whole partitions, 0..4,095.</param>
/// <param name="Worker">Everything of this worker.</param>
/// <param name="To">Where to; null: spread over the others that live.</param>
/// <param name="Reason">For people.</param>
/// <param name="DryRun">Only say what would move.</param>
/// <param name="Rebalance">
/// As many partitions as it takes for every worker that lives to have its share; without <paramref name="To"/>.
/// </param>
public sealed record MigrationAsk(
    string? Id, IReadOnlyList<ActorKey>? Actors, IReadOnlyList<int>? Partitions, string? Worker, string? To,
    string Reason, bool DryRun, bool Rebalance = false);

/// <summary>A migration cannot be as it was asked for.</summary>
public sealed class MigrationRefusedException(string message) : Exception(message);
