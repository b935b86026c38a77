using System.Text.Json.Serialization;

namespace Snapper.Sidecar;

/// <summary><c>GET /dapr/config</c>: which actor types an app hosts, and how. Durations are in Go's syntax.</summary>
internal sealed record DaprConfig
{
    public IReadOnlyList<string> Entities { get => field ?? []; init; }

    public string? ActorIdleTimeout { get; init; }

    public string? DrainOngoingCallTimeout { get; init; }

    public bool DrainRebalancedActors { get; init; }

    public ReentrancyConfig Reentrancy { get => field ?? new ReentrancyConfig(); init; }

    /// <summary>What holds for some of the types instead; null: nothing.</summary>
    [JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingNull)]
    public IReadOnlyList<EntityConfig>? EntitiesConfig { get; init; }

    /// <summary>What holds for a type.</summary>
    public ReentrancyConfig ReentrancyOf(string type) =>
        EntitiesConfig?.FirstOrDefault(one => one.Entities.Contains(type))?.Reentrancy ?? Reentrancy;
}

/// <summary>Settings of some of an app's actor types.</summary>
internal sealed record EntityConfig
{
    public IReadOnlyList<string> Entities { get => field ?? []; init; }

    public ReentrancyConfig? Reentrancy { get; init; }
}

/// <summary>Whether calls may come back to an actor, and how deep; the defaults are daprd's.</summary>
internal sealed record ReentrancyConfig(bool Enabled = false, int MaxStackDepth = 32);

/// <summary>An error of daprd: <c>{"errorCode":"...","message":"..."}</c>.</summary>
internal sealed record DaprErrorBody(string? ErrorCode = null, string? Message = null);
