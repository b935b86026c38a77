namespace Snapper.Storage.Membership;

/// <summary>Times and bounds; the same in all workers.</summary>
public sealed record ClusterOptions
{
    /// <summary>
    /// How long a worker's lease, and the master's, lasts after a renewal, by the server's clock. To be renewed three times as often at least. Range: 100 ms to 10 min.
    /// Default: 4 s.
    /// </summary>
    public TimeSpan Lease { get; init; } = TimeSpan.FromSeconds(4);

    /// <summary>How many ended plans are kept to be looked at, 1..100,000. Default: 1,000.</summary>
    public int EndedPlans { get; init; } = 1000;

    /// <summary>How many plans may be open at a time, 1..100,000. Default: 1,000.</summary>
    public int OpenPlans { get; init; } = 1000;

    /// <summary>Most entries in one call that changes or plans them: a server's step must stay short, all logs wait for it.</summary>
    public const int KeysPerCall = 1024;

    /// <summary>The workers' numbers end here; a worker is named <c>w{number}</c>.</summary>
    public const int LastWorker = 1023;

    internal long LeaseMs => (long)Lease.TotalMilliseconds;

    internal void Validate()
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(Lease, TimeSpan.FromMilliseconds(100));
        ArgumentOutOfRangeException.ThrowIfGreaterThan(Lease, TimeSpan.FromMinutes(10));
        Check(EndedPlans, 100_000, nameof(EndedPlans));
        Check(OpenPlans, 100_000, nameof(OpenPlans));
    }

    private static void Check(int value, int most, string name)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(value, 1, name);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(value, most, name);
    }
}
