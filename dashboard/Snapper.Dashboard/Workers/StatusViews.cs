namespace Snapper.Dashboard.Workers;

// What a worker answers, field by field as it names them (docs/http-api.md). Every field may be absent: then it is null, zero or empty.

/// <summary>/v1/status.</summary>
public sealed record StatusView
{
    public string Worker { get; init; } = "";
    public int Pid { get; init; }
    public int? SidecarPid { get; init; }
    public int? RedisPid { get; init; }
    public long Epoch { get; init; }
    public string Dapr { get; init; } = "";
    public string Log { get; init; } = "";
    public string Durability { get; init; } = "";
    public double UptimeMs { get; init; }
    public string Version { get; init; } = "";
    public long Committed { get; init; }
    public long Aborted { get; init; }
    public long InFlight { get; init; }
    public long CommittedPact { get; init; }
    public long CommittedAct { get; init; }
    public Dictionary<string, long> AbortsByReason { get; init; } = [];
    public Dictionary<string, long> RepeatsByReason { get; init; } = [];
    public long Batches { get; init; }

    /// <summary>Formed and not final; null: it is of an older version.</summary>
    public long? OpenBatches { get; init; }
    public long HighestCommittedBatch { get; init; }
    public long LogPosition { get; init; }
    public long DurablePosition { get; init; }
    public long Undos { get; init; }
    public long ResidentActors { get; init; }
    public double? CpuMs { get; init; }
    public long? ResidentBytes { get; init; }
    public LatencyView? Latency { get; init; }
    public ClusterView? Cluster { get; init; }
    public RedisView? Redis { get; init; }
}

/// <summary>Of the last minute.</summary>
public sealed record LatencyView(Percentiles? Pact, Percentiles? Act);

public sealed record Percentiles(long Count, double? P50Ms, double? P90Ms, double? P99Ms, double? P999Ms, double? MaxMs);

public sealed record RedisView(long? UsedBytes, long? MaxBytes, long? SystemBytes);

public sealed record ClusterView
{
    public string? Master { get; init; }
    public long MasterEpoch { get; init; }
    public long Directory { get; init; }
    public long WaitingForNumber { get; init; }
    public long GlobalPacts { get; init; }
    public long RemoteCalls { get; init; }
    public long PassedOn { get; init; }
    public List<PeerView> Peers { get; init; } = [];
}

public sealed record PeerView(string Worker, long Epoch, long Queued, double UnansweredMs, long Sent, long Received, long Retransmissions, string? LastProblem);

/// <summary>/readyz.</summary>
public sealed record ReadyView
{
    public string Status { get; init; } = "";
    public Dictionary<string, CheckView> Checks { get; init; } = [];
}

public sealed record CheckView(bool Healthy, string? Detail);

/// <summary>/v1/workers.</summary>
public sealed record WorkersView
{
    public List<MemberView> Workers { get; init; } = [];
}

public sealed record MemberView(string Worker, long Epoch, string? State, bool Master, double? LeaseMs, long Entries, string? Url, int? Pid, string? Version, long Expirations, long Evictions);

/// <summary>/v1/directory.</summary>
public sealed record DirectoryView
{
    public int Partitions { get; init; }
    public Dictionary<string, int> PartitionsByWorker { get; init; } = [];
    public List<PlacedView> Actors { get; init; } = [];
    public long Version { get; init; }
}

public sealed record PlacedView(string Type, string Id, string Worker);

/// <summary>/v1/directory?actor=.</summary>
public sealed record PlacementView(string? Actor, string? Worker, int? Partition);
