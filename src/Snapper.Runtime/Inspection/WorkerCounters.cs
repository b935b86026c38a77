using Snapper.Protocol.Messages;

namespace Snapper.Runtime.Inspection;

/// <summary>Counters since the worker started. Thread-safe.</summary>
public sealed class WorkerCounters
{
    private readonly long[] _aborts = new long[16];
    private readonly long[] _repeats = new long[16];
    private long _committedPact;
    private long _committedAct;
    private long _aborted;

    public long CommittedPact => Interlocked.Read(ref _committedPact);

    public long CommittedAct => Interlocked.Read(ref _committedAct);

    public long Aborted => Interlocked.Read(ref _aborted);

    public long Aborts(AbortReason reason) => Interlocked.Read(ref _aborts[(int)reason]);

    public long Repeats(AbortReason reason) => Interlocked.Read(ref _repeats[(int)reason]);

    public void Ended(bool pact, AbortReason reason)
    {
        if (reason == AbortReason.None)
        {
            Interlocked.Increment(ref pact ? ref _committedPact : ref _committedAct);
            return;
        }

        Interlocked.Increment(ref _aborted);
        Interlocked.Increment(ref _aborts[(int)reason]);
    }

    /// <summary>Counts how long a committed transaction took.</summary>
    public void Lasted(bool pact, TimeSpan duration) => (pact ? PactDurations : ActDurations).Count(duration.TotalSeconds);

    /// <summary>From arrival to answer of committed PACTs.</summary>
    public DurationBuckets PactDurations { get; } = new();

    /// <summary>As <see cref="PactDurations"/>, of ACTs.</summary>
    public DurationBuckets ActDurations { get; } = new();

    public void Repeated(AbortReason reason) => Interlocked.Increment(ref _repeats[(int)reason]);
}
