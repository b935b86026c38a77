using Snapper.Live.Harness;

namespace Snapper.Live.Load;

/// <summary>A load; the same seed makes the same requests for each client.</summary>
internal sealed record LoadOptions
{
    public required int Seed { get; init; }

    /// <summary>Concurrent clients, each with one request under way.</summary>
    public int Clients { get; init; } = 16;

    /// <summary>The part of the transactions that declare what they touch.</summary>
    public double PactShare { get; init; } = 0.5;

    /// <summary>Transactions of all clients together; null: until stopped.</summary>
    public int? Transactions { get; init; }

    public IReadOnlyList<Door> Doors { get; init; } = [Door.Direct, Door.Service, Door.Actor];

    /// <summary>The part of the requests to the direct and service doors that carry several transactions.</summary>
    public double BatchShare { get; init; } = 0.1;

    /// <summary>Keys (or accounts) in use at a time: few, so that transactions meet.</summary>
    public int HotKeys { get; init; } = 8;

    /// <summary>Appends to the keys in use together, per key, until the oldest is replaced by a new one.</summary>
    public int AppendsPerKey { get; init; } = 60;

    /// <summary>The part of the transactions that abort themselves after their last operation.</summary>
    public double AbortShare { get; init; } = 0.04;

    /// <summary>The part of the transactions that issue their operations at once.</summary>
    public double ParallelShare { get; init; } = 0.15;

    /// <summary>How long one request may take to be decided.</summary>
    public TimeSpan Patience { get; init; } = TimeSpan.FromSeconds(60);

    /// <summary>How long single attempts may take; null: as long as an HTTP client has by default.</summary>
    public Impatience? Impatience { get; init; }

    /// <summary>The longest time that a client thinks between two requests.</summary>
    public TimeSpan ThinkTime { get; init; }

    /// <summary>A pause of a client.</summary>
    public Task Think(Random random) => ThinkTime == TimeSpan.Zero ? Task.CompletedTask : Task.Delay(ThinkTime * random.NextDouble());

    /// <summary>The seed to use: the environment's, for repeating a failed run, or the given one.</summary>
    public static int SeedOr(int seed) => int.TryParse(Environment.GetEnvironmentVariable("SNAPPER_SEED"), out var given) ? given : seed;
}
