namespace Snapper.Simulation.Marks;

/// <summary>
/// Steps of the protocol that a worker may take alone and that a run may miss unnoticed, with the rule that asks for
/// each (docs/protocol.md). A long run in which one was
/// never taken fails (docs/verification.md). The places are in the table of mutations, as marks.
/// </summary>
/// <remarks>
/// A step that every run takes has none, nor a step whose mutation would not be caught if no run took it. Nor can a
/// simulator in one thread make threads that do not come
/// back (W5).
/// </remarks>
public enum Transition
{
    /// <summary>A PACT left the line before it had a number: its time was over, or its caller went away.</summary>
    PactWithdrawn,
    /// <summary>A PACT is to leave the line and has a number already: its root ends it.</summary>
    PactWithdrawnTooLate,
    /// <summary>The wish came round without meeting the token, which was moving: asked again.</summary>
    TokenWishCameRound,
    /// <summary>The wish came round, and nothing waits any more.</summary>
    TokenWishDropped,
    /// <summary>The holder waits for the log, so that the token would run round in vain.</summary>
    TokenKeptForLog,
    /// <summary>A batch took as many as it may; others stay in line (L6).</summary>
    BatchFull,
    /// <summary>A sub-batch came before its predecessor and waits for it.</summary>
    SubBatchParked,
    /// <summary>A call came before the sub-batch of its PACT (A2).</summary>
    EarlyCallKept,
    /// <summary>An end came before the sub-batch of its PACT (A2).</summary>
    EarlyEndKept,
    /// <summary>A call waits for another call of its own transaction on the actor.</summary>
    CallWaitsForOwn,
    /// <summary>A call of a PACT that has ended or was removed is refused (A8).</summary>
    PactCallTooLate,
    /// <summary>A turn passes because the declared calls are made (A2).</summary>
    TurnPassedByCount,
    /// <summary>A turn passes because its PACT was removed or aborted, while its user code has not come back
    /// (A8).</summary>
    TurnPassedUnderCode,
    /// <summary>The end of a PACT that an undo has removed counts for nothing (A5).</summary>
    EndOfRemoved,
    /// <summary>An ACT that is ahead of a batch elsewhere takes its place ahead of it here, too: its AfterSet (H1,
    /// H8).</summary>
    ActPlacedAhead,
    /// <summary>A batch arrives behind an ACT's place: its AfterSet (H5).</summary>
    ActOvertaken,
    /// <summary>What was ahead of an ACT's place has executed: its call begins (H1).</summary>
    ActStartedAtPlace,
    /// <summary>An upgrade went ahead of others that wait, who are told (H5).</summary>
    UpgradeOvertook,
    /// <summary>A lock is granted to one that waited.</summary>
    LockGrantedLater,
    /// <summary>A finished ACT's actor does not know it: its call was refused, or an undo removed it.</summary>
    ActCollectedNowhere,
    /// <summary>An aborted ACT's change gives back its version (L7).</summary>
    ActVersionTakenBack,
    /// <summary>An ACT's end reaches an actor that does not know it.</summary>
    ActEndedNowhere,
    /// <summary>A removal came before the sub-batch that it is about (A2).</summary>
    RemovedBeforeSubBatch,
    /// <summary>A sub-batch arrives with a PACT that was removed before.</summary>
    RemovedAtPlacing,
    /// <summary>A PACT that has written over what is undone is a victim (A5).</summary>
    WriterIsVictim,
    /// <summary>An ACT that is no victim gets its version anew (L7).</summary>
    ActVersionRecounted,
    /// <summary>After the undo a completion is sent again (A5).</summary>
    CompletionSentAgain,
    /// <summary>The commit order receives a batch behind a later one of another coordinator.</summary>
    BatchAnnouncedLate,
    /// <summary>The commit order receives a batch while an undo goes on at one of its actors, whose completion counts
    /// only after it (A5).</summary>
    BatchAnnouncedInUndo,
    /// <summary>A component is final ahead of an earlier batch (D2).</summary>
    ComponentAheadOfBatch,
    /// <summary>A component is final while an undo is going on (D5).</summary>
    ComponentFinalInUndo,
    /// <summary>A batch does not wait for a transaction of its own that takes long.</summary>
    BatchLingers,
    /// <summary>A batch that lost all its members passes its turn without a record (A7).</summary>
    BatchEmpty,
    /// <summary>A batch too large for a record gives up its last members (L6).</summary>
    BatchTooLarge,
    /// <summary>A batch is too large for a record while an undo goes on, whose end weighs it again (L6).</summary>
    BatchTooLargeInUndo,
    /// <summary>A PACT that is too large alone runs again, marked, to be weighed (L6).</summary>
    AloneTooLarge,
    /// <summary>A result of a removed PACT counts for nothing (A5).</summary>
    ResultOfRemoved,
    /// <summary>An ACT stands behind a batch that is final by now: no bound (H5).</summary>
    ActVisitFinal,
    /// <summary>News of an ACT that is over is ignored.</summary>
    NewsOfEndedAct,
    /// <summary>floor &gt;= ceil when it had finished: it dies (H5).</summary>
    DiedOfSerializability,
    /// <summary>A part of an ACT that died meanwhile is ignored.</summary>
    ActPartOfDead,
    /// <summary>An ACT too large for a record ends as one that refused (L6).</summary>
    ActTooLarge,
    /// <summary>A PACT failed that was a victim already (A4).</summary>
    PactFailedRemoved,
    /// <summary>A failure waits for the undo that goes on: one at a time.</summary>
    UndoWaitsForUndo,
    /// <summary>What had waited was removed by the undo before.</summary>
    UndoHasNothingLeft,
    /// <summary>A victim was found already.</summary>
    VictimKnown,
    /// <summary>The root of an ACT that is a victim had ended already (A5).</summary>
    BranchAbortAcknowledgedNowhere,


    /// <summary>A PACT's turn comes while it is taken out of its batch for slowness (W4).</summary>
    PactRootShed,
    /// <summary>A PACT's turn comes after its deadline.</summary>
    PactBeganTooLate,
    /// <summary>An ACT was held back until batches before it were final, and they are.</summary>
    ActReleased,
    /// <summary>An ACT was held back; the batches before it take long, so it begins.</summary>
    ActReleasedByTime,
    /// <summary>A PACT calls an actor that it has not declared (A4).</summary>
    CallUndeclared,
    /// <summary>A PACT makes more calls on an actor than it has declared (A4).</summary>
    CallTooMany,
    /// <summary>A method has returned and waits for calls that were not awaited (A2).</summary>
    CallJoinedAtEnd,
    /// <summary>A lock is granted to a call that is over.</summary>
    LockGrantedTooLate,
    /// <summary>User code finds itself removed at the actor before the news of the undo has come to its root
    /// (A5).</summary>
    RemovalFoundByCode,
    /// <summary>A result is larger than it may be.</summary>
    ResultTooLarge,
    /// <summary>A PACT that runs again is too large for a record by itself, and aborts (L6).</summary>
    AttemptTooLarge,
    /// <summary>A state that a sub-batch leaves cannot be kept: those who wrote it run again and are weighed one by
    /// one (L6).</summary>
    PactStateUnfit,
    /// <summary>A state that an ACT leaves cannot be kept: it ends as one that refused (H7).</summary>
    ActStateUnfit,
    /// <summary>User code of a dead attempt goes on for a while (A8).</summary>
    DeadCodeGoesOn,
    /// <summary>Unjoined code fails when its call has ended (A10).</summary>
    FailedAfterItsEnd,
    /// <summary>An input cannot be copied (A8, A10).</summary>
    InputUnfit,
    /// <summary>A result cannot be copied (A8, A10).</summary>
    ResultUnfit,
    /// <summary>Code of a value uses the context while the worker writes or reads it (W5).</summary>
    ValueUsesContext,
    /// <summary>The change of a transaction that runs again is what it was weighed by (L4, L6).</summary>
    ChangeAsWeighed,
    /// <summary>A PACT fails and runs again, marked (A4).</summary>
    PactRunsAgain,
    /// <summary>The method of a PACT that failed is marked from then on (A1).</summary>
    MethodMarked,
    /// <summary>An ACT aborts by itself; its answer waits (H7).</summary>
    ActAbortedItself,
    /// <summary>An ACT that met a lock begins again when its holder has ended (W2).</summary>
    ActRepeatedAfterEnd,
    /// <summary>An ACT that met a lock begins again after a pause (W2).</summary>
    ActRepeatedLater,
    /// <summary>An ACT that died by itself is told that it is removed.</summary>
    ActRemovedAfterDeath,
    /// <summary>An attempt kept others waiting too long (W4).</summary>
    TurnBoundHit,
    /// <summary>The deadline passes before a PACT has begun.</summary>
    DeadlineInLine,
    /// <summary>The deadline passes between two attempts of an ACT, or before the first.</summary>
    DeadlineBetweenAttempts,
    /// <summary>The deadline passes while an attempt runs.</summary>
    DeadlineWhileRunning,
    /// <summary>The deadline passes after the root has ended: in doubt.</summary>
    DeadlineAfterEnd,
    /// <summary>The caller goes away before the request has begun.</summary>
    CallerLeftInLine,
    /// <summary>The caller goes away when it has begun, which changes nothing.</summary>
    CallerLeftTooLate,
    /// <summary>A request joins one of the same id, whose answer does not come in time (I2).</summary>
    IdJoinGivenUp,
    /// <summary>The outcome of an id is read from the log (I3).</summary>
    OutcomeFromLog,
    /// <summary>The outcome of an id is read from the store, to which it was copied (I3).</summary>
    OutcomeFromStore,
    /// <summary>The outcome of an id cannot be read now.</summary>
    OutcomeUnreachable,
    /// <summary>An id is found among the outcomes of earlier lives before it is numbered (I2).</summary>
    ArchiveKnew,
    /// <summary>An id is looked for among the outcomes of earlier lives, and the store does not answer (I2).</summary>
    ArchiveUnreachable,
    /// <summary>A request is answered in doubt.</summary>
    InDoubtAnswered,
    /// <summary>A request is to be answered in doubt, and has its answer already.</summary>
    InDoubtTooLate,
    /// <summary>What had no effects, and was answered in doubt, gets a record of its own (I3).</summary>
    ToldOutcomeRecorded,
    /// <summary>The worker ends: a request that had not begun is certainly not executed.</summary>
    GivenUpUnbegun,
    /// <summary>The worker ends: a request that had begun is in doubt.</summary>
    GivenUpInDoubt,
    /// <summary>The worker is asked to stop, and every caller is answered.</summary>
    Drained,
    /// <summary>The worker is asked to stop, and a caller is not answered in time.</summary>
    StoppedUndrained,
    /// <summary>A group of several records is sent.</summary>
    GroupOfMany,
    /// <summary>A record that is too much for its group begins the next one (L6).</summary>
    RecordMoved,
    /// <summary>The log has a group already that is sent again (L6).</summary>
    GroupAlreadyThere,
    /// <summary>The log refuses a group; the same bytes go out again (L6).</summary>
    AppendRefused,
    /// <summary>The probe of the log gets no answer.</summary>
    ProbeUnanswered,
    /// <summary>A checkpoint goes out in several calls.</summary>
    FoldedInPart,
    /// <summary>A checkpoint fails and is tried again.</summary>
    FoldFailed,
    /// <summary>A checkpoint is fenced: the worker ends.</summary>
    FoldFenced,
    /// <summary>An actor's stored state is loaded once more, because the store did not answer.</summary>
    LoadRepeated,
    /// <summary>An idle actor leaves memory (L8).</summary>
    ActorEvicted,
    /// <summary>An actor leaves memory to make room for others (L8).</summary>
    ActorLeftForRoom,
    /// <summary>An actor that was declared is loaded when it is called.</summary>
    LoadedWhenCalled,
    /// <summary>A worker opens a log of which everything is checkpointed and trimmed.</summary>
    RecoveredEmpty,
    /// <summary>A worker reads records behind a checkpoint (R4).</summary>
    RecoveredBehindCheckpoint,
    /// <summary>A recovery checkpoints in several parts (R4).</summary>
    RecoveryFoldedInParts,
    /// <summary>Another worker opens the log during a recovery.</summary>
    RecoveryFenced,
    /// <summary>The store refuses a checkpoint: the worker begins again.</summary>
    RecoveryRefused,
}
