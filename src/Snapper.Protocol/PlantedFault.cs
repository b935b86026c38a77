namespace Snapper.Protocol;

/// <summary>
/// Faults that a verification build can plant, one at a time, to see that the simulator catches each (docs/verification.md). In every other build
/// <see cref="Planted.Is"/> is a constant and nothing of this is in the machine code.
/// </summary>
internal enum PlantedFault
{
    None,

    // Ordering and hybrid order.
    BatchesFinalOutOfOrder,
    NoFloorCeil,
    FloorNotInherited,
    ActStartsBeforeBatchesAhead,
    BatchStartsBeforeActsAhead,
    PlaceBeforeWhatHasBegun,
    QueueActBeforeAllAheadIsFinal,
    ForgetOneParticipant,
    TurnPassesAtTheFirstCall,
    MarkedPassesItsTurn,
    LateCallAfterAbort,
    UnmarkedAbortStands,
    CaughtExceptionCommits,

    // Locks.
    ReadersPassWriters,
    OlderDiesYoungerWaits,
    WaitersAreOvertaken,
    LocksReleasedBeforeQueueing,
    UpgradeAtTheTail,
    AgeNotKept,

    // Undo.
    AbortKeepsItsWrites,
    VictimsWithoutReaders,
    VictimsWithoutActs,
    VictimsOfVictimsForgotten,
    RestoreTheLatestWrite,
    RestoreTheSameObject,
    StaleCompletionsCount,
    VersionsNotRecounted,
    AbortOnUndoneStateStands,
    ActAbortOnUndoneStateStands,
    VictimsOfReaders,
    TouchesKeptAfterRestore,
    TurnsBeginDuringUndo,
    RemovedIsNumberedTwice,
    SubBatchesBeforeBatch,
    CollectedBeforeFinished,
    PreviousBatchDropped,

    // Log and recovery.
    NoFence,
    AnswerBeforeFlush,
    ReadOnlyAnswerWithoutFlush,
    ResendAnotherGroup,
    UnknownAppendTakenForDone,
    FoldWithoutVersions,
    TrimTooFar,
    TrimBeforeFold,
    CrcNotLookedAt,
    NumbersUsedAgain,
    RecoveryStopsBeforeTheEnd,
    FlushTakenForLater,
    OutcomesNotCopied,
    AppendRepeatedOnce,
    ActWatermarkForgotten,
    RecordAppliedTwice,

    // Files.
    FolderNotFlushed,
    FolderNotMadeDurable,
    RenamedBeforeFlush,
    TornTailKept,
    FailedFlushTrusted,
    LockNotLookedAt,
    OpenedTailNotFlushed,
    LoadedStatesNotFlushed,
    StatesTornApartRefused,

    // What a worker remembers outside of its log.
    AmnesiaNotNoticed,
    FoldsNotCounted,

    // Idempotency.
    KeysLostInRecovery,
    KeyOfAnotherRecord,
    OutcomeNotInTheRecord,
    AbortNotRecorded,
    RunningRequestNotJoined,
    EvictedBeforeFolded,
    RetryableAbortKept,
    KeptPlaceIsWrong,
    InDoubtNotResolved,

    // Answers in time.
    BegunAfterTheEnd,

    // Several workers, from here on: channels between them (R4).
    EarlierLifeHeard,
    MessageForAnotherLifeTaken,
    ChannelTakesTwice,

    // Global batches.
    FinalBehindUndecidedGlobal,
    PreparedBehindUnfinished,
    AcknowledgedBeforeDurable,
    DecidedBeforeAllAcknowledged,
    DecisionToldBeforeDurable,
    UndoneOnOneWorkerAlone,
    DecidedWhileUndone,
    LossOfAWorkerNotNoticed,
    LateGlobalCallKept,

    // ACTs over several workers.
    ReadOnlyVoteWithoutRecord,
    ReadOnlyPartReleasedAtItsVote,
    VoteBeforeAllAheadIsFinal,
    VotedBeforeDurable,
    ActDecidedBeforeAllVotes,
    ActCommitToldBeforeDurable,
    VotedPartEndsByItself,
    AbortOnRemoteUndoneStateStands,
    UndonePartVotesForAbort,

    // Who owns what, and numbers.
    NumberedFromStaleDirectory,
    NumberedForTheDead,
    NumberedThoughRootMoved,
    OldOwnerKeepsWhatMoved,
    VersionsForgottenByTheNextOwner,

    // What is in doubt.
    MasterForgetsItsVerdict,
    AbsencePresumedUnread,
    AbsenceReadWithoutFence,
    CommitPresumed,
    AbortToldAndForgotten,
    RecoveryResolvesNothing,
    DecisionTrimmedBeforeMarkers,

    // A new master.
    NewMasterForgetsDecisions,
    NewMasterDoesNotWait,
    NewMasterNotToldOfFreezes,
    EarlierMasterHeard,
    EarlierMastersBatchesKept,

    // Take-over.
    FencedRescuerGoesOn,
    TakeOverResolvesNothing,
    TakenOverBeforeFold,
    OutcomesNotCopiedAtTakeOver,
    OutcomesLeftBehind,
    AskedAgainUnderAnotherId,

    // Migration.
    NumberedWhileFrozen,
    MasterNotAskedToFreeze,
    FirstVisitWhileFrozen,
    HandOverBeforeFold,
    HandOverWithoutOutcomes,
    MovedToADeadWorker,
    LateRequestBegun,
    FreezeOutlivesItsPlan,
    DrainDoesNotWaitForBatches,
    DrainDoesNotWaitForActs,
    DrainDoesNotWaitForParts,
    AnswerToAnotherFreezeTaken,

    // A store that lost something.
    LifeNotBoundToInstance,

    // One worker becomes several.
    DividedWithoutLogs,

    // Ids over longer than a run of the simulator: caught by the retries of ids (docs/verification.md).
    WindowFromQueueing,
    CopiesForgottenBeforeMemory,
    FirstOwnerGainsNothing,
    OutcomesOfOneNotCopied,
    ClearedWhileInTheWindow,
    CertainThoughTheLogLives,
    RefusedThoughItMayHaveRun,

    // Caught by directed tests alone (docs/verification.md).
    OverfullThatOwnsNothingStays,
    DamagedArchiveStopsTheLiving,
    DamagedLogStopsTheRescuers,
    LookedForBeforeTheRootCameBack,
    RecoveriesEquallyPatient,
    WaitingKeptThroughAFreeze,
}

/// <summary>Which fault is planted.</summary>
internal static class Planted
{
#if PLANTED_FAULTS
    public static PlantedFault Fault { get; set; }

    public static bool Is(PlantedFault fault) => Fault == fault;
#else
    public static bool Is(PlantedFault fault)
    {
        _ = fault;
        return false;
    }
#endif
}
