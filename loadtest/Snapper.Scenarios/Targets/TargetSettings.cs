namespace Snapper.Scenarios.Targets;

/// <summary>Where a running system is, and how it is called.</summary>
public sealed record TargetSettings
{
    /// <summary>Addresses of workers; the others are found through the first that answers. Not with <see cref="Sidecar"/>.</summary>
    public IReadOnlyList<Uri> Workers { get; init; } = [new("http://127.0.0.1:5101")];

    /// <summary>A Dapr sidecar through which all goes; null: straight to the workers.</summary>
    public Uri? Sidecar { get; init; }

    /// <summary>False: only the given addresses, also when there are more workers.</summary>
    public bool Discovers { get; init; } = true;

    /// <summary>How long a transaction may take, 1 ms to 5 min.</summary>
    public TimeSpan Timeout { get; init; } = TimeSpan.FromSeconds(10);

    /// <summary>Most HTTP requests under way at once, per address, 1 to 256; beyond that transactions share requests.</summary>
    public int Connections { get; init; } = 64;
}
