namespace Snapper.Simulation.Marks;

/// <summary>As <see cref="Transition"/>, of steps that only several workers take.</summary>
public enum ClusterTransition
{
    /// <summary>A worker takes the entries of its own earlier life (R4).</summary>
    Reclaimed,

    /// <summary>A take-over comes to its end: the entries are others' (R4).</summary>
    TakenOver,

    /// <summary>A take-over does not go on; it begins again, or another has come before it.</summary>
    TakeOverGivenUp,

    /// <summary>A batch in doubt is committed (R2).</summary>
    BatchDoubtCommitted,

    /// <summary>A batch in doubt is aborted (R2).</summary>
    BatchDoubtAborted,

    /// <summary>An ACT in doubt is committed (R2).</summary>
    ActDoubtCommitted,

    /// <summary>An ACT in doubt is aborted (R2).</summary>
    ActDoubtAborted,

    /// <summary>A master finds that it is no longer.</summary>
    MasterEnded,

    /// <summary>A new master's worker settles a part that an earlier master had committed (R3).</summary>
    SuccessionCommitted,

    /// <summary>A worker follows the new master: what earlier ones had open is settled (R3).</summary>
    SuccessionSettled,

    /// <summary>A message of a master that is not followed yet waits.</summary>
    LaterMasterWaits,

    /// <summary>A PACT over several workers is asked for again at another master.</summary>
    NumberAskedAgain,

    /// <summary>The master gives a PACT back unnumbered (M1).</summary>
    SentBack,

    /// <summary>The master undoes global batches (A9).</summary>
    GlobalUndo,

    /// <summary>A request was forwarded to a worker whose life ends: it is asked again by its id.</summary>
    PassedOnAskedAgain,

    /// <summary>A request was forwarded to a worker that does not answer in time.</summary>
    PassedOnUnanswered,

    /// <summary>A request waits because its root has no owner now that answers.</summary>
    WaitedForOwner,

    /// <summary>A request that had come to the owner of its root follows its root to another worker (M7).</summary>
    FollowedMove,

    /// <summary>An ACT cannot be voted for: its part is lost, or unknown.</summary>
    VotedNo,

    /// <summary>A call of an ACT comes after its end (W3).</summary>
    CallTooLate,

    /// <summary>A worker that takes part in an ACT is dead.</summary>
    ActLostWorker,

    /// <summary>An ACT is ended because others waited too long behind it (H6).</summary>
    LongWaitBroken,

    /// <summary>A migration is cancelled because something in it cannot be frozen.</summary>
    MigrationNotFrozen,

    /// <summary>A migration is committed (M6).</summary>
    MigrationCommitted,

    /// <summary>A migration finds at its commit that it was cancelled.</summary>
    MigrationFoundCancelled,

    /// <summary>A migration is given up because it took too long (M4).</summary>
    MigrationTimedOut,

    /// <summary>A migration is cancelled by another worker, because its source or target is dead.</summary>
    MigrationOfGoneCancelled,

    /// <summary>A request is not passed on, because its owner takes less than it is sent.</summary>
    PassedOnTooMuch,

    /// <summary>A migration is begun again after the store was away.</summary>
    MigrationInterrupted,

    /// <summary>A worker whose lease lives, and that is not reached, is fenced (R5).</summary>
    Evicted,

    /// <summary>A part names an actor of which the master has heard earlier than this worker that it is this worker's
    /// now: it waits for the directory (M7).</summary>
    PartAheadOfDirectory,
    /// <summary>Packets to a worker that does not answer directly are answered by way of another one.</summary>
    SentByDetour,

    /// <summary>A call from another worker is not begun, because that worker takes less than it is sent.</summary>
    CallTurnedAway,

    /// <summary>A worker that recovers cannot settle what is in doubt, and gives its actors up.</summary>
    RecoveryGivenUp,
}
