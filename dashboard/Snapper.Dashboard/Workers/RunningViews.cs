namespace Snapper.Dashboard.Workers;

/// <summary>/v1/ring.</summary>
public sealed record RingView
{
    public string Worker { get; init; } = "";
    public List<CoordinatorView> Coordinators { get; init; } = [];
    public TokenView? Token { get; init; }
    public RotationView? Rotation { get; init; }
    public BatchSizeView? BatchSize { get; init; }
    public string? Master { get; init; }
}

public sealed record CoordinatorView(int Index, long Waiting, bool HoldsToken, long Batches, long Transactions);

/// <summary>-1: on its way.</summary>
public sealed record TokenView(int Holder);

public sealed record RotationView(long Count, double? P50Us, double? P99Us, double? MaxUs);

public sealed record BatchSizeView(long Count, double? P50, double? P99, double? Max);

/// <summary>/v1/migrations.</summary>
public sealed record MigrationsView
{
    public List<MigrationView> Migrations { get; init; } = [];
}

/// <summary>A migration and its parts.</summary>
public sealed record MigrationView
{
    public string Id { get; init; } = "";
    public string State { get; init; } = "";
    public long Keys { get; init; }
    public string? Reason { get; init; }
    public List<MigrationPart> Parts { get; init; } = [];
}

public sealed record MigrationPart
{
    public string Plan { get; init; } = "";
    public string? From { get; init; }
    public string? To { get; init; }
    public long Keys { get; init; }
    public string State { get; init; } = "";
    public string? Why { get; init; }
    public DateTimeOffset? Created { get; init; }
    public DateTimeOffset? Ended { get; init; }
    public List<MigrationPhase> Phases { get; init; } = [];
    public long FrozenRequests { get; init; }
    public long MostFrozenRequests { get; init; }
}

public sealed record MigrationPhase(string Phase, DateTimeOffset At);

/// <summary>/v1/audit.</summary>
public sealed record AuditView
{
    public string Worker { get; init; } = "";
    public List<AuditEntry> Entries { get; init; } = [];
}

public sealed record AuditEntry(double AtMs, string? Who, string? Role, string? Action, string? Target, string? Reason, string? Outcome, string? From);
