using System.Text.Json;
using System.Text.Json.Serialization;

namespace Snapper.Contracts;

/// <summary>Body of <c>POST /v1/reads</c>.</summary>
public sealed record ReadsRequest
{
    /// <summary>Whose states: 1 to 256. One that is named twice is answered twice.</summary>
    public IReadOnlyList<ActorReference>? Actors { get; init; }

    /// <summary>1 to 300,000; null: 30,000.</summary>
    [JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingNull)]
    public int? TimeoutMs { get; init; }
}

/// <summary>Answer of <c>POST /v1/reads</c>: the states at one point in the order of all transactions.</summary>
public sealed record ReadsView
{
    /// <summary>That point.</summary>
    public ReadsPoint AsOf { get; init; } = new();

    /// <summary>One for each that was asked for, in that order.</summary>
    public IReadOnlyList<ActorStateView> Actors { get => field ?? []; init; }
}

/// <summary>A point in the order of all transactions.</summary>
public sealed record ReadsPoint
{
    /// <summary>Number of the transaction that read.</summary>
    public long Transaction { get; init; }
}

/// <summary>The committed state of one actor.</summary>
public sealed record ActorStateView
{
    /// <summary>Name of the actor's type.</summary>
    public string Type { get; init; } = "";

    /// <summary>Id within the type.</summary>
    public string Id { get; init; } = "";

    /// <summary>
    /// Number of the actor's changes up to this state; never smaller in a later read. Transactions that were ordered in
    /// one batch share one. 0: it was never written.
    /// </summary>
    public long Version { get; init; }

    /// <summary>The state; null: the actor was never written, or was deleted.</summary>
    public JsonElement? State { get; init; }
}
