namespace Snapper.Protocol;

/// <summary>Steps of the protocol that only several workers take; each is counted where it is taken, in programs that ask for counts.</summary>
public enum ClusterTransition
{
    /// <summary>A worker takes the entries of its own earlier life (R4).</summary>
    Reclaimed,

    /// <summary>A worker is fenced by another one (R4).</summary>
    Fenced,

    /// <summary>A take-over finds things in doubt.</summary>
    TakeOverInDoubt,

    /// <summary>A take-over comes to its end: the entries are others' (R4).</summary>
    TakenOver,

    /// <summary>A take-over does not go on; it begins again, or another has come before it.</summary>
    TakeOverGivenUp,

    /// <summary>A worker that comes back finds things in doubt in its own stream (R2).</summary>
    RecoveredInDoubt,

    /// <summary>A batch in doubt is committed (R2).</summary>
    BatchDoubtCommitted,

    /// <summary>... is aborted.</summary>
    BatchDoubtAborted,

    /// <summary>An ACT in doubt is committed (R2).</summary>
    ActDoubtCommitted,

    /// <summary>... is aborted.</summary>
    ActDoubtAborted,

    /// <summary>The stream of an ACT's root is fenced and read to know what became of it (R2).</summary>
    RootStreamRead,

    /// <summary>A worker becomes master (R3).</summary>
    MasterTaken,

    /// <summary>A master finds that it is no longer.</summary>
    MasterEnded,

    /// <summary>A worker hears of a new master and settles what earlier ones had open (R3).</summary>
    SuccessionBegun,

    /// <summary>... among that a part that an earlier master had committed.</summary>
    SuccessionCommitted,

    /// <summary>... and something that is undone.</summary>
    SuccessionUndone,

    /// <summary>It listens to the new master.</summary>
    SuccessionSettled,

    /// <summary>A message of an earlier master is refused (R3).</summary>
    EarlierMasterRefused,

    /// <summary>A message of a master that is not followed yet waits.</summary>
    LaterMasterWaits,

    /// <summary>A PACT over several workers is asked for again at another master.</summary>
    NumberAskedAgain,

    /// <summary>The master gives a PACT back unnumbered (M1).</summary>
    SentBack,

    /// <summary>The master undoes global batches (A9).</summary>
    GlobalUndo,

    /// <summary>A request is passed on to the owner of its root.</summary>
    PassedOn,

    /// <summary>... whose life ends: it is asked again by its id.</summary>
    PassedOnAskedAgain,

    /// <summary>... and that does not answer in time.</summary>
    PassedOnUnanswered,

    /// <summary>A request waits because its root has no owner now that answers.</summary>
    WaitedForOwner,

    /// <summary>A request that had come to the owner of its root follows its root to another worker (M7).</summary>
    FollowedMove,

    /// <summary>A vote for an ACT is given.</summary>
    Voted,

    /// <summary>An ACT cannot be voted for: its part is lost, or unknown.</summary>
    VotedNo,

    /// <summary>An ACT of several workers is decided here.</summary>
    ActDecided,

    /// <summary>A call of an ACT comes after its end (W3).</summary>
    CallTooLate,

    /// <summary>A worker that takes part in an ACT is gone.</summary>
    ActLostWorker,

    /// <summary>The root's worker of an ACT that was voted for is gone.</summary>
    RootLostInDoubt,

    /// <summary>An ACT is ended because others waited too long behind it (H6).</summary>
    LongWaitBroken,

    /// <summary>A migration freezes what it moves (M3).</summary>
    MigrationFrozen,

    /// <summary>A migration is cancelled because something in it cannot be frozen.</summary>
    MigrationNotFrozen,

    /// <summary>The master has answered a freeze (M3).</summary>
    MigrationFrozenAtMaster,

    /// <summary>What was under way has come to its end (M4).</summary>
    MigrationDrained,

    /// <summary>All of it is checkpointed (M5).</summary>
    MigrationHandedOver,

    /// <summary>A migration is committed (M6).</summary>
    MigrationCommitted,

    /// <summary>A migration finds at its commit that it was cancelled.</summary>
    MigrationFoundCancelled,

    /// <summary>A migration is given up because it took too long (M4).</summary>
    MigrationTimedOut,

    /// <summary>A migration is cancelled by somebody else, because its source or target is gone.</summary>
    MigrationOfGoneCancelled,

    /// <summary>A request is not passed on, because its owner takes less than it is sent.</summary>
    PassedOnTooMuch,

    /// <summary>A migration is begun again after the store was away.</summary>
    MigrationInterrupted,

    /// <summary>A worker whose lease lives, and that is not reached, is fenced (R5).</summary>
    Evicted,

    /// <summary>A request that was passed on comes after its timeout, and is not begun.</summary>
    PassedOnTooLate,
    /// <summary>A plan ended while the store was away from its source, which lets its freeze go when it hears of it (M4).</summary>
    FreezeLetGo,

    /// <summary>A part names an actor of which the master has heard earlier than this worker that it is this worker's now: it waits for the directory (M7).</summary>
    PartAheadOfDirectory,
    /// <summary>Packets to a worker that does not answer directly are answered by way of another one.</summary>
    SentByDetour,

    /// <summary>A call from another worker is not begun, because that worker takes less than it is sent.</summary>
    CallTurnedAway,

    /// <summary>A worker that recovers cannot settle what is in doubt, and gives its actors up.</summary>
    RecoveryGivenUp,
}
