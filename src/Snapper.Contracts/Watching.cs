namespace Snapper.Contracts;

/// <summary><c>GET /v1/actors/{type}/{id}/timeline</c>: who used an actor. Times are Unix milliseconds.</summary>
/// <param name="Type">Its type.</param>
/// <param name="Id">Its id.</param>
/// <param name="Worker">Name of the worker that answered.</param>
/// <param name="NowAtMs">The worker's clock.</param>
/// <param name="WatchedSinceAtMs">Since when it is recorded.</param>
/// <param name="Dropped">Older entries that are no longer kept.</param>
public sealed record TimelineView(
    string Type = "", string Id = "", string Worker = "", double NowAtMs = 0, double WatchedSinceAtMs = 0,
    long Dropped = 0)
{
    /// <summary>In the order of arrival.</summary>
    public IReadOnlyList<TimelineEntry> Entries { get => field ?? []; init; }
}

/// <summary>A transaction's stay on an actor. Times are Unix milliseconds; null: not yet.</summary>
/// <param name="Transaction">Its number.</param>
/// <param name="Batch">0 for an ACT.</param>
/// <param name="Mode"><c>pact</c> or <c>act</c>.</param>
/// <param name="Request">Its request's id; null: it ended before it came there, and only its number was known.</param>
/// <param name="Root">The root actor, as <c>type/id</c>; null as above.</param>
/// <param name="Method">The root method; null as above.</param>
/// <param name="ArrivedAtMs">From here it waited.</param>
/// <param name="StartedAtMs">From here it ran.</param>
/// <param name="ExecutedAtMs">From here it waited for its commit.</param>
/// <param name="EndedAtMs">Its commit was durable.</param>
/// <param name="Outcome"><c>committed</c>, <c>aborted</c>, <c>undone</c> or null.</param>
/// <param name="Lock"><c>shared</c>, <c>exclusive</c> or null.</param>
/// <param name="Calls">That it has made on the actor.</param>
/// <param name="Declared">That it may make; 0 for an ACT.</param>
public sealed record TimelineEntry(
    long Transaction = 0, long Batch = 0, string Mode = "", string? Request = null, string? Root = null,
    string? Method = null,
    double ArrivedAtMs = 0, double? StartedAtMs = null, double? ExecutedAtMs = null, double? EndedAtMs = null,
    string? Outcome = null, string? Lock = null, int Calls = 0, int Declared = 0);

/// <summary><c>GET /v1/traces</c>: sampled transactions.</summary>
/// <param name="Worker">Name of the worker that answered.</param>
/// <param name="NowAtMs">The worker's clock, Unix milliseconds.</param>
/// <param name="WatchedSinceAtMs">Since when they are sampled, Unix milliseconds.</param>
/// <param name="SampledOneIn">One in so many is.</param>
/// <param name="Kept">How many are kept.</param>
/// <param name="Dropped">Older ones that are no longer kept.</param>
public sealed record TracesView(
    string Worker = "", double NowAtMs = 0, double WatchedSinceAtMs = 0, int SampledOneIn = 0, int Kept = 0,
    long Dropped = 0)
{
    /// <summary>Those that fit the question, the newest first.</summary>
    public IReadOnlyList<TraceView> Traces { get => field ?? []; init; }
}

/// <summary>One attempt of a transaction on one worker. Times are Unix milliseconds; null: not yet.</summary>
/// <param name="Request">The request's id.</param>
/// <param name="Transaction">Its number; 0: none.</param>
/// <param name="Batch">0 for an ACT.</param>
/// <param name="Mode"><c>pact</c> or <c>act</c>.</param>
/// <param name="Root">The root actor, as <c>type/id</c>.</param>
/// <param name="Method">The root method; null: unknown here.</param>
/// <param name="Worker">Where this attempt ran.</param>
/// <param name="Attempt">From 1.</param>
/// <param name="Outcome">
/// <c>committed</c>, <c>aborted</c>, <c>repeated</c> (the system ran it again for <paramref name="Reason"/>),
/// <c>inDoubt</c>, or <c>branch</c>: its root is on another worker, which knows.
/// </param>
/// <param name="Reason">Of an abort or a repetition; else null.</param>
/// <param name="ReceivedAtMs">Its request came.</param>
/// <param name="StartedAtMs">The attempt began.</param>
/// <param name="EndedAtMs">Its last call was over.</param>
/// <param name="CommittedAtMs">It was durable.</param>
public sealed record TraceView(
    string Request = "", long Transaction = 0, long Batch = 0, string Mode = "", string Root = "",
    string? Method = null,
    string Worker = "", int Attempt = 0, string Outcome = "", string? Reason = null, double ReceivedAtMs = 0,
    double StartedAtMs = 0, double? EndedAtMs = null, double? CommittedAtMs = null)
{
    /// <summary>The actors that it declared; empty for an ACT.</summary>
    public IReadOnlyList<TouchedView> Declared { get => field ?? []; init; }

    /// <summary>The actors that it touched.</summary>
    public IReadOnlyList<TouchedView> Touched { get => field ?? []; init; }

    /// <summary>Its calls, in the order in which they were made.</summary>
    public IReadOnlyList<CallView> Calls { get => field ?? []; init; }

    /// <summary>Further calls that are not kept.</summary>
    public int CallsDropped { get; init; }
}

/// <summary>An actor, as <c>type/id</c>, and the calls on it.</summary>
public sealed record TouchedView(string Actor = "", int Calls = 0);

/// <summary>A call. Times are Unix milliseconds; null: not yet.</summary>
/// <param name="Actor">As <c>type/id</c>.</param>
/// <param name="Method">Its method.</param>
/// <param name="Worker">Where it ran.</param>
/// <param name="Parent">Index of the call that made it; -1: none here.</param>
/// <param name="AskedAtMs">It was asked for; of a root: its request came, or an undo took it out.</param>
/// <param name="StartedAtMs">It was let in.</param>
/// <param name="EndedAtMs">It was over.</param>
/// <param name="WaitedMs">For its turn and its locks, in milliseconds.</param>
public sealed record CallView(
    string Actor = "", string Method = "", string Worker = "", int Parent = 0, double AskedAtMs = 0,
    double? StartedAtMs = null,
    double? EndedAtMs = null, double WaitedMs = 0);

/// <summary>
/// <c>GET /v1/hot</c>: often used actors. All numbers are estimates of the last minute: sampled ones times
/// <paramref name="SampledOneIn"/> as it was when they began. Times are Unix milliseconds.
/// </summary>
public sealed record HotView(string Worker = "", double NowAtMs = 0, double WatchedSinceAtMs = 0, int SampledOneIn = 0)
{
    /// <summary>By transactions, the most used first.</summary>
    public IReadOnlyList<HotActorView> Actors { get => field ?? []; init; }
}

/// <summary>
/// One of them, as <c>type/id</c>. Waiting and executing are sums over calls, in milliseconds, of transactions that
/// ended
/// in that minute; a root waits from its request's arrival on.
/// </summary>
public sealed record HotActorView(
    string Actor = "", long Transactions = 0, double WaitingMs = 0, double ExecutingMs = 0, long Conflicts = 0)
{
    /// <summary>Transactions of each of the last 60 seconds, the oldest first.</summary>
    public IReadOnlyList<long> PerSecond { get => field ?? []; init; }
}

/// <summary><c>GET /v1/access</c>: what sampled PACTs declared and touched. <paramref name="WatchedSinceAtMs"/>: Unix
/// milliseconds.</summary>
public sealed record AccessView(string Worker = "", double WatchedSinceAtMs = 0, int SampledOneIn = 0)
{
    /// <summary>By method of the root.</summary>
    public IReadOnlyList<MethodAccessView> Methods { get => field ?? []; init; }
}

/// <summary>
/// Sampled PACTs of one method. <paramref name="OverDeclared"/>: those that did not touch an actor they had declared;
/// <paramref name="Violations"/>: aborted for touching another one.
/// </summary>
public sealed record MethodAccessView(
    string Type = "", string Method = "", long Transactions = 0, long DeclaredActors = 0, long TouchedActors = 0,
    long DeclaredCalls = 0, long MadeCalls = 0, long OverDeclared = 0, long Violations = 0);

/// <summary><c>GET /v1/ring</c>: the coordinators that form batches.</summary>
public sealed record RingView(string Worker = "")
{
    /// <summary>In the order of the ring.</summary>
    public IReadOnlyList<CoordinatorView> Coordinators { get => field ?? []; init; }

    /// <summary>Where the token is.</summary>
    public TokenView? Token { get; init; }

    /// <summary>How long the token takes around the ring.</summary>
    public RotationView? Rotation { get; init; }

    /// <summary>Transactions per batch.</summary>
    public BatchSizeView? BatchSize { get; init; }

    /// <summary>Name of the master that numbers PACTs over several workers; null: none.</summary>
    public string? Master { get; init; }
}

/// <summary>A coordinator. <paramref name="Waiting"/>: PACTs without a number.</summary>
public sealed record CoordinatorView(
    int Index = 0, int Waiting = 0, bool HoldsToken = false, long Batches = 0, long Transactions = 0);

/// <summary>Index of the coordinator that holds the token; -1: it is on its way.</summary>
public sealed record TokenView(int Holder = 0);

/// <summary>Rotation times in microseconds; none where one coordinator keeps the token.</summary>
public sealed record RotationView(long Count = 0, long P50Us = 0, long P99Us = 0, long MaxUs = 0);

/// <summary>Sizes of <paramref name="Count"/> batches, in transactions.</summary>
public sealed record BatchSizeView(long Count = 0, long P50 = 0, long P99 = 0, long Max = 0);
