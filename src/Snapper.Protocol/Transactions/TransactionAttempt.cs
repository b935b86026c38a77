using Snapper.Protocol.Batches;
using Snapper.Protocol.Commitment;
using Snapper.Protocol.Identity;

namespace Snapper.Protocol.Transactions;

/// <summary>
/// One attempt of a transaction: alive until it is aborted. The shell's attempt derives from it, and adds what its
/// calls share. Any executor that it visits may abort it, so that a shell with threads overrides the virtual methods
/// with ones that take its lock, and all may read <see cref="IsAlive"/>; the rest is the root's executor's.
/// </summary>
public abstract class TransactionAttempt(TransactionId tid, BatchId bid, TransactionId age)
{
    private bool _sealed;

    /// <summary>Its number.</summary>
    public TransactionId Tid { get; } = tid;

    /// <summary>Its batch; none for an ACT.</summary>
    public BatchId Bid { get; } = bid;

    /// <summary>Age for wait-die.</summary>
    public TransactionId Age { get; } = age;

    /// <summary>It has a number that was given before it ran.</summary>
    public bool IsPact => !Tid.IsAct;

    /// <summary>
    /// It was numbered as one that holds its turns (A1). The ticket's own mark may change under a running attempt.
    /// </summary>
    public bool Marked { get; init; }

    /// <summary>
    /// Of a PACT over several workers: its numbers and the owners of its actors; null: of this worker alone.
    /// </summary>
    public GlobalMember? Global { get; init; }

    /// <summary>Why it was aborted; null while it is alive.</summary>
    public AbortInfo? AbortCause { get; private set; }

    /// <summary>
    /// False: it was aborted; every use of its contexts throws, and every late call is refused (W3, A8).
    /// </summary>
    public bool IsAlive => AbortCause is null;

    /// <summary>The root has told the others how it ended; nothing may end it twice.</summary>
    public bool RootEnded { get; internal set; }

    /// <summary>A part of an ACT whose root is on another worker was asked for its vote.</summary>
    public bool IsPrepared { get; internal set; }

    /// <summary>Its transaction.</summary>
    public abstract Transaction Transaction { get; }

    /// <summary>Other workers have part in its end.</summary>
    public abstract bool IsDistributed { get; }

    /// <summary>
    /// Of an ACT: its record is not queued, and it was not taken back. The commit machine's executor may end that at
    /// any moment.
    /// </summary>
    public abstract bool IsUndecided { get; }

    /// <summary>Calls of a PACT made so far, by index of the declaration.</summary>
    public abstract ReadOnlySpan<int> Calls { get; }

    /// <summary>Why a branch elsewhere is against it, whose root has ended well.</summary>
    internal AbortInfo? Against { get; set; }

    /// <summary>The actors of this worker that an ACT has visited.</summary>
    public abstract IReadOnlyList<ActorKey> TakeParticipants();

    /// <summary>Other workers that an ACT has called from here, or that those calls have visited.</summary>
    public abstract Incarnation[] TakeVisited();

    /// <summary>Takes an ACT back whose record is not queued: it will not be.</summary>
    /// <returns>False: its record is queued, or it was taken back before.</returns>
    public abstract bool TryTakeBack();

    /// <summary>
    /// The root has ended well, and the commit order takes over: what user code does from now on, in an
    /// <c>async void</c> method that no caller joins, changes nothing of the outcome.
    /// </summary>
    /// <returns>False: it was aborted before.</returns>
    public virtual bool TrySeal() => _sealed = IsAlive;

    /// <summary>
    /// Aborts it; its root then ends it (<see cref="TransactionMachine.Aborted"/>). The first reason counts.
    /// </summary>
    /// <param name="why">The reason.</param>
    /// <param name="evenSealed">The commit order itself asks for it (H5, A5, a state that cannot be kept).</param>
    /// <returns>False: it was aborted already, or has ended.</returns>
    public virtual bool TryAbort(AbortInfo why, bool evenSealed = false)
    {
        if (!IsAlive || (_sealed && !evenSealed))
        {
            return false;
        }

        AbortCause = why;
        return true;
    }

    /// <summary>Replaces the reason of one that is aborted and undecided.</summary>
    public virtual void Override(AbortInfo why) => AbortCause = why;
}
