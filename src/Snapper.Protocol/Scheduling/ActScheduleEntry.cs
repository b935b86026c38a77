using Snapper.Protocol.Identity;

namespace Snapper.Protocol.Scheduling;

/// <summary>An ACT's stay on one actor: its place between batches (H1, H2) and its lock.</summary>
public sealed class ActScheduleEntry(TransactionId tid, TransactionId age, BatchId ahead, IActorCall first) : Visit(tid)
{
    /// <summary>The call that brought it here; it knows the transaction's ceil.</summary>
    public IActorCall First { get; } = first;

    /// <summary>Age for wait-die (W1).</summary>
    public TransactionId Age { get; } = age;

    /// <summary>The batch just ahead of its place: it starts when that one has executed; none: nothing was ahead.</summary>
    public BatchId Ahead { get; } = ahead;

    /// <summary>The batch just behind its place, which waits until the ACT has ended; none: none yet.</summary>
    public BatchId Behind { get; set; }

    /// <summary>Everything ahead has executed: its calls are let in.</summary>
    public bool Started { get; set; }

    /// <summary>The lock it holds.</summary>
    public LockMode Held { get; set; }

    /// <summary>Its changes were sent: they have this version (0: it wrote nothing).</summary>
    public long Version { get; set; }

    /// <summary>Its changes were sent to the commit machine.</summary>
    public bool Collected { get; set; }
}
