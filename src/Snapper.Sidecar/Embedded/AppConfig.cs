using System.Text.Json;

namespace Snapper.Sidecar.Embedded;

/// <summary>What the app said to <c>GET /dapr/config</c>, as far as it matters without a placement service.</summary>
internal sealed class AppConfig
{
    public required IReadOnlyList<string> ActorTypes { get; init; }

    public bool Reentrant { get; init; }

    // daprd's default.
    public int MaxStackDepth { get; init; } = 32;

    public bool Hosts(string actorType) => ActorTypes.Contains(actorType);

    /// <exception cref="JsonException">Not the document that Dapr expects.</exception>
    public static AppConfig Parse(ReadOnlyMemory<byte> json)
    {
        using var document = JsonDocument.Parse(json);
        var root = document.RootElement;
        var types = new List<string>();
        if (root.TryGetProperty("entities", out var entities))
        {
            foreach (var entity in entities.EnumerateArray())
            {
                types.Add(entity.GetString() ?? throw new JsonException("An actor type is null."));
            }
        }

        if (!root.TryGetProperty("reentrancy", out var reentrancy))
        {
            return new AppConfig { ActorTypes = types };
        }

        return new AppConfig
        {
            ActorTypes = types,
            Reentrant = reentrancy.TryGetProperty("enabled", out var enabled) && enabled.GetBoolean(),
            MaxStackDepth = reentrancy.TryGetProperty("maxStackDepth", out var depth) ? depth.GetInt32() : 32,
        };
    }
}
