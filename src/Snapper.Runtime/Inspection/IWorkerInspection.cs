using System.Text.Json;
using System.Text.Json.Serialization;
using Snapper.Protocol.Identity;

namespace Snapper.Runtime.Inspection;

/// <summary>Read-only views of a worker; values, not live objects. Thread-safe; cheap enough to be polled each second.</summary>
public interface IWorkerInspection
{
    /// <summary>The worker now.</summary>
    WorkerStatus Status();

    /// <summary>Ready for requests; otherwise which check fails and why.</summary>
    IReadOnlyList<HealthCheck> Checks();

    /// <summary>The actor types this worker hosts.</summary>
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

/// <summary>
/// A worker at a moment; counters count since it started. A process that is not the worker's own, or not there, has no
/// number.
/// </summary>
public sealed record WorkerStatus(
    string Worker, int Pid, int? SidecarPid, int? RedisPid, long Epoch, string Dapr, string Log, string Durability, long UptimeMs, string Version,
    long Committed, long Aborted, long InFlight, long CommittedPact, long CommittedAct, IReadOnlyDictionary<string, long> AbortsByReason,
    long Batches, long HighestCommittedBatch, long LogPosition, long DurablePosition, long Undos, long ResidentActors)
{
    /// <summary>Batches that were formed and are not durable yet, as of about now.</summary>
    public int OpenBatches { get; init; }

    /// <summary>The number of a process as it is shown; null for 0, which stands for none.</summary>
    public static int? NumberOf(int pid) => pid == 0 ? null : pid;

    /// <summary>How often its log was found to have less than it had acknowledged, since the log began; as of this worker's start, which follows each time.</summary>
    [JsonIgnore]
    public long Losses { get; init; }

    /// <summary>Attempts that the system repeated by itself, by reason.</summary>
    public IReadOnlyDictionary<string, long> RepeatsByReason { get; init; } = new Dictionary<string, long>();

    /// <summary>CPU time of the process so far, in whole milliseconds.</summary>
    public double CpuMs { get; init => field = Math.Round(value); }

    /// <summary>Memory of the process that is resident, in bytes.</summary>
    public long ResidentBytes { get; init; }

    /// <summary>Memory of the Redis that holds log and states, as of some seconds ago; null: unknown, or there is none.</summary>
    [JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingNull)]
    public RedisMemoryView? Redis { get; init; }

    /// <summary>From arrival to answer of the PACTs that committed since the start; null: unknown.</summary>
    [JsonIgnore]
    public DurationsView? PactDurations { get; init; }

    /// <summary>As <see cref="PactDurations"/>, of ACTs.</summary>
    [JsonIgnore]
    public DurationsView? ActDurations { get; init; }

    /// <summary>From arrival to answer of what committed within the last minute.</summary>
    public LatencyByMode Latency { get; init; } = new(null, null);

    /// <summary>What it shares with others; null: it is the only worker.</summary>
    [JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingNull)]
    public ClusterStatusView? Cluster { get; init; }
}

/// <summary>Latencies of PACTs and of ACTs; null: none committed.</summary>
public sealed record LatencyByMode(LatencyView? Pact, LatencyView? Act);

/// <summary>Memory of a Redis, in bytes.</summary>
/// <param name="UsedBytes">In use.</param>
/// <param name="MaxBytes">That it may use; 0: without a limit of its own, and then its machine's memory is the limit.</param>
/// <param name="SystemBytes">Of its machine; 0: it does not tell.</param>
public sealed record RedisMemoryView(long UsedBytes, long MaxBytes, long SystemBytes);

/// <summary>How many lasted at most so long: <paramref name="UpTo"/> has an entry for each of <paramref name="Bounds"/> (seconds), and one for all. <paramref name="Sum"/> in seconds.</summary>
public sealed record DurationsView(IReadOnlyList<double> Bounds, IReadOnlyList<long> UpTo, double Sum)
{
    /// <summary>Upper bounds in seconds, inclusive, by which durations of transactions are counted everywhere.</summary>
    public static IReadOnlyList<double> UsualBounds { get; } = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
}

/// <summary>One of several workers at a moment: what of it waits for others.</summary>
/// <param name="Master">Whom it listens to; null: nobody yet, because what an earlier master had open is not settled here (R3).</param>
/// <param name="MasterEpoch">Epoch of that master's log; 0: none.</param>
/// <param name="Directory">Up to which change it knows the directory.</param>
/// <param name="WaitingForNumber">PACTs that wait for a number of the master.</param>
/// <param name="GlobalPacts">PACTs over several workers that have one, and are not over here.</param>
/// <param name="RemoteCalls">Calls of its transactions that run on other workers.</param>
/// <param name="PassedOn">Requests of its callers that other workers run.</param>
/// <param name="Peers">The other workers that it has spoken with.</param>
public sealed record ClusterStatusView(
    string? Master, long MasterEpoch, long Directory, int WaitingForNumber, int GlobalPacts, int RemoteCalls, int PassedOn, IReadOnlyList<PeerView> Peers);

/// <summary>
/// The mailboxes from and to another worker. <paramref name="Epoch"/>: of the life that it speaks with, 0: none is known; <paramref name="Queued"/>: messages that are not taken yet;
/// <paramref name="UnansweredMs"/>: for how long nothing of that worker has answered, 0: it has; <paramref name="LastProblem"/>: what the last packet met that was not taken;
/// <paramref name="Via"/>: the worker that passes on what is for it, since it does not answer directly, null: nobody needs to.
/// </summary>
public sealed record PeerView(string Worker, long Epoch, long Queued, double UnansweredMs, long Sent, long Received, long Retransmissions, string? LastProblem, string? Via = null);

/// <summary>An actor type.</summary>
public sealed record ActorTypeView(string Type, IReadOnlyList<ActorMethodView> Methods);

/// <summary>A method with JSON schemas of its input and result; null schema: none.</summary>
public sealed record ActorMethodView(string Name, bool MayAbort, bool ReadOnly, JsonElement? Input, JsonElement? Result);

/// <summary>Durable state of an actor. <paramref name="LastBatch"/>: the newest batch that used it since it came into memory; 0: none.</summary>
public sealed record ActorView(string Type, string Id, JsonElement? State, long Version, long LastBatch, string Worker, bool Resident);

/// <summary>Stored actors. <paramref name="Next"/>: the id behind which there may be more; null: there are none.</summary>
public sealed record ActorListView(string Type, string Worker, IReadOnlyList<ListedActor> Actors, string? Next);

/// <summary>One of them. <paramref name="Version"/>: null when what is stored has none, which is damage. <paramref name="Resident"/>: it is in memory.</summary>
public sealed record ListedActor(string Id, long? Version, bool Resident);

/// <summary>An actor's local schedule: batches chained by previous batch, ACTs by place.</summary>
public sealed record ScheduleView(string Type, string Id, IReadOnlyList<ScheduleEntryView> Entries);

/// <summary>
/// One entry. <paramref name="Kind"/> is <c>pact</c> or <c>act</c>; <paramref name="State"/> is <c>waiting</c>,
/// <c>executing</c>, <c>executed</c>, <c>committing</c>; <paramref name="Batch"/> is 0 for an ACT; Ahead and Behind are an
/// ACT's neighbours (0: none).
/// </summary>
public sealed record ScheduleEntryView(string Kind, long Transaction, long Batch, string State, int Calls, int Declared, long Ahead, long Behind);

/// <summary>
/// A batch, formed <paramref name="FormedAtMs"/> milliseconds after the Unix epoch, with its phase times in milliseconds
/// since then; null: not yet.
/// </summary>
public sealed record BatchView(
    long Batch, long PreviousBatch, int Transactions, int Actors, string State, long FormedAtMs,
    double? CompletedMs, double? QueuedMs, double? CommittedMs, IReadOnlyList<string> WaitingFor)
{
    /// <summary>Number of the batch over several workers that this is a part of; null: it is this worker's alone.</summary>
    public long? GlobalBatch { get; init; }

    /// <summary>Its part is prepared and durable, so that it waits for the decision; null: not yet, or it is no part.</summary>
    public double? PreparedMs { get; init; }

    /// <summary>The actor whose acknowledgement came last, as <c>type/id</c>; null: some are missing still. What an undo takes back, and what comes again after it, does not count.</summary>
    public string? LastActor { get; init; }

    /// <summary>The actor whose acknowledgement came before that; null: some are missing still, or it is the only actor.</summary>
    public string? BeforeLastActor { get; init; }

    /// <summary>How long after that one the last one came, in milliseconds; null as above.</summary>
    public double? LastActorAfterMs { get; init; }

    /// <summary>What it waited for longest; null: it is not over.</summary>
    public HeldBackBy? HeldBackBy { get; init; }

    /// <summary>How long that was, in milliseconds; null: it is not over.</summary>
    public double? HeldBackMs { get; init; }
}

/// <summary>What a batch waited for longest between forming and commit.</summary>
[JsonConverter(typeof(JsonStringEnumConverter<HeldBackBy>))]
public enum HeldBackBy
{
    /// <summary>One actor: half of the time until all had acknowledged, or more, passed between the one before it and this last one; or it is the only one. Never said of a part of a global batch.</summary>
    [JsonStringEnumMemberName("actor")]
    Actor,

    /// <summary>
    /// Its actors, all about together. Of a part of a global batch it is said also when one came late, or is the only one: a part cannot tell whether that one was slow or waited for
    /// calls to or from other workers.
    /// </summary>
    [JsonStringEnumMemberName("actors")]
    Actors,

    /// <summary>The batches before it, which become final first, or an undo that reached it: all from the first time that all its actors had acknowledged until its turn.</summary>
    [JsonStringEnumMemberName("batches")]
    Batches,

    /// <summary>The decision about it and the global ones before it: for the parts of other workers, and the master's log.</summary>
    [JsonStringEnumMemberName("decision")]
    Decision,

    /// <summary>The log of this worker.</summary>
    [JsonStringEnumMemberName("log")]
    Log,
}

/// <summary>An abort, <paramref name="AtMs"/> milliseconds after the Unix epoch, with what explains it. Floor and Ceil are set for H5; Blocker for wait-die; both 0 otherwise.</summary>
public sealed record AbortView(
    long AtMs, string Id, long Transaction, string Mode, string Root, string Method, string Reason, string Message, bool Repeated,
    IReadOnlyList<string> Actors, long Blocker, long Floor, long Ceil)
{
    /// <summary>Whose lock it died of; null: of none, or it has ended since.</summary>
    public PartyView? BlockedBy { get; init; }

    /// <summary>With whose failure the undo began that took it out of the order; null: no other's.</summary>
    public PartyView? UndoneFor { get; init; }
}

/// <summary>A transaction that had part in the end of another one. <paramref name="Age"/>: the number that wait-die compares; 0: it has none.</summary>
public sealed record PartyView(string Request, long Transaction, string Mode, string Root, string Method, long Age);
