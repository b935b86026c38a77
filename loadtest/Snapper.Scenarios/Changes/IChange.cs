using Snapper.Scenarios.Targets;

namespace Snapper.Scenarios.Changes;

/// <summary>What a change has to work with.</summary>
public sealed record ChangeContext
{
    /// <summary>The system.</summary>
    public required SnapperTarget Target { get; init; }

    /// <summary>The clock, and where it tells what it does.</summary>
    public required RunLog Log { get; init; }

    /// <summary>The worker that is meant; null: the change picks one.</summary>
    public string? Worker { get; init; }

    /// <summary>Lets a worker join; null: that is not possible from here.</summary>
    public Func<CancellationToken, Task<string>>? Join { get; init; }
}

/// <summary>Something that is done to the running system while the load goes on.</summary>
public interface IChange
{
    /// <summary>What it does, in a line.</summary>
    string Describe();

    /// <summary>Does it, and returns when it is over.</summary>
    /// <returns>Further measures by name, in milliseconds.</returns>
    /// <exception cref="TargetException">The system cannot be changed so.</exception>
    Task<IReadOnlyDictionary<string, double>> Run(ChangeContext context, CancellationToken cancellation);
}
