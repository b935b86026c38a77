using System.Text.Json;

namespace Snapper.Dashboard.Workers;

/// <summary>/v1/batches.</summary>
public sealed record BatchesView
{
    public List<BatchView> Batches { get; init; } = [];
}

public sealed record BatchView
{
    public long Batch { get; init; }
    public long PreviousBatch { get; init; }
    public int Transactions { get; init; }
    public int Actors { get; init; }
    public string State { get; init; } = "";
    public double FormedAtMs { get; init; }
    public double? CompletedMs { get; init; }
    public double? QueuedMs { get; init; }
    public double? CommittedMs { get; init; }
    public List<string> WaitingFor { get; init; } = [];
    public long? GlobalBatch { get; init; }
    public double? PreparedMs { get; init; }
    public string? LastActor { get; init; }
    public string? BeforeLastActor { get; init; }
    public double? LastActorAfterMs { get; init; }
    public string? HeldBackBy { get; init; }
    public double? HeldBackMs { get; init; }
}

/// <summary>/v1/aborts.</summary>
public sealed record AbortsView
{
    public List<AbortView> Aborts { get; init; } = [];
}

public sealed record AbortView
{
    public double AtMs { get; init; }
    public string? Id { get; init; }
    public long Transaction { get; init; }
    public string Mode { get; init; } = "";
    public string Root { get; init; } = "";
    public string Method { get; init; } = "";
    public string Reason { get; init; } = "";
    public string? Message { get; init; }
    public bool Repeated { get; init; }
    public List<string> Actors { get; init; } = [];
    public long Blocker { get; init; }
    public long Floor { get; init; }
    public long Ceil { get; init; }

    /// <summary>Whose lock it died of; null: of none, or it had ended, or is another worker's.</summary>
    public PartyView? BlockedBy { get; init; }

    /// <summary>With whose failure the undo began that took it away; null: that is not known.</summary>
    public PartyView? UndoneFor { get; init; }
}

/// <summary>Another transaction that had part in an abort. <paramref name="Age"/>: the number that wait-die compares; 0: it has none.</summary>
public sealed record PartyView(string? Request, long Transaction, string Mode, string Root, string? Method, long Age);

/// <summary>/v1/traces.</summary>
public sealed record TracesView
{
    public string Worker { get; init; } = "";
    public double? NowAtMs { get; init; }
    public double? WatchedSinceAtMs { get; init; }
    public int SampledOneIn { get; init; }
    public long Kept { get; init; }
    public long Dropped { get; init; }
    public List<TraceView> Traces { get; init; } = [];
}

public sealed record TraceView
{
    public string? Request { get; init; }
    public long Transaction { get; init; }
    public long Batch { get; init; }
    public string Mode { get; init; } = "";
    public string Root { get; init; } = "";
    public string? Method { get; init; }
    public string Worker { get; init; } = "";
    public int Attempt { get; init; }
    public string? Outcome { get; init; }
    public string? Reason { get; init; }
    public double ReceivedAtMs { get; init; }
    public double? StartedAtMs { get; init; }
    public double? EndedAtMs { get; init; }
    public double? CommittedAtMs { get; init; }
    public List<CallsView> Declared { get; init; } = [];
    public List<CallsView> Touched { get; init; } = [];
    public List<CallView> Calls { get; init; } = [];
    public long CallsDropped { get; init; }
}

public sealed record CallsView(string Actor, int Calls);

public sealed record CallView(string Actor, string Method, string? Worker, int Parent, double? AskedAtMs, double? StartedAtMs, double? EndedAtMs);

/// <summary>/v1/transactions/{id}: the envelope.</summary>
public sealed record EnvelopeView
{
    public string? Id { get; init; }
    public string Outcome { get; init; } = "";
    public string Mode { get; init; } = "";
    public long Transaction { get; init; }
    public long Batch { get; init; }
    public int Attempts { get; init; }
    public string? Worker { get; init; }
    public JsonElement? Result { get; init; }
    public AbortInfo? Abort { get; init; }
}

public sealed record AbortInfo(string? Reason, string? Message, bool Retryable);
