using Snapper.Scenarios.Choosing;

namespace Snapper.Scenarios.Workloads;

/// <summary>What a workload is made with.</summary>
public sealed record WorkloadSettings
{
    /// <summary>Begins the names of all actors and ids of the run: nobody else's may.</summary>
    public required string Prefix { get; init; }

    /// <summary>The part of the transactions that are PACTs, 0 to 1.</summary>
    public double PactShare { get; init; } = 1;

    /// <summary>How many accounts, at least 8.</summary>
    public int Accounts { get; init; } = 10_000;

    /// <summary>Which of them.</summary>
    public ChooserSettings Chooser { get; init; } = new();

    /// <summary>Decides all random choices.</summary>
    public ulong Seed { get; init; } = 1;

    /// <summary>A prefix that no other run has.</summary>
    public static string NewPrefix() => "load-" + Guid.NewGuid().ToString("n")[..12];
}
