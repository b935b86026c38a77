using Snapper.Protocol.Batches;
using Snapper.Protocol.Coordination;

namespace Snapper.Protocol.Messages;

/// <summary>Everything that machines tell each other. The comment names the fields of <see cref="Message"/> that count.</summary>
public enum MessageKind : byte
{
    /// <summary>Never sent.</summary>
    None,

    // ---- to a coordinator -------------------------------------------------------------------------------------

    /// <summary>A PACT asks for a number (I5). Body: <see cref="PactTicket"/>.</summary>
    NewPact,

    /// <summary>The token of the ring. Body: <see cref="Coordination.RingToken"/>.</summary>
    Token,

    /// <summary>A coordinator without the token has work. Count: its index.</summary>
    TokenWanted,

    /// <summary>Fewer batches hold back the next one. Value: how many do.</summary>
    LogProgress,

    /// <summary>The deadline passed or the client left before numbering. Body: ticket; Reason.</summary>
    Withdraw,

    /// <summary>This worker's part of a global batch. Body: <see cref="BoundPart"/>.</summary>
    GlobalPart,

    /// <summary>
    /// The master asks what would be lost from a global batch on (A9). Value: the undo, Count: its round, Bid: the lowest lost global batch. The first coordinator
    /// hands it on to the commit machine, with the tickets of parts that had no place yet as Body.
    /// </summary>
    GlobalUndo,

    // ---- to an actor ------------------------------------------------------------------------------------------

    /// <summary>The actor's part of a batch. Body: <see cref="SubBatch"/>.</summary>
    SubBatch,

    /// <summary>A method call. Body: <see cref="Scheduling.IActorCall"/>.</summary>
    Call,

    /// <summary>A call's method has returned and all calls under it are joined. Body: the call.</summary>
    CallEnded,

    /// <summary>A PACT has ended (A2). Tid, Bid; Flag: committed; Count: final number of calls on this actor.</summary>
    Ended,

    /// <summary>An ACT has finished: send its changes. Tid.</summary>
    ActCollect,

    /// <summary>An ACT is over (H4). Tid; Flag: committed.</summary>
    ActEnd,

    /// <summary>Remove transactions (A5). Body: <see cref="UndoOrder"/>.</summary>
    Undo,

    /// <summary>Undo is over; go on. Value: its number.</summary>
    UndoDone,

    // ---- to the worker's commit machine -----------------------------------------------------------------------

    /// <summary>A batch exists. Body: <see cref="Batch"/>. Sent before its sub-batches.</summary>
    BatchFormed,

    /// <summary>
    /// Time has passed: batches of which nothing was completed since the last time wait for something else than this
    /// worker.
    /// </summary>
    LookedForSlow,

    /// <summary>A sub-batch is complete. Bid, Count: slot, Value: number of the actor's last UndoDone, Body: <see cref="Change"/> or null.</summary>
    SubBatchCompleted,

    /// <summary>A PACT's root has its result. Tid, Bid, Flag: committed. Sent before the root's actor is told.</summary>
    PactDecided,

    /// <summary>A PACT failed after a turn had passed (A4): remove it and run it again. Tid, Bid.</summary>
    PactFailed,

    /// <summary>
    /// An ACT took its place on an actor behind a batch. Tid, Bid: the batch ahead (H5), Body: its <see
    /// cref="SubBatch"/> there.
    /// </summary>
    ActVisited,

    /// <summary>A batch arrived behind an ACT's place. Tid, Bid (H5).</summary>
    ActOvertaken,

    /// <summary>An ACT waits for a lock. Tid; Body: ids of those it waits for (H5).</summary>
    ActWaits,

    /// <summary>An ACT's root has its result. Tid, Body: <see cref="Commitment.ActOutcome"/>.</summary>
    ActFinished,

    /// <summary>
    /// An actor's part of an ACT. Tid, Bid: the batch ahead; Body: <see cref="Change"/> or null; with Flag, set by
    /// the shell: the change cannot be kept; Body: its <see cref="Commitment.AbortInfo"/>.
    /// </summary>
    ActChanges,

    /// <summary>
    /// To a worker that takes part in an ACT: its root has its result; vote when everything before it here is final (H3). Tid; Flag: committed, else the vote
    /// says that its own abort rests on nothing that can be undone (H7). The shell makes an <see cref="ActFinished"/> of it.
    /// </summary>
    ActPrepare,

    /// <summary>A worker that takes part in an ACT has voted. Tid; Flag: yes; Body: <see cref="Commitment.ActVote"/>, or null.</summary>
    ActVoted,

    /// <summary>The root's worker has decided an ACT. Tid; Flag: committed.</summary>
    ActDecided,

    /// <summary>Another worker's bounds of an ACT among the global batches (H6). Tid; Bid: gfloor; Value: gceil; 0: none.</summary>
    ActBounds,

    /// <summary>An ACT was aborted by its root for a conflict (H7). Tid.</summary>
    ActAborted,

    /// <summary>An ACT's root has poisoned its branches. Tid, Body: the actors it visited, or null when it was over already.</summary>
    BranchAbortAcknowledged,

    /// <summary>An actor has undone. Actor, Body: victims (A5) or null.</summary>
    UndoAcknowledged,

    /// <summary>Everything queued with this ticket or a smaller one is durable (L5). Value: the ticket.</summary>
    Flushed,

    /// <summary>The master has decided: a global batch commits. Bid: the global batch.</summary>
    GlobalDecided,

    /// <summary>The master's undo has reached its fixpoint: lose what was reported. Value: the undo.</summary>
    GlobalUndoGo,

    // ---- to the master ----------------------------------------------------------------------------------------

    /// <summary>A worker's part is prepared, and that is durable. Bid: the global batch.</summary>
    PartPrepared,

    /// <summary>A worker's marker of a global batch is durable. Bid: the global batch.</summary>
    PartMarked,

    /// <summary>Something of a global batch failed, or is a victim. Bid: the lowest such batch.</summary>
    GlobalFailed,

    /// <summary>Answer to <see cref="GlobalUndo"/>. Value, Count: as there; Bid: the lowest undecided global batch among what is lost; none: none.</summary>
    GlobalUndoReport,

    /// <summary>Answer to <see cref="GlobalUndoGo"/>: all is undone here. Value: the undo.</summary>
    GlobalUndone,

    // ---- to the root of a transaction -------------------------------------------------------------------------

    /// <summary>The ACT must die: floor has met ceil (H5). Tid, Reason.</summary>
    Die,

    /// <summary>The attempt is removed (A5, A8). PACT: its ticket is sent again by the commit machine. ACT: answer <see cref="BranchAbortAcknowledged"/>.</summary>
    Removed,
}
