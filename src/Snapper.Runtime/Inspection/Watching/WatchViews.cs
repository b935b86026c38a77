namespace Snapper.Runtime.Inspection;

/// <summary>
/// What a worker tells while somebody looks. It gathers nothing unless somebody has asked within <see cref="LeaseSeconds"/>, and lets go of what it has within another
/// <see cref="LeaseSeconds"/>. Times are Unix milliseconds. Thread-safe.
/// </summary>
public interface IWorkerWatch
{
    /// <summary>For how long a question keeps watching up.</summary>
    public const int LeaseSeconds = 15;

    /// <summary>Actors whose timelines are kept at a time.</summary>
    public const int TimelinesMax = 64;

    /// <summary>Who used the actor, and when: the newest entries since the first question; null: unknown type.</summary>
    Task<TimelineView?> Timeline(Protocol.Identity.ActorKey actor, CancellationToken cancellation);

    /// <summary>Sampled transactions, newest first.</summary>
    /// <param name="filter">Which ones.</param>
    TracesView Traces(TraceFilter filter);

    /// <summary>The actors that sampled transactions used most, by transactions of the last minute.</summary>
    /// <param name="limit">At most so many.</param>
    HotView Hot(int limit);

    /// <summary>What sampled transactions had declared, and what they touched, by method.</summary>
    AccessView Access();

    /// <summary>The ring of coordinators.</summary>
    RingView Ring();
}

/// <summary>Latencies in milliseconds.</summary>
public sealed record LatencyView(long Count, double P50Ms, double P90Ms, double P99Ms, double P999Ms, double MaxMs);

/// <summary>Who used an actor since <paramref name="WatchedSinceAtMs"/>. <paramref name="Dropped"/>: older entries that are no longer kept.</summary>
public sealed record TimelineView(string Type, string Id, string Worker, double NowAtMs, double WatchedSinceAtMs, long Dropped, IReadOnlyList<TimelineEntry> Entries);

/// <summary>
/// A transaction's stay on an actor: from <paramref name="ArrivedAtMs"/> it waited, from <paramref name="StartedAtMs"/> it ran, from <paramref name="ExecutedAtMs"/> it waited for its
/// commit, which was durable at <paramref name="EndedAtMs"/>; null: not yet. <paramref name="Batch"/> is 0 for an ACT; <paramref name="Outcome"/> is <c>committed</c>, <c>aborted</c>,
/// <c>undone</c> or null; <paramref name="Lock"/> is <c>shared</c>, <c>exclusive</c> or null; <paramref name="Declared"/> calls are 0 for an ACT.
/// </summary>
public sealed record TimelineEntry(
    long Transaction, long Batch, string Mode, string? Request, string? Root, string? Method, double ArrivedAtMs, double? StartedAtMs, double? ExecutedAtMs, double? EndedAtMs,
    string? Outcome, string? Lock, int Calls, int Declared);

/// <summary>Which sampled transactions; null: any. <paramref name="Outcome"/>: as in <see cref="TraceView"/>.</summary>
public sealed record TraceFilter(int Limit, string? Request = null, string? Actor = null, string? Reason = null, string? Outcome = null, double AtLeastMs = 0);

/// <summary>Sampled transactions. One in <paramref name="SampledOneIn"/> is; <paramref name="Dropped"/>: older ones that are no longer kept.</summary>
public sealed record TracesView(string Worker, double NowAtMs, double WatchedSinceAtMs, int SampledOneIn, int Kept, long Dropped, IReadOnlyList<TraceView> Traces);

/// <summary>
/// One attempt of a transaction on one worker. <paramref name="Outcome"/>: <c>committed</c>, <c>aborted</c>, <c>repeated</c> (the system ran it again for <paramref name="Reason"/>),
/// <c>inDoubt</c>, or <c>branch</c>: its root is on another worker, which knows.
/// </summary>
public sealed record TraceView(
    string Request, long Transaction, long Batch, string Mode, string Root, string? Method, string Worker, int Attempt, string Outcome, string? Reason, double ReceivedAtMs, double StartedAtMs,
    double? EndedAtMs, double? CommittedAtMs, IReadOnlyList<TouchedView> Declared, IReadOnlyList<TouchedView> Touched, IReadOnlyList<CallView> Calls, int CallsDropped);

/// <summary>An actor and the calls on it.</summary>
public sealed record TouchedView(string Actor, int Calls);

/// <summary>
/// A call: asked for (a root: when its request came, or when an undo took it out), let in, over. <paramref name="Parent"/> is the index of the call that made it, -1: none here.
/// <paramref name="WaitedMs"/>: for its turn and its locks.
/// </summary>
public sealed record CallView(string Actor, string Method, string Worker, int Parent, double AskedAtMs, double? StartedAtMs, double? EndedAtMs, double WaitedMs);

/// <summary>Often used actors. All numbers are estimates of the last minute: sampled ones times <paramref name="SampledOneIn"/> as it was when they began.</summary>
public sealed record HotView(string Worker, double NowAtMs, double WatchedSinceAtMs, int SampledOneIn, IReadOnlyList<HotActorView> Actors);

/// <summary>
/// One of them. <paramref name="PerSecond"/>: of the last 60 seconds, oldest first. Waiting and executing are sums over calls, of transactions that ended in that minute; a root waits
/// from its request's arrival on.
/// </summary>
public sealed record HotActorView(string Actor, long Transactions, double WaitingMs, double ExecutingMs, long Conflicts, IReadOnlyList<long> PerSecond);

/// <summary>Declared and touched, by method of the root.</summary>
public sealed record AccessView(string Worker, double WatchedSinceAtMs, int SampledOneIn, IReadOnlyList<MethodAccessView> Methods);

/// <summary>Sampled PACTs of one method. <paramref name="OverDeclared"/>: those that did not touch an actor they had declared; <paramref name="Violations"/>: aborted for touching another one.</summary>
public sealed record MethodAccessView(
    string Type, string Method, long Transactions, long DeclaredActors, long TouchedActors, long DeclaredCalls, long MadeCalls, long OverDeclared, long Violations);

/// <summary>The ring. Rotation times are microseconds; none where one coordinator keeps the token.</summary>
public sealed record RingView(
    string Worker, IReadOnlyList<CoordinatorView> Coordinators, int TokenHolder, long Rotations, long RotationP50Us, long RotationP99Us, long RotationMaxUs,
    long Batches, long BatchSizeP50, long BatchSizeP99, long BatchSizeMax, string? Master);

/// <summary>A coordinator. <paramref name="Waiting"/>: PACTs without a number.</summary>
public sealed record CoordinatorView(int Index, int Waiting, bool HoldsToken, long Batches, long Transactions);
