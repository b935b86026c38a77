using Snapper.Protocol.Batches;
using Snapper.Protocol.Commitment;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;

namespace Snapper.Protocol.Transactions;

/// <summary>
/// The life of transactions whose roots are on one executor: begun, ended, run again or answered. Its state is in
/// <see cref="Transaction"/> and <see cref="TransactionAttempt"/>. Each method is one input; its effects are the
/// messages that it adds to the buffer, and what it returns.
/// </summary>
/// <param name="outputs">Receives the messages.</param>
public sealed class TransactionMachine(OutputBuffer outputs)
{
    /// <summary>The turn of a PACT's root has come.</summary>
    /// <returns>False: its number was taken from it before it began; it has a new one, or will get one.</returns>
    public static bool MayBegin(Transaction transaction, TransactionId tid)
    {
        if (transaction.Shed == tid)
        {
            return false;
        }

        return transaction.Ticket!.Tid == tid;
    }

    /// <summary>An attempt begins. With <see cref="AttemptEffects.AbortRequested"/> its root is not run.</summary>
    public static AttemptEffects Begin(TransactionAttempt attempt)
    {
        var transaction = attempt.Transaction;
        transaction.Attempts++;
        transaction.Phase = TransactionPhase.Running;
        transaction.Abort = null;
        if (transaction.Expired)
        {
            return Abort(attempt, AbortInfo.DeadlinePassed);
        }

        return AttemptEffects.None;
    }

    /// <summary>The root has returned, and all calls under it are joined.</summary>
    /// <param name="attempt">The attempt.</param>
    /// <param name="calls">Calls of a PACT, on whatever workers, by index of the declaration.</param>
    public AttemptEffects Returned(TransactionAttempt attempt, ReadOnlySpan<int> calls)
    {
        if (attempt.RootEnded || !attempt.TrySeal())
        {
            return AttemptEffects.None; // aborted meanwhile: its end is under way
        }

        End(attempt);
        if (attempt.IsPact)
        {
            RootEnding.EndPact(attempt.Transaction.Ticket!, attempt.Marked, succeeded: true, calls, outputs);
        }
        else
        {
            EndAct(attempt, committed: true, attempt.TakeParticipants());
        }

        return AttemptEffects.Ended;
    }

    /// <summary>The attempt was aborted (<see cref="TransactionAttempt.TryAbort"/>): its root ends it.</summary>
    public AttemptEffects Aborted(TransactionAttempt attempt)
    {
        if (attempt.IsPact)
        {
            // Removed after its end: the commit machine numbers it anew.
            return attempt.RootEnded ? AttemptEffects.None : AbortPact(attempt);
        }

        // One that is decided was ended by the commit machine before this was read.
        return attempt.IsUndecided ? AbortAct(attempt, removed: false) : AttemptEffects.None;
    }

    /// <summary>
    /// The commit machine ends an attempt: <see cref="MessageKind.Die"/> or <see cref="MessageKind.Removed"/>.
    /// </summary>
    public AttemptEffects OnMessage(TransactionAttempt attempt, in Message message)
    {
        var why = CauseOf(attempt, message);
        if (attempt.IsPact)
        {
            // A5, A8: its contexts throw from now on, and it sends nothing any more.
            var isNews = attempt.TryAbort(why, evenSealed: true);
            attempt.RootEnded = true;
            attempt.Transaction.Phase = TransactionPhase.Waiting;
            var news = isNews ? AttemptEffects.Aborted | AttemptEffects.RunsAgain : AttemptEffects.None;
            return AttemptEffects.Ended | news;
        }

        var removed = message.Kind == MessageKind.Removed;
        if (attempt.TryAbort(why, evenSealed: true) || TryOverride(attempt, why))
        {
            return AbortAct(attempt, removed);
        }

        if (removed)
        {
            // It died by itself: its own end releases its actors; what the undo has put back is not put back twice
            // (A5).
            outputs.ToCommit(MessageKind.BranchAbortAcknowledged, attempt.Tid, BatchId.None);
        }

        return AttemptEffects.None;
    }

    /// <summary>Why the commit machine ends an attempt.</summary>
    public static AbortInfo CauseOf(TransactionAttempt attempt, in Message message)
    {
        if (message.Kind == MessageKind.Removed)
        {
            return AbortInfo.Removed;
        }

        if (message.Reason == AbortReason.Failure)
        {
            // Whatever took that part, an undo there or the end of that life, is not the transaction's doing: it runs
            // again (W2).
            const string Lost = "Another worker lost its part of the transaction before it was decided.";
            return attempt.Against ?? new AbortInfo(AbortReason.Migration, Lost);
        }

        var text = $"Stood behind batch {message.Value} and ahead of batch {message.Bid}.";
        return new AbortInfo(message.Reason, text, null, Floor: message.Value, Ceil: message.Bid.Value);
    }

    /// <summary>
    /// An ACT must end because of a branch elsewhere. One whose root has ended well ends too, while nothing is
    /// queued, unless the branch speaks for user code that no caller joined: its vote decides then.
    /// </summary>
    public AttemptEffects OnBranchFailed(TransactionAttempt attempt, AbortInfo why)
    {
        if (!attempt.IsUndecided)
        {
            return AttemptEffects.None;
        }

        var evenSealed = Retry.IsRepeated(why.Reason);
        if (evenSealed && attempt.RootEnded)
        {
            // H6: its outcome is the commit machine's, which alone knows whether it is queued. To end it here could
            // cross that: decided, and aborted elsewhere.
            attempt.Against ??= why;
            outputs.ToCommit(MessageKind.ActVoted, attempt.Tid, BatchId.None);
            return AttemptEffects.None;
        }

        return attempt.TryAbort(why, evenSealed) || (evenSealed && !attempt.IsAlive && TryOverride(attempt, why))
            ? AbortAct(attempt, removed: false)
            : AttemptEffects.None;
    }

    /// <summary>
    /// The deadline has passed, or passed some time ago, or the caller has left. The transaction is not answered.
    /// </summary>
    /// <param name="transaction">The transaction.</param>
    /// <param name="attempt">Its newest attempt.</param>
    /// <param name="reason">Timeout, or that the caller has left.</param>
    public AttemptEffects OnDeadline(Transaction transaction, TransactionAttempt? attempt, AbortReason reason)
    {
        var expired = reason == AbortReason.Timeout;
        var again = expired && transaction.Expired;
        transaction.Expired |= expired;
        switch (transaction.Phase)
        {
            case TransactionPhase.Waiting when transaction.Ticket is { } ticket:
                Withdraw(ticket, reason);

                // Also when it is numbered: its root will not run.
                return expired ? Answer(transaction, AbortInfo.DeadlinePassed) : AttemptEffects.None;
            case TransactionPhase.Waiting:
                return Answer(transaction, AbortInfo.BeforeStart(reason));
            case TransactionPhase.Running when again && attempt!.IsDistributed:
                // Other workers have part in its end, and one of them may be away for long.
                return AttemptEffects.InDoubt;
            case TransactionPhase.Running when expired:
                return Abort(attempt!, AbortInfo.DeadlinePassed);
            case TransactionPhase.Ended when expired:
                return AttemptEffects.InDoubt;
            default:
                return AttemptEffects.None;
        }
    }

    /// <summary>
    /// A PACT is removed that has not begun (A9): it cannot under this number, although its turn may have come
    /// already.
    /// </summary>
    public static void OnRemovedBeforeStart(Transaction transaction, TransactionId tid) => transaction.Shed = tid;

    private void Withdraw(PactTicket ticket, AbortReason reason)
    {
        ref var message = ref outputs.Add(OutputKind.SendToCoordinator, MessageKind.Withdraw, ticket.Coordinator);
        message.Body = ticket;
        message.Reason = reason;
    }

    private static AttemptEffects Abort(TransactionAttempt attempt, AbortInfo why) =>
        attempt.TryAbort(why) ? AttemptEffects.AbortRequested : AttemptEffects.None;

    private static AttemptEffects Answer(Transaction transaction, AbortInfo why)
    {
        transaction.Abort = why;
        return AttemptEffects.Answer;
    }

    private static void End(TransactionAttempt attempt)
    {
        attempt.RootEnded = true;
        attempt.Transaction.Phase = TransactionPhase.Ended;
    }

    private AttemptEffects AbortPact(TransactionAttempt attempt)
    {
        var (transaction, why) = (attempt.Transaction, attempt.AbortCause!);
        End(attempt);
        transaction.Abort = why;
        var end = RootEnding.EndPact(transaction.Ticket!, attempt.Marked, succeeded: false, attempt.Calls, outputs);
        var effects = AttemptEffects.Ended | AttemptEffects.Aborted;
        if (end == PactEnd.RunAgain)
        {
            effects |= AttemptEffects.RunsAgain;
        }

        return transaction.Expired && (end == PactEnd.RunAgain || why.Reason == AbortReason.Timeout)
            ? effects | Answer(transaction, AbortInfo.DeadlinePassed)
            : effects;
    }

    private void EndAct(TransactionAttempt attempt, bool committed, IReadOnlyList<ActorKey> participants)
    {
        var outcome = new ActOutcome(attempt.Tid, committed, participants, attempt.Transaction)
        {
            Others = attempt.TakeVisited(),
        };
        RootEnding.EndAct(outcome, outputs);
    }

    /// <summary>Ends an ACT that was aborted.</summary>
    /// <param name="attempt">The attempt.</param>
    /// <param name="removed">An undo removes it at its actors, and waits for their names (A5).</param>
    private AttemptEffects AbortAct(TransactionAttempt attempt, bool removed)
    {
        var (transaction, why) = (attempt.Transaction, attempt.AbortCause!);
        var participants = attempt.TakeParticipants();
        var isOwnOutcome = !attempt.RootEnded && why.Reason == AbortReason.Application;
        attempt.RootEnded = true;
        if (isOwnOutcome)
        {
            // H7: it may have read what is undone, so its answer waits like a commit.
            transaction.Abort = why;
            transaction.Phase = TransactionPhase.Ended;
            EndAct(attempt, committed: false, participants);
            return AttemptEffects.Ended | AttemptEffects.Aborted;
        }

        if (!attempt.TryTakeBack())
        {
            return AttemptEffects.Ended; // queued, or ended by another message about it
        }

        if (removed)
        {
            outputs.ToCommit(MessageKind.BranchAbortAcknowledged, attempt.Tid, BatchId.None).Body = participants;
        }
        else
        {
            RootEnding.AbortAct(attempt.Tid, participants, outputs);
        }

        var effects = AttemptEffects.Aborted | AttemptEffects.TakenBack;
        if (Retry.IsRepeated(why.Reason) && !transaction.Expired)
        {
            transaction.Phase = TransactionPhase.Waiting;
            return effects | AttemptEffects.Retry;
        }

        return effects | Answer(transaction, why.Reason == AbortReason.Undone ? AbortInfo.DeadlinePassed : why);
    }

    /// <summary>
    /// An application abort waits for H3 with its locks and places (H7), so that it can close a ring (H5) or rest on
    /// undone state (A5) like a commit. Then it is no outcome: the commit machine will not queue it, and it runs again.
    /// </summary>
    private static bool TryOverride(TransactionAttempt attempt, AbortInfo why)
    {
        if (attempt.AbortCause!.Reason != AbortReason.Application || !attempt.IsUndecided)
        {
            return false;
        }

        attempt.Override(why);
        return true;
    }
}
