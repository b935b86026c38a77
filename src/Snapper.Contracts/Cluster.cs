using System.Text.Json.Serialization;

namespace Snapper.Contracts;

/// <summary><c>GET /v1/workers</c>.</summary>
public sealed record WorkersView
{
    /// <summary>All workers that ever registered, by number.</summary>
    public IReadOnlyList<ClusterMember> Workers { get => field ?? []; init; }
}

/// <summary>A worker as the others know it.</summary>
/// <param name="Worker">Its name, <c>w2</c>.</param>
/// <param name="Epoch">Of its life.</param>
/// <param name="State"><c>live</c>, <c>expired</c>, <c>fenced</c> or <c>left</c>.</param>
/// <param name="Master">It numbers what touches several workers.</param>
/// <param name="LeaseMs">What is left of its lease, in milliseconds.</param>
/// <param name="Entries">Partitions and single actors that it owns.</param>
/// <param name="Url">Its own address.</param>
/// <param name="Pid">Its process.</param>
/// <param name="Version">Of its program.</param>
/// <param name="Rescuer">The worker that takes its actors over; null: none does.</param>
/// <param name="Expirations">How often a life of it was fenced after its lease had run out.</param>
/// <param name="Evictions">How often a life of it was fenced alive, because it could not be reached.</param>
public sealed record ClusterMember(
    string Worker = "", long Epoch = 0, string State = "", bool Master = false, double LeaseMs = 0, long Entries = 0,
    string Url = "", int Pid = 0, string Version = "",
    [property: JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingNull)] string? Rescuer = null,
    long Expirations = 0, long Evictions = 0);

/// <summary><c>GET /v1/directory</c>: placement, as the worker that answers knows it.</summary>
/// <param name="Partitions">How many there are.</param>
public sealed record DirectoryView(int Partitions = 0)
{
    /// <summary>Partitions per worker.</summary>
    public IReadOnlyDictionary<string, int> PartitionsByWorker { get => field ?? Empty.Shares; init; }

    /// <summary>Single actors that are not where their partition is.</summary>
    public IReadOnlyList<PlacedActorView> Actors { get => field ?? []; init; }

    /// <summary>Number of the newest change that it knows.</summary>
    public long Version { get; init; }
}

/// <summary>A single actor that was moved out of its partition.</summary>
public sealed record PlacedActorView(string Type = "", string Id = "", string Worker = "");

/// <summary><c>GET /v1/directory?worker=</c>: numbers of the partitions of a worker.</summary>
public sealed record PartitionsView(string Worker = "")
{
    /// <summary>0..4,095.</summary>
    public IReadOnlyList<int> Partitions { get => field ?? []; init; }
}

/// <summary><c>GET /v1/directory?actor=</c>: where an actor lives.</summary>
/// <param name="Actor">As it was asked for, <c>type/id</c>.</param>
/// <param name="Worker">Null: it has no owner now.</param>
/// <param name="Partition">Its partition, whether it is there or was moved out of it.</param>
public sealed record PlacementView(
    string Actor = "", [property: JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingNull)] string? Worker = null,
    int Partition = 0);

/// <summary>The answer of a worker that has left the others. <paramref name="State"/>: <c>left</c>.</summary>
public sealed record LeftView(string Worker = "", string State = "");
