using System.Text.Json.Serialization;

namespace Snapper.Contracts;

/// <summary><c>GET /v1/status</c>: a worker at a moment; counters count since it started.</summary>
/// <param name="Worker">Its name, <c>w1</c>.</param>
/// <param name="Pid">Its process.</param>
/// <param name="SidecarPid">Process of its sidecar; null: it is not the worker's own, or not there.</param>
/// <param name="RedisPid">Process of its Redis; null as above.</param>
/// <param name="Epoch">Of this life of the worker; grows with every start.</param>
/// <param name="Dapr"><c>daprd</c> or <c>embedded</c>.</param>
/// <param name="Log"><c>redis</c>, <c>file</c> or <c>memory</c>.</param>
/// <param name="Durability"><c>always</c>, <c>everysec</c> or <c>none</c>.</param>
/// <param name="UptimeMs">Since its start, in milliseconds.</param>
/// <param name="Version">Of its program.</param>
/// <param name="Committed">Transactions.</param>
/// <param name="Aborted">Transactions whose callers were answered so.</param>
/// <param name="InFlight">Requests that are not answered yet.</param>
/// <param name="CommittedPact">PACTs.</param>
/// <param name="CommittedAct">ACTs.</param>
public sealed record WorkerStatus(
    string Worker = "", int Pid = 0, int? SidecarPid = null, int? RedisPid = null, long Epoch = 0, string Dapr = "",
    string Log = "", string Durability = "", long UptimeMs = 0, string Version = "", long Committed = 0,
    long Aborted = 0,
    long InFlight = 0, long CommittedPact = 0, long CommittedAct = 0)
{
    /// <summary>Aborts that callers saw, by reason.</summary>
    public IReadOnlyDictionary<string, long> AbortsByReason { get => field ?? Empty.Counts; init; }

    /// <summary>Batches that were formed.</summary>
    public long Batches { get; init; }

    /// <summary>The highest batch that is final; 0: none.</summary>
    public long HighestCommittedBatch { get; init; }

    /// <summary>Number of the newest record of the log.</summary>
    public long LogPosition { get; init; }

    /// <summary>Number of the newest record that is durable.</summary>
    public long DurablePosition { get; init; }

    /// <summary>How often speculative work was taken back.</summary>
    public long Undos { get; init; }

    /// <summary>Actors in memory.</summary>
    public long ResidentActors { get; init; }

    /// <summary>Batches that were formed and are not durable yet, as of about now; null: an older worker does not
    /// say.</summary>
    public int? OpenBatches { get; init; }

    /// <summary>Attempts that the system repeated by itself, by reason.</summary>
    public IReadOnlyDictionary<string, long> RepeatsByReason { get => field ?? Empty.Counts; init; }

    /// <summary>CPU time of the process so far, in whole milliseconds; null: an older worker does not say.</summary>
    public double? CpuMs { get; init; }

    /// <summary>Memory of the process that is resident, in bytes; null as above.</summary>
    public long? ResidentBytes { get; init; }

    /// <summary>What the worker may use of memory; null: an older worker does not say.</summary>
    [JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingNull)]
    public HeldMemoryView? Memory { get; init; }

    /// <summary>Memory of the Redis that holds log and states, as of some seconds ago; null: unknown, or there is
    /// none.</summary>
    [JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingNull)]
    public RedisMemoryView? Redis { get; init; }

    /// <summary>Why no transaction is begun that may write: that Redis is nearly full; null: there is room.</summary>
    [JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingNull)]
    public string? StoreFull { get; init; }

    /// <summary>From arrival to answer of what committed within the last minute.</summary>
    public LatencyByMode? Latency { get; init; }

    /// <summary>What it shares with others; null: it is the only worker.</summary>
    [JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingNull)]
    public ClusterStatusView? Cluster { get; init; }
}

/// <summary>Latencies of PACTs and of ACTs; null: none committed.</summary>
public sealed record LatencyByMode(LatencyView? Pact, LatencyView? Act);

/// <summary>Percentiles of <paramref name="Count"/> latencies, in milliseconds.</summary>
public sealed record LatencyView(
    long Count = 0, double P50Ms = 0, double P90Ms = 0, double P99Ms = 0, double P999Ms = 0, double MaxMs = 0);

/// <summary>What a worker may use of memory, in bytes.</summary>
/// <param name="HeapBytes">Of objects, and of room between them, at the end of the last garbage collection.</param>
/// <param name="LimitBytes">What that may grow to.</param>
/// <param name="HeldBytes">What requests and answers hold.</param>
/// <param name="HeldMaxBytes">What they may.</param>
/// <param name="Refusing">New work is refused, since the heap is near its limit.</param>
public sealed record HeldMemoryView(
    long HeapBytes, long LimitBytes, long HeldBytes, long HeldMaxBytes, bool Refusing);

/// <summary>Memory of a Redis, in bytes.</summary>
/// <param name="UsedBytes">In use.</param>
/// <param name="MaxBytes">That it may use; 0: no limit of its own, and then its machine's memory is the limit.</param>
/// <param name="SystemBytes">Of its machine; 0: unknown.</param>
public sealed record RedisMemoryView(long UsedBytes, long MaxBytes, long SystemBytes);

/// <summary>One of several workers at a moment: what of it waits for others.</summary>
/// <param name="Master">The master that it follows; null: none yet, because what an earlier one had open is not settled
/// (R3).</param>
/// <param name="MasterEpoch">Epoch of that master's log; 0: none.</param>
/// <param name="Directory">Up to which change it knows the directory.</param>
/// <param name="WaitingForNumber">PACTs that wait for a number of the master.</param>
/// <param name="GlobalPacts">PACTs over several workers that have one, and are not over here.</param>
/// <param name="RemoteCalls">Calls of its transactions that run on other workers.</param>
/// <param name="PassedOn">Requests of its callers that other workers run.</param>
public sealed record ClusterStatusView(
    string? Master = null, long MasterEpoch = 0, long Directory = 0, int WaitingForNumber = 0, int GlobalPacts = 0,
    int RemoteCalls = 0, int PassedOn = 0)
{
    /// <summary>The other workers that it has spoken with.</summary>
    public IReadOnlyList<PeerView> Peers { get => field ?? []; init; }
}

/// <summary>The mailboxes from and to another worker.</summary>
/// <param name="Worker">Its name.</param>
/// <param name="Epoch">Of the life that is spoken with; 0: none is known.</param>
/// <param name="Queued">Messages that it has not taken yet.</param>
/// <param name="UnansweredMs">For how long nothing of it has answered; 0: it has.</param>
/// <param name="Sent">Messages.</param>
/// <param name="Received">Messages.</param>
/// <param name="Retransmissions">Packets.</param>
/// <param name="LastProblem">Of the last packet that was not taken; null: none.</param>
/// <param name="Via">The worker that passes on what is for it, since it does not answer directly; null: none.</param>
/// <param name="DirectLink">What is for it goes by a direct link; else through the sidecars.</param>
/// <param name="LinkProblem">Why there is no direct link; null: there is, it is just being made, or none is
/// wanted.</param>
public sealed record PeerView(
    string Worker = "", long Epoch = 0, long Queued = 0, double UnansweredMs = 0, long Sent = 0, long Received = 0,
    long Retransmissions = 0, string? LastProblem = null, string? Via = null, bool DirectLink = false,
    string? LinkProblem = null);

/// <summary><c>GET /readyz</c> and <c>GET /healthz</c>: <c>healthy</c> or <c>unhealthy</c>.</summary>
public sealed record ReadyView(string Status = "")
{
    /// <summary>The checks by name.</summary>
    public IReadOnlyDictionary<string, CheckView> Checks { get => field ?? Empty.Checks; init; }
}

/// <summary>One check.</summary>
public sealed record CheckView(bool Healthy = false, string? Detail = null);
