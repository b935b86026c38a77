namespace Snapper.Sidecar.Client;

/// <summary>What a sidecar says of itself (<c>GET /v1.0/metadata</c>), as far as actors need it.</summary>
public sealed class SidecarMetadata
{
    /// <summary>App id.</summary>
    public string Id { get; init; } = "";

    /// <summary>Version of the runtime, e.g. <c>1.18.1</c>.</summary>
    public string RuntimeVersion { get; init; } = "";

    /// <summary>Actors.</summary>
    public ActorRuntimeMetadata ActorRuntime { get; init; } = new();

    /// <summary>Free texts; the embedded stand-in sets <c>snapper-embedded</c> to <c>true</c>.</summary>
    public IReadOnlyDictionary<string, string> Extended { get; init; } = new Dictionary<string, string>();
}

/// <summary>State of a sidecar's actor runtime.</summary>
public sealed class ActorRuntimeMetadata
{
    /// <summary><c>INITIALIZING</c>, <c>RUNNING</c> or <c>DISABLED</c>.</summary>
    public string RuntimeStatus { get; init; } = "";

    /// <summary>Whether the placement service knows this host and its types.</summary>
    public bool HostReady { get; init; }

    /// <summary>Connection to the placement service, e.g. <c>placement: connected</c>.</summary>
    public string Placement { get; init; } = "";

    /// <summary>The hosted types, with the number of their active actors.</summary>
    public IReadOnlyList<HostedActorType> ActiveActors { get; init; } = [];
}

/// <summary>One hosted actor type.</summary>
/// <param name="Type">Its name.</param>
/// <param name="Count">Active actors; the sidecar leaves 0 out.</param>
public sealed record HostedActorType(string Type, int Count = 0);
