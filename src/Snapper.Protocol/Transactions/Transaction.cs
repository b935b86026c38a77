using Snapper.Protocol.Batches;
using Snapper.Protocol.Commitment;
using Snapper.Protocol.Identity;

namespace Snapper.Protocol.Transactions;

/// <summary>Where a transaction stands at its root.</summary>
public enum TransactionPhase : byte
{
    /// <summary>No attempt of it runs.</summary>
    Waiting,

    /// <summary>An attempt runs.</summary>
    Running,

    /// <summary>The root has ended; the log, or what is before it, decides when the answer leaves.</summary>
    Ended,

    /// <summary>Answered.</summary>
    Answered,
}

/// <summary>
/// A transaction at its root, from its request to its answer: what outlives its attempts. The shell's request derives
/// from it.
/// <see cref="TransactionMachine"/> changes it, on its root's executor; the shell answers it.
/// </summary>
public abstract class Transaction
{
    /// <summary>Where it stands.</summary>
    public TransactionPhase Phase { get; set; }

    /// <summary>The ticket of a PACT, from its first request for a number on; null: an ACT.</summary>
    public PactTicket? Ticket { get; internal set; }

    /// <summary>Age for wait-die: the tid of the first attempt of an ACT (W1, W2).</summary>
    public TransactionId Age { get; internal set; }

    /// <summary>Attempts that have begun.</summary>
    public int Attempts { get; internal set; }

    /// <summary>Its deadline has passed: it is not run again.</summary>
    public bool Expired { get; internal set; }

    /// <summary>The number under which a PACT was taken out of its batch before it began.</summary>
    public TransactionId Shed { get; internal set; }

    /// <summary>Why it is aborted, once that is its outcome.</summary>
    public AbortInfo? Abort { get; internal set; }
}
