using System.Text.Json;

namespace Snapper.Dashboard.Workers;

/// <summary>/v1/actor-types.</summary>
public sealed record TypesView
{
    public List<TypeView> Types { get; init; } = [];
}

public sealed record TypeView
{
    public string Type { get; init; } = "";
    public List<MethodView> Methods { get; init; } = [];
}

public sealed record MethodView(string Name, bool MayAbort, bool ReadOnly, JsonElement? Input, JsonElement? Result);

/// <summary>/v1/actors/{type}/{id}.</summary>
public sealed record ActorView
{
    public string Type { get; init; } = "";
    public string Id { get; init; } = "";
    public JsonElement? State { get; init; }
    public long Version { get; init; }
    public long LastBatch { get; init; }
    public string Worker { get; init; } = "";
    public bool Resident { get; init; }
}

/// <summary>/v1/actors/{type}/{id}/schedule.</summary>
public sealed record ScheduleView
{
    public List<ScheduleEntryView> Entries { get; init; } = [];
}

public sealed record ScheduleEntryView(string Kind, long Transaction, long Batch, string State, int Calls, int Declared, long Ahead, long Behind);

/// <summary>/v1/actors/{type}/{id}/timeline.</summary>
public sealed record TimelineView
{
    public string Worker { get; init; } = "";
    public double NowAtMs { get; init; }
    public double? WatchedSinceAtMs { get; init; }
    public long Dropped { get; init; }
    public List<TimelineEntry> Entries { get; init; } = [];
}

/// <summary>A transaction on the actor. Request, root and method are null when it ended before it came there: only its number was known.</summary>
public sealed record TimelineEntry
{
    public long Transaction { get; init; }
    public long Batch { get; init; }
    public string Mode { get; init; } = "";
    public string? Request { get; init; }
    public string? Root { get; init; }
    public string? Method { get; init; }
    public double ArrivedAtMs { get; init; }
    public double? StartedAtMs { get; init; }
    public double? ExecutedAtMs { get; init; }
    public double? EndedAtMs { get; init; }
    public string? Outcome { get; init; }
    public string? Lock { get; init; }
    public int Calls { get; init; }
    public int Declared { get; init; }
}

/// <summary>/v1/hot.</summary>
public sealed record HotView
{
    public string Worker { get; init; } = "";
    public double? NowAtMs { get; init; }
    public double? WatchedSinceAtMs { get; init; }
    public int SampledOneIn { get; init; }
    public List<HotActorView> Actors { get; init; } = [];
}

public sealed record HotActorView
{
    public string Actor { get; init; } = "";
    public double Transactions { get; init; }
    public double WaitingMs { get; init; }
    public double ExecutingMs { get; init; }
    public double Conflicts { get; init; }
    public List<double> PerSecond { get; init; } = [];
}

/// <summary>/v1/access.</summary>
public sealed record AccessView
{
    public string Worker { get; init; } = "";
    public double? WatchedSinceAtMs { get; init; }
    public int SampledOneIn { get; init; }
    public List<MethodAccessView> Methods { get; init; } = [];
}

public sealed record MethodAccessView(
    string Type, string Method, double Transactions, double DeclaredActors, double TouchedActors, double DeclaredCalls, double MadeCalls, double OverDeclared, double Violations);

/// <summary>/v1/actors?type=.</summary>
public sealed record ActorListView
{
    public string Type { get; init; } = "";
    public string Worker { get; init; } = "";
    public List<ListedActorView> Actors { get; init; } = [];
    public string? Next { get; init; }
}

public sealed record ListedActorView(string Id, long? Version, bool Resident);
