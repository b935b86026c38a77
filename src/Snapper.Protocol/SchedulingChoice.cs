namespace Snapper.Protocol;

/// <summary>
/// Places where the protocol leaves a choice, and the product takes the same one nearly always. Under a simulator the seed takes the other one now and then, which
/// widens windows that are rare otherwise. None of them is a fault: what happens then is allowed, and breaks no promise.
/// </summary>
public enum SchedulingChoice
{
    /// <summary>A batch is announced and sent a moment later, while the token goes on: a later one of another coordinator may overtake it (A2).</summary>
    BatchSentLate,
    /// <summary>A batch takes one member, though more stand in line.</summary>
    BatchOfOne,
    /// <summary>A batch that could be formed is left open for a moment.</summary>
    BatchHeldOpen,
    /// <summary>The token goes on although nobody wants it.</summary>
    TokenPassedUnasked,
    /// <summary>A PACT that needs not hold its turns holds them (A1).</summary>
    PactTakenForMarked,
    /// <summary>A batch is taken for too large and divided (L6).</summary>
    BatchTakenForTooLarge,
    /// <summary>An ACT is held back behind open batches where conflicts are few.</summary>
    ActHeldAnyway,
    /// <summary>An ACT begins beside open batches where conflicts are many.</summary>
    ActNotHeld,
    /// <summary>An ACT that met a conflict begins again at once (W2).</summary>
    ActRepeatedAtOnce,
    /// <summary>An ACT that met a conflict pauses for long (W2).</summary>
    ActRepeatedLate,
    /// <summary>A call that could run at once goes into the queue.</summary>
    CallPosted,
    /// <summary>An actor leaves memory just before it is used again (L8).</summary>
    EvictedBeforeUse,
    /// <summary>Deadlines and turns are looked at a tick later.</summary>
    DeadlineLooksLate,
    /// <summary>An id is looked for in the store although no earlier life can have had it (I2).</summary>
    ArchiveAskedAnyway,
    /// <summary>A request is refused as one too many.</summary>
    RequestTakenForTooMany,
    /// <summary>A record begins a group of its own (L6).</summary>
    GroupOfOne,
    /// <summary>What only read gets a flush of its own (L5).</summary>
    BarrierAlone,
    /// <summary>A group is sent a moment later.</summary>
    FlushHeld,
    /// <summary>An append of unknown result is repeated at once (L6).</summary>
    AppendRepeatedAtOnce,
    /// <summary>Changes are checkpointed as soon as they are durable (L8).</summary>
    FoldedAtOnce,
    /// <summary>Every actor is checkpointed in a call of its own.</summary>
    FoldedOneByOne,
    /// <summary>What is checkpointed is not trimmed yet: the next trim does it (L8).</summary>
    NotTrimmed,
    /// <summary>Recovery checkpoints after every group that it reads (R4).</summary>
    RecoveryFoldsInParts,
    /// <summary>What a step sends to other executors arrives one by one, in its order, while these go on.</summary>
    SentOneByOne,
    /// <summary>The channel to another worker is taken for full; of several workers alone.</summary>
    ChannelTakenForFull,
    /// <summary>Right behind its vote for an ACT a worker asks what became of it, as if it had restarted (R2); of several workers alone.</summary>
    VoterAsksAtOnce,
    /// <summary>A batch comes to its actors some milliseconds after its announcement (A2); one worker alone.</summary>
    SubBatchesSentLate,
}
