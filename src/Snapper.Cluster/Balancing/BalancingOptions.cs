using Snapper.Protocol.Directory;

namespace Snapper.Cluster.Balancing;

/// <summary>What the policy that proposes moves does.</summary>
public enum BalancingMode : byte
{
    /// <summary>Nothing is counted.</summary>
    Off,

    /// <summary>It counts and proposes.</summary>
    Propose,

    /// <summary>The master carries out what is ripe, one move at a time.</summary>
    Execute,
}

/// <summary>Settings of the policy that proposes moves; the same in all workers.</summary>
public sealed class BalancingOptions
{
    /// <summary>Default: <see cref="BalancingMode.Off"/>.</summary>
    public BalancingMode Mode { get; init; }

    /// <summary>How often it looks, 100 ms to 10 min. Default: 5 s.</summary>
    public TimeSpan Interval { get; init; } = TimeSpan.FromSeconds(5);

    /// <summary>When it proposes.</summary>
    public PolicyLimits Limits { get; init; } = new();

    /// <summary>Throws when a setting is out of range, naming it.</summary>
    /// <exception cref="ArgumentOutOfRangeException">A setting is out of range.</exception>
    public void Validate()
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(Interval, TimeSpan.FromMilliseconds(100));
        ArgumentOutOfRangeException.ThrowIfGreaterThan(Interval, TimeSpan.FromMinutes(10));
        Limits.Validate();
    }
}
