using Snapper.Contracts;

namespace Snapper.Runtime.Inspection;

/// <summary>
/// What a worker tells while somebody looks. It gathers nothing unless somebody has asked within <see cref="LeaseSeconds"/>, and lets go of what it has within another
/// <see cref="LeaseSeconds"/>. Times are Unix milliseconds. Thread-safe.
/// </summary>
public interface IWorkerWatch
{
    /// <summary>For how long a question keeps watching up.</summary>
    public const int LeaseSeconds = 15;

    /// <summary>Actors whose timelines are kept at a time.</summary>
    public const int TimelinesMax = 64;

    /// <summary>Who used the actor, and when: the newest entries since the first question; null: unknown type.</summary>
    Task<TimelineView?> Timeline(Protocol.Identity.ActorKey actor, CancellationToken cancellation);

    /// <summary>Sampled transactions, newest first.</summary>
    /// <param name="filter">Which ones.</param>
    TracesView Traces(TraceFilter filter);

    /// <summary>The actors that sampled transactions used most, by transactions of the last minute.</summary>
    /// <param name="limit">At most so many.</param>
    HotView Hot(int limit);

    /// <summary>What sampled transactions had declared, and what they touched, by method.</summary>
    AccessView Access();

    RingView Ring();
}

/// <summary>Which sampled transactions; null: any. <paramref name="Outcome"/>: as in <see cref="TraceView"/>.</summary>
public sealed record TraceFilter(int Limit, string? Request = null, string? Actor = null, string? Reason = null, string? Outcome = null, double AtLeastMs = 0);
