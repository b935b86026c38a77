using Snapper.Protocol.Batches;
using Snapper.Protocol.Identity;

namespace Snapper.Protocol.Global;

/// <summary>What the master's coordinator hears. The comment names the fields of <see cref="GlobalMessage"/> that count; <c>From</c> does where a worker speaks.</summary>
public enum GlobalMessageKind : byte
{
    /// <summary>Never sent.</summary>
    None,

    /// <summary>A PACT over several workers asks for a number. Body: <see cref="GlobalPact"/>.</summary>
    NewPact,

    /// <summary>Its time is over, or its caller left. Value: its handle. Without effect once it is numbered.</summary>
    Withdraw,

    /// <summary>A worker's part is complete, and its <c>Prepared</c> durable. Bid.</summary>
    PartPrepared,

    /// <summary>A worker has written the marker of a decided batch: it will not ask for its outcome any more. Bid.</summary>
    PartMarked,

    /// <summary>Something of a global batch failed, or is a victim: whole batches go (A9). Bid: the lowest; Count 1: its part's record would be too large.</summary>
    Failed,

    /// <summary>Answer to an undo's question. Value: the undo, Count: its round, Bid: the lowest undecided global batch that the worker loses; none: none but those asked for.</summary>
    UndoReport,

    /// <summary>The worker has undone everything. Value: the undo.</summary>
    Undone,

    /// <summary>The worker <c>About</c> is fenced: nothing it says counts any more.</summary>
    WorkerGone,

    /// <summary>The stream of the fenced worker <c>About</c> was read to its end, and what was in doubt in it is resolved: nobody will ask for it any more.</summary>
    StreamResolved,

    /// <summary>A prepared batch whose marker is missing in a stream that somebody recovers. Bid (R2).</summary>
    InDoubt,

    /// <summary>The decisions up to this ticket are durable. Value.</summary>
    Flushed,

    /// <summary>The directory has changed: what could not be placed is looked at again.</summary>
    DirectoryChanged,
}

/// <summary>One message to the master's coordinator.</summary>
public readonly record struct GlobalMessage(
    GlobalMessageKind Kind, Incarnation From = default, BatchId Bid = default, long Value = 0, int Count = 0, object? Body = null, Incarnation About = default);

/// <summary>What the master's shell has to do.</summary>
public enum GlobalOutputKind : byte
{
    /// <summary>To a worker's first coordinator: its part of a new batch. Body: <see cref="GlobalPart"/>.</summary>
    SendPart,

    /// <summary>To a worker: the batch is committed. Bid.</summary>
    SendDecided,

    /// <summary>To a worker: say what you would lose from this global batch on, and queue nothing of it. Value: undo, Count: round, Bid.</summary>
    SendUndo,

    /// <summary>To a worker: lose it. Value: undo, Bid: the lowest lost global batch.</summary>
    SendUndoGo,

    /// <summary>To a root's worker: the PACT was not numbered, an actor is frozen, moved or ownerless (M1). Value: handle; Body: the actor.</summary>
    SendBack,

    /// <summary>To a root's worker: the PACT was dropped before it was numbered, as was asked for. Value: handle.</summary>
    SendDropped,

    /// <summary>To whoever recovers a stream: outcome of a batch in doubt. Bid; Flag: committed.</summary>
    SendVerdict,

    /// <summary>Queue the decision to commit. Bid; the shell answers with <see cref="GlobalCoordinatorMachine.Queued"/>.</summary>
    Append,
}

/// <summary>One effect of a step, as data.</summary>
public readonly record struct GlobalOutput(
    GlobalOutputKind Kind, Incarnation To = default, BatchId Bid = default, long Value = 0, int Count = 0, bool Flag = false, object? Body = null);
