using System.Text.Json;

namespace Snapper.Contracts;

/// <summary>An actor by its names.</summary>
/// <param name="Type">1 to 64 letters, digits, <c>_</c>, <c>-</c>, <c>.</c>; begins with a letter.</param>
/// <param name="Id">1 to 512 UTF-16 code units, none of them control characters.</param>
public sealed record ActorReference(string Type = "", string Id = "");

/// <summary><c>GET /v1/actor-types</c>.</summary>
public sealed record ActorTypesView
{
    /// <summary>The types that the worker hosts.</summary>
    public IReadOnlyList<ActorTypeView> Types { get => field ?? []; init; }
}

/// <summary>An actor type.</summary>
public sealed record ActorTypeView(string Type = "")
{
    /// <summary>Its methods.</summary>
    public IReadOnlyList<ActorMethodView> Methods { get => field ?? []; init; }
}

/// <summary>A method with JSON schemas of its input and result; null: it has none.</summary>
public sealed record ActorMethodView(
    string Name = "", bool MayAbort = false, bool ReadOnly = false, JsonElement? Input = null,
    JsonElement? Result = null);

/// <summary><c>GET /v1/actors/{type}/{id}</c>: durable state of an actor.</summary>
/// <param name="Type">Its type.</param>
/// <param name="Id">Its id.</param>
/// <param name="State">Null: it was never written, or is deleted.</param>
/// <param name="Version">How often it was written; 0: never.</param>
/// <param name="LastBatch">The newest batch that used it since it came into memory; 0: none.</param>
/// <param name="Worker">Name of the worker that answered.</param>
/// <param name="Resident">It is in memory.</param>
public sealed record ActorView(
    string Type = "", string Id = "", JsonElement? State = null, long Version = 0, long LastBatch = 0,
    string Worker = "",
    bool Resident = false);

/// <summary><c>GET /v1/actors?type=</c>: stored actors that the worker owns, in the order of their ids.</summary>
public sealed record ActorListView(string Type = "", string Worker = "")
{
    /// <summary>A page of them.</summary>
    public IReadOnlyList<ListedActor> Actors { get => field ?? []; init; }

    /// <summary>The id behind which there may be more; null: there are none.</summary>
    public string? Next { get; init; }
}

/// <summary>One of them. <paramref name="Version"/>: null when what is stored has none, which is damage.</summary>
public sealed record ListedActor(string Id = "", long? Version = null, bool Resident = false);

/// <summary><c>GET /v1/actors/{type}/{id}/schedule</c>: batches chained by previous batch, ACTs by place.</summary>
public sealed record ScheduleView(string Type = "", string Id = "")
{
    /// <summary>In order; empty: the actor is not in memory.</summary>
    public IReadOnlyList<ScheduleEntryView> Entries { get => field ?? []; init; }
}

/// <summary>One entry.</summary>
/// <param name="Kind"><c>pact</c> or <c>act</c>.</param>
/// <param name="Transaction">Its number.</param>
/// <param name="Batch">0 for an ACT.</param>
/// <param name="State"><c>waiting</c>, <c>executing</c>, <c>executed</c> or <c>committing</c>.</param>
/// <param name="Calls">That it has made on this actor.</param>
/// <param name="Declared">That it may make; 0 for an ACT.</param>
/// <param name="Ahead">The batch before an ACT; 0: none.</param>
/// <param name="Behind">The batch behind an ACT; 0: none.</param>
public sealed record ScheduleEntryView(
    string Kind = "", long Transaction = 0, long Batch = 0, string State = "", int Calls = 0, int Declared = 0,
    long Ahead = 0, long Behind = 0);
