using Snapper.Protocol.Commitment;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;

namespace Snapper.Protocol.Transactions;

/// <summary>
/// ACTs that were aborted on this worker: what of them is still under way comes too late (W3). The shell forgets them
/// after longer than a message takes.
/// </summary>
public interface ITombstones
{
    /// <summary>The ACT was aborted here.</summary>
    bool Contains(TransactionId tid);

    /// <summary>The ACT was aborted here, or may have been: so long ago that it would be forgotten.</summary>
    bool MayContain(TransactionId tid);

    /// <summary>The ACT is aborted here.</summary>
    void Add(TransactionId tid);
}

/// <summary>
/// The ends of ACTs on a worker that their roots have called, and that is not the worker of their roots: voted for,
/// decided, aborted, or removed by an undo (R, H2, H7, W3). Each method is one input.
/// </summary>
/// <param name="tombstones">ACTs that were aborted here.</param>
/// <param name="outputs">Receives the messages.</param>
public sealed class BranchMachine(ITombstones tombstones, OutputBuffer outputs)
{
    private static readonly AbortInfo s_over = new(AbortReason.Conflict, "It was aborted, or has ended.");
    private static readonly AbortInfo s_byRoot = new(AbortReason.Application, "It was aborted by its root.");

    /// <summary>The root has ended, and wants this worker's vote.</summary>
    /// <param name="tid">The ACT.</param>
    /// <param name="part">Its part here; null: there is none.</param>
    /// <param name="committed">False: an outcome of its own that is none (H7).</param>
    /// <param name="root">The root's worker.</param>
    /// <returns>The vote; null: the commit machine gives it when H3 lets it.</returns>
    public bool? OnPrepare(TransactionId tid, TransactionAttempt? part, bool committed, Incarnation root)
    {
        if (part is null || (committed && !part.IsAlive))
        {
            // H7: an abort rests on nothing here if no part was ever here: the call that is under way comes too late.
            // A part that had to end is another matter: an undo here, or one elsewhere whose abort came this way (W3),
            // took back what the root may have decided on. The root may not know of that other worker, so this one
            // votes no. Anything else that ends a part leaves no prepare behind, or makes the root try again. A prepare
            // may be late by any time, and the part forgotten meanwhile: that is no yes, either.
            var wasHere = tombstones.MayContain(tid);
            tombstones.Add(tid);
            return part is null && !committed && !wasHere;
        }

        part.IsPrepared = true;
        part.TrySeal();
        if (!committed)
        {
            part.TryAbort(s_byRoot, evenSealed: true);
        }

        var outcome = new ActOutcome(tid, committed, part.TakeParticipants(), part.Transaction) { RootWorker = root };
        RootEnding.EndAct(outcome, outputs);
        return null;
    }

    /// <summary>The root's worker has decided.</summary>
    public AttemptEffects OnDecided(TransactionAttempt part, bool committed)
    {
        if (!part.TryTakeBack())
        {
            return AttemptEffects.None;
        }

        part.TryAbort(s_over, evenSealed: true);
        outputs.ToCommit(MessageKind.ActDecided, part.Tid, BatchId.None).Flag = committed;
        if (committed)
        {
            return AttemptEffects.Ended | AttemptEffects.LocksGone;
        }

        // Its root may have ended it before this worker's vote told it which others were called from here (W3).
        tombstones.Add(part.Tid);
        return AttemptEffects.TakenBack;
    }

    /// <summary>
    /// An ACT is aborted: it ends here, and wherever it went from here, as a call may be under way that its root does
    /// not know of (W3).
    /// </summary>
    public AttemptEffects OnAbort(TransactionId tid, TransactionAttempt? part)
    {
        // A part that was aborted when it was asked for its vote has a stone already, and still holds its actors.
        tombstones.Add(tid);
        if (part is null || !part.TryTakeBack())
        {
            return AttemptEffects.None;
        }

        part.TryAbort(s_over, evenSealed: true);
        if (part.IsPrepared)
        {
            outputs.ToCommit(MessageKind.ActDecided, tid, BatchId.None);
        }
        else
        {
            RootEnding.AbortAct(tid, part.TakeParticipants(), outputs);
        }

        return AttemptEffects.TakenBack;
    }

    /// <summary>
    /// An undo of this worker removes a part, or its place cannot be kept (A5, H5):
    /// <see cref="MessageKind.Removed"/> or <see cref="MessageKind.Die"/>.
    /// </summary>
    public AttemptEffects OnMessage(TransactionAttempt part, in Message message)
    {
        if (message.Kind != MessageKind.Removed)
        {
            return AttemptEffects.TellRoot; // which ends it, here too
        }

        ref var answer = ref outputs.ToCommit(MessageKind.BranchAbortAcknowledged, part.Tid, BatchId.None);
        if (!part.TryTakeBack())
        {
            return AttemptEffects.TellRoot; // aborted meanwhile, which releases its actors; the undo waits for this
        }

        // A5: this worker's undo waits for no other. Until the part is aborted, other executors add actors to it.
        part.TryAbort(s_over, evenSealed: true);
        answer.Body = part.TakeParticipants();
        tombstones.Add(part.Tid);
        return AttemptEffects.TellRoot | AttemptEffects.TakenBack;
    }
}
