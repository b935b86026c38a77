using Snapper.Protocol.Identity;

namespace Snapper.Runtime.Inspection;

/// <summary>The workers as one system: who is there, who owns what, and moving it. Thread-safe.</summary>
public interface IClusterControl
{
    /// <summary>Name of this worker.</summary>
    string Name { get; }

    /// <summary>All workers that ever registered, by number.</summary>
    /// <exception cref="StorageUnavailableException">The store cannot be reached now.</exception>
    Task<IReadOnlyList<ClusterWorkerView>> Workers(CancellationToken cancellation);

    /// <summary>Placement, as this worker knows it.</summary>
    DirectoryView Directory();

    /// <summary>Numbers of the partitions of a worker, as this worker knows them.</summary>
    IReadOnlyList<int> PartitionsOf(string worker);

    /// <summary>Where an actor lives, as this worker knows it; null: nobody owns it now.</summary>
    string? OwnerOf(ActorKey actor);

    /// <summary>The number of the partition of an actor, whether it is there or was moved out of it.</summary>
    int PartitionOf(ActorKey actor);

    /// <summary>Plans migrations, and begins them unless it is a dry run.</summary>
    /// <exception cref="MigrationRefusedException">What is asked for cannot be; the message says what is wrong.</exception>
    /// <exception cref="StorageUnavailableException">The store cannot be reached now; ask again with the same id.</exception>
    Task<MigrationView> Migrate(MigrationAsk ask, CancellationToken cancellation);

    /// <summary>This worker leaves for good, if it owns nothing: requests under way are answered first, none is let in any more, nothing can be given to it, and it is about to be stopped.
    /// One that does not leave goes on as before.</summary>
    /// <returns>Null: it has left; else why not.</returns>
    /// <exception cref="StorageUnavailableException">The store cannot be reached now; asked again, it says what became of it.</exception>
    Task<string?> Leave(CancellationToken cancellation);

    /// <summary>What the policy sees and proposes, as this worker knows it; nothing while it is off.</summary>
    BalancingView Proposals();

    /// <summary>A migration; null: never made, or forgotten.</summary>
    /// <exception cref="StorageUnavailableException">The store cannot be reached now.</exception>
    Task<MigrationView?> Migration(string id, CancellationToken cancellation);

    /// <summary>Open migrations, and those that ended last.</summary>
    /// <exception cref="StorageUnavailableException">The store cannot be reached now.</exception>
    Task<IReadOnlyList<MigrationView>> Migrations(int limit, CancellationToken cancellation);
}

/// <summary>A worker as the store knows it. <paramref name="State"/>: <c>live</c>, <c>expired</c>, <c>fenced</c> or <c>left</c>; <paramref name="Entries"/>: partitions and single actors that it owns.
/// <paramref name="Expirations"/> and <paramref name="Evictions"/>: how often a life of it was fenced by another worker, after its lease had run out, or although it lived (it could not be reached).</summary>
public sealed record ClusterWorkerView(string Worker, long Epoch, string State, bool Master, double LeaseMs, long Entries, string Url, int Pid, string Version, string? Rescuer,
    long Expirations, long Evictions);

/// <summary>Placement: partitions per worker, and single actors that are not where their partition is.</summary>
public sealed record DirectoryView(int Partitions, IReadOnlyDictionary<string, int> PartitionsByWorker, IReadOnlyList<PlacedActorView> Actors, long Version);

/// <summary>A single actor that was moved out of its partition.</summary>
public sealed record PlacedActorView(string Type, string Id, string Worker);

/// <summary>What shall move. Exactly one of actors, partitions, worker and rebalance is given.</summary>
/// <param name="Id">The caller's id; null: one is made. The same again changes nothing; something else under it is refused.</param>
/// <param name="Actors">Single actors.</param>
/// <param name="Partitions">Whole partitions, 0..4,095.</param>
/// <param name="Worker">Everything of this worker.</param>
/// <param name="To">Where to; null: spread over the others that live.</param>
/// <param name="Reason">For people.</param>
/// <param name="DryRun">Only say what would move.</param>
/// <param name="Rebalance">As many partitions as it takes for every worker that lives to have its share; without <paramref name="To"/>.</param>
public sealed record MigrationAsk(
    string? Id, IReadOnlyList<ActorKey>? Actors, IReadOnlyList<int>? Partitions, string? Worker, string? To, string Reason, bool DryRun,
    bool Rebalance = false);

/// <summary>A migration. <paramref name="State"/>: <c>planned</c>, <c>done</c>, <c>cancelled</c>, or <c>partly</c> when only some of its parts are done and none is open.</summary>
public sealed record MigrationView(string Id, string State, int Keys, string Reason, IReadOnlyList<MigrationPartView> Parts);

/// <summary>One source and one target of a migration.</summary>
/// <param name="Plan">Its id.</param>
/// <param name="From">The source.</param>
/// <param name="To">The target.</param>
/// <param name="Keys">How many actors and partitions.</param>
/// <param name="State"><c>planned</c>, <c>done</c> or <c>cancelled</c>.</param>
/// <param name="Created">When it was planned; null: it was not (a dry run).</param>
/// <param name="Ended">When it was done or cancelled.</param>
/// <param name="Why">Why it was cancelled.</param>
/// <param name="Phases">What has been done, in order, as far as the source has noted it.</param>
/// <param name="FrozenRequests">Requests of the source that wait because something in it is frozen; counted several times a second.</param>
/// <param name="MostFrozenRequests">The most that were counted at a time.</param>
public sealed record MigrationPartView(
    string Plan, string From, string To, int Keys, string State, DateTimeOffset? Created, DateTimeOffset? Ended, string? Why, IReadOnlyList<MigrationPhaseView> Phases,
    int FrozenRequests = 0, int MostFrozenRequests = 0);

/// <summary>When a phase began, by the source's clock: <c>planned</c>, <c>freezing</c>, <c>draining</c>, <c>handingover</c>, <c>done</c>, <c>cancelled</c>.</summary>
public sealed record MigrationPhaseView(string Phase, DateTimeOffset At);

/// <summary>A migration cannot be as it was asked for.</summary>
public sealed class MigrationRefusedException(string message) : Exception(message);

/// <summary>The policy that proposes moves.</summary>
/// <param name="Mode"><c>off</c>, <c>propose</c> or <c>execute</c>.</param>
/// <param name="IntervalMs">How often it looks.</param>
/// <param name="Workers">What each worker that lives carried in the last interval: touches of actors by transactions, per second.</param>
/// <param name="Proposals">The best first.</param>
/// <param name="Moves">How many this worker has carried out as master.</param>
public sealed record BalancingView(string Mode, double IntervalMs, IReadOnlyList<WorkerLoadView> Workers, IReadOnlyList<ProposalView> Proposals, long Moves);

/// <summary>The load of a worker.</summary>
public sealed record WorkerLoadView(string Worker, double PerSecond);

/// <summary>A move that would help: of a partition, or of the actor with <paramref name="Type"/> and <paramref name="Id"/>. <paramref name="Confirmed"/>: how many looks in a row have made it.</summary>
public sealed record ProposalView(
    int? Partition, string? Type, string? Id, string From, string To, double PerSecond, string Why, int Confirmed, bool Ripe);
