using Snapper.Contracts;
using Snapper.Protocol.Identity;

namespace Snapper.Runtime.Inspection;

/// <summary>Read-only views of a worker; values, not live objects. Thread-safe; cheap enough to be polled each second.</summary>
public interface IWorkerInspection
{
    WorkerStatus Status();

    /// <summary>What is counted of it for metrics alone.</summary>
    WorkerTotals Totals() => new(0, false, 0, null, null);

    /// <summary>Ready for requests; otherwise which check fails and why.</summary>
    IReadOnlyList<HealthCheck> Checks();

    IReadOnlyList<ActorTypeView> ActorTypes();

    /// <summary>Durable state of one actor; <see cref="ActorView.State"/> is null when it was never written. Null: unknown type.</summary>
    /// <exception cref="StorageUnavailableException">The log or the state store cannot be reached now.</exception>
    /// <exception cref="DamagedStateException">What is stored of the actor cannot be read.</exception>
    Task<ActorView?> Actor(ActorKey actor, CancellationToken cancellation);

    /// <summary>Stored actors of a type that this worker owns, in the order of their ids; up to a few seconds behind what is committed. Null: unknown type.</summary>
    /// <param name="type">The type.</param>
    /// <param name="after">Only ids behind this one; null: from the first.</param>
    /// <param name="prefix">Only ids that begin so; empty: all.</param>
    /// <param name="limit">At most so many.</param>
    /// <param name="cancellation">Ends the search.</param>
    /// <exception cref="StorageUnavailableException">The state store cannot be reached now.</exception>
    Task<ActorListView?> Actors(string type, string? after, string prefix, int limit, CancellationToken cancellation);

    /// <summary>The actor's local schedule now; null: unknown type. An actor that is not resident has an empty one.</summary>
    Task<ScheduleView?> Schedule(ActorKey actor, CancellationToken cancellation);

    /// <summary>The most recent batches, newest first.</summary>
    Task<IReadOnlyList<BatchView>> Batches(int limit, CancellationToken cancellation);

    /// <summary>One recent batch; null when it is unknown or no longer kept.</summary>
    Task<BatchView?> Batch(long bid, CancellationToken cancellation);

    /// <summary>The most recent aborts, newest first.</summary>
    /// <param name="limit">At most so many.</param>
    /// <param name="reason">Only of this one, a name of the HTTP contract or <c>undone</c>; null: of all.</param>
    /// <param name="repeated">Only those that the system ran again by itself, or only those that callers saw; null: both.</param>
    /// <param name="cancellation">Ends the waiting.</param>
    Task<IReadOnlyList<AbortView>> Aborts(int limit, string? reason, bool? repeated, CancellationToken cancellation);

    /// <summary>What it tells only while somebody looks; null: not now.</summary>
    IWorkerWatch? Watch => null;
}

/// <summary>One named health check.</summary>
public sealed record HealthCheck(string Name, bool Healthy, string Detail);

/// <summary>Counts of a worker that only metrics show.</summary>
/// <param name="Losses">How often its log was found to have less than it had acknowledged, since the log began; as of this worker's start, which follows each time.</param>
/// <param name="CheckpointsFail">The last checkpoint failed: the log is not trimmed, and grows.</param>
/// <param name="CheckpointFailures">Checkpoints that failed, since the start.</param>
/// <param name="PactDurations">From arrival to answer of the PACTs that committed since the start; null: unknown.</param>
/// <param name="ActDurations">As <paramref name="PactDurations"/>, of ACTs.</param>
public sealed record WorkerTotals(
    long Losses, bool CheckpointsFail, long CheckpointFailures, DurationsView? PactDurations,
        DurationsView? ActDurations)
{
    /// <summary>Bytes of the actors in memory, estimated.</summary>
    public long ActorBytes { get; init; }

    /// <summary>Actors that left memory to make room for others, since the start.</summary>
    public long ActorsLeftForRoom { get; init; }

    /// <summary>Ids of requests that are kept.</summary>
    public long RequestIds { get; init; }

    /// <summary>How many are kept at most.</summary>
    public long RequestIdsMost { get; init; }
}

/// <summary>How many lasted at most so long: <paramref name="UpTo"/> has an entry for each of <paramref name="Bounds"/> (seconds), and one for all. <paramref name="Sum"/> in seconds.</summary>
public sealed record DurationsView(IReadOnlyList<double> Bounds, IReadOnlyList<long> UpTo, double Sum)
{
    /// <summary>Upper bounds in seconds, inclusive, by which durations of transactions are counted everywhere.</summary>
    public static IReadOnlyList<double> UsualBounds { get; } = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
}
