namespace Snapper.Protocol;

/// <summary>
/// Every arrow of the worker's state machines that one worker can take, with the rule that asks for it (protocol rules L, H, W, A, I, R). Verification counts
/// how often each was taken; one that never was in a long run fails the run (docs/verification.md).
/// </summary>
/// <remarks>
/// Not here is what a simulator in one thread cannot make: threads that do not come back (W5). Nor what must not happen: a gap in the log (L6), a broken invariant.
/// </remarks>
public enum Transition
{
    // ---- coordinator: numbers and batches (I5, R1; thesis 3.3.2)

    /// <summary>A PACT stands in its coordinator's line (I5).</summary>
    PactArrived,
    /// <summary>A PACT left the line before it had a number: its time was over, or its caller went away.</summary>
    PactWithdrawn,
    /// <summary>It has a number already: its root ends it.</summary>
    PactWithdrawnTooLate,
    /// <summary>A PACT whose method keeps others waiting stands in the line for such (W4).</summary>
    PactSlowInLine,
    /// <summary>A slow PACT stays in line because the batch has another one on the same actor (W4).</summary>
    SlowPactLeftInLine,
    /// <summary>A coordinator without the token has work and asks round the ring.</summary>
    TokenWanted,
    /// <summary>The wish goes on to the next coordinator.</summary>
    TokenWishPassedOn,
    /// <summary>The wish came round without meeting the token, which was moving: asked again.</summary>
    TokenWishCameRound,
    /// <summary>The wish came round, and nothing waits any more.</summary>
    TokenWishDropped,
    /// <summary>The token goes to the next coordinator.</summary>
    TokenPassed,
    /// <summary>The holder waits for the log, so that the token would run round in vain.</summary>
    TokenKeptForLog,
    /// <summary>PACTs wait, the token is here, and so many batches are open that none is formed.</summary>
    BatchWaitsForLog,
    /// <summary>A batch is formed (R1: without a record).</summary>
    BatchFormed,
    /// <summary>A batch took as many as it may; others stay in line (L6).</summary>
    BatchFull,
    /// <summary>A sub-batch names the actor's batch before it.</summary>
    SubBatchChained,
    /// <summary>A sub-batch has nobody before it that is not final.</summary>
    SubBatchFirst,
    /// <summary>A PACT gets another number after an undo (A4).</summary>
    PactNumberedAgain,
    /// <summary>The token forgets the sub-batches of a final batch.</summary>
    TokenForgotBatch,

    // ---- actor: batches and the turns of PACTs (A1 to A3, H1)

    /// <summary>A sub-batch takes its place in the actor's schedule.</summary>
    SubBatchPlaced,
    /// <summary>A sub-batch came before its predecessor and waits for it.</summary>
    SubBatchParked,
    /// <summary>Its predecessor has come.</summary>
    SubBatchUnparked,
    /// <summary>A call came before the sub-batch of its PACT (A2).</summary>
    EarlyCallKept,
    /// <summary>An end came before the sub-batch of its PACT (A2).</summary>
    EarlyEndKept,
    /// <summary>What came early is taken in.</summary>
    EarlyDelivered,
    /// <summary>A PACT's turn begins.</summary>
    TurnStarted,
    /// <summary>A PACT's root begins with its turn.</summary>
    RootStarted,
    /// <summary>A call of a PACT waits for the turn.</summary>
    CallWaitsForTurn,
    /// <summary>A call waits for another call of its own transaction on the actor.</summary>
    CallWaitsForOwn,
    /// <summary>A call back to an actor that waits in the same chain of calls is let in.</summary>
    CallEnteredAgain,
    /// <summary>A call of a PACT that has ended or was removed is refused (A8).</summary>
    PactCallTooLate,
    /// <summary>A turn passes because the declared calls are made (A2).</summary>
    TurnPassedByCount,
    /// <summary>The calls are made, and the turn is held until the end (A1).</summary>
    TurnHeldByMark,
    /// <summary>The calls are made, and the root has not returned (A2).</summary>
    TurnHeldByRoot,
    /// <summary>A turn passes because its PACT has ended (A2).</summary>
    TurnPassedAtEnd,
    /// <summary>A turn passes because its PACT was removed or aborted.</summary>
    TurnPassedOver,
    /// <summary>... while its user code has not come back (A8).</summary>
    TurnPassedUnderCode,
    /// <summary>A batch waits for an ACT that is placed before it (H1).</summary>
    BatchWaitsForAct,
    /// <summary>All turns of a sub-batch are over, and the state has changed (A2, L4).</summary>
    SubBatchExecuted,
    /// <summary>... and nothing has changed.</summary>
    SubBatchReadOnly,
    /// <summary>A PACT aborts by itself and its before-image is put back (A3).</summary>
    PactAbortedHere,
    /// <summary>A PACT aborts by itself on an actor that it had not changed (A3).</summary>
    PactAbortedUnwritten,
    /// <summary>The end of a PACT that an undo has removed counts for nothing (A5).</summary>
    EndOfRemoved,
    /// <summary>Final batches cannot be undone any more: what an undo needs goes.</summary>
    BeforeImagesForgotten,

    // ---- actor: ACTs, their places and locks (H1, H2, H4, H5, W1, W3)

    /// <summary>An ACT takes a place on an actor without open batches (H1).</summary>
    ActPlaced,
    /// <summary>An ACT takes its place behind a batch that is not final: its BeforeSet (H1, H5).</summary>
    ActPlacedBehind,
    /// <summary>An ACT that is ahead of a batch elsewhere takes its place ahead of it here, too: its AfterSet (H1, H8).</summary>
    ActPlacedAhead,
    /// <summary>It would have to, but something there has begun: at the tail, where its floor meets its ceil (H5).</summary>
    ActNoPlaceAhead,
    /// <summary>A batch arrives behind an ACT's place: its AfterSet (H5).</summary>
    ActOvertaken,
    /// <summary>An ACT waits until what is ahead of its place has executed (H1).</summary>
    ActWaitsForPlace,
    /// <summary>What was ahead has executed: its call begins (H1).</summary>
    ActStartedAtPlace,
    /// <summary>A call of an ACT that has ended is refused (W3).</summary>
    ActCallTooLate,
    /// <summary>A lock is granted at once.</summary>
    LockGranted,
    /// <summary>The ACT holds the lock already.</summary>
    LockHeldAlready,
    /// <summary>A shared lock becomes an exclusive one at once.</summary>
    LockUpgraded,
    /// <summary>An ACT waits for younger ones (W1).</summary>
    LockQueued,
    /// <summary>An upgrade waits at the head of the queue.</summary>
    LockUpgradeQueued,
    /// <summary>An upgrade went ahead of others that wait, who are told (H5).</summary>
    UpgradeOvertook,
    /// <summary>Wait-die: a younger ACT dies of an older one's lock (W1).</summary>
    KilledByHolder,
    /// <summary>Wait-die: a younger ACT dies of an older one that waits (W1).</summary>
    KilledByWaiter,
    /// <summary>A lock is granted to one that waited.</summary>
    LockGrantedLater,
    /// <summary>A finished ACT's change is taken with its version (L4, L7).</summary>
    ActChangeCollected,
    /// <summary>A finished ACT has changed nothing here (H2).</summary>
    ActReadCollected,
    /// <summary>A finished ACT's actor does not know it: its call was refused, or an undo removed it.</summary>
    ActCollectedNowhere,
    /// <summary>An ACT gives its place and locks back (H4).</summary>
    ActEndedHere,
    /// <summary>... and the before-image is put back.</summary>
    ActRolledBack,
    /// <summary>... with the version that its change had (L7).</summary>
    ActVersionTakenBack,
    /// <summary>An ACT's end reaches an actor that does not know it.</summary>
    ActEndedNowhere,

    // ---- actor: undo (A5, A7, A8)

    /// <summary>An actor removes the transactions of an undo and starts nothing.</summary>
    UndoReachedActor,
    /// <summary>A removed PACT stood in the actor's schedule.</summary>
    RemovedWasPlaced,
    /// <summary>A removal came before the sub-batch that it is about (A2).</summary>
    RemovedBeforeSubBatch,
    /// <summary>A sub-batch arrives with a PACT that was removed before.</summary>
    RemovedAtPlacing,
    /// <summary>The before-image of the earliest removed writer is put back (A5).</summary>
    StateRestored,
    /// <summary>A PACT that has read what is undone is a victim (A5).</summary>
    ReaderIsVictim,
    /// <summary>A PACT that has written over what is undone is a victim (A5).</summary>
    WriterIsVictim,
    /// <summary>An ACT that touched what is undone is a victim (A5).</summary>
    ActIsVictim,
    /// <summary>An ACT victim leaves the actor.</summary>
    ActUndoneHere,
    /// <summary>A batch that has executed gets its version and end state anew (L7).</summary>
    VersionRecounted,
    /// <summary>An ACT that is no victim gets its version anew (L7).</summary>
    ActVersionRecounted,
    /// <summary>After the undo a completion is sent again (A5).</summary>
    CompletionSentAgain,
    /// <summary>The actor goes on.</summary>
    UndoLeftActor,

    // ---- commit order (L2, L6, H3 to H5, H7)

    /// <summary>The commit order learns of a batch.</summary>
    BatchAnnounced,
    /// <summary>... behind a later batch of another coordinator.</summary>
    BatchAnnouncedLate,
    /// <summary>... while an undo goes on at one of its actors, whose completion counts only after it (A5).</summary>
    BatchAnnouncedInUndo,
    /// <summary>An actor's part of a batch is complete.</summary>
    SubBatchCompleted,
    /// <summary>A completion from before the actor's last undo is ignored (A5).</summary>
    CompletionStale,
    /// <summary>Everything of a batch is here.</summary>
    BatchCompleted,
    /// <summary>A complete batch waits for one before it (L2).</summary>
    BatchWaitsForEarlier,
    /// <summary>A complete batch waits for the end of an undo (A6).</summary>
    BatchHeldByUndo,
    /// <summary>A batch is final: its record is queued (L1, L2).</summary>
    BatchQueued,
    /// <summary>A batch that lost all its members passes its turn without a record (A7).</summary>
    BatchEmpty,
    /// <summary>A batch too large for a record gives up its last members (L6).</summary>
    BatchTooLarge,
    /// <summary>... but an undo goes on, whose end looks again.</summary>
    BatchTooLargeInUndo,
    /// <summary>A PACT that is too large alone runs again, marked, to be weighed (L6).</summary>
    AloneTooLarge,
    /// <summary>A PACT's root has a result.</summary>
    PactCommitted,
    /// <summary>A PACT has aborted by itself (A3).</summary>
    PactAborted,
    /// <summary>A result of a removed PACT counts for nothing (A5).</summary>
    ResultOfRemoved,
    /// <summary>An ACT stands behind a batch that is not final (H5).</summary>
    ActVisitHeard,
    /// <summary>... that is final by now: no bound.</summary>
    ActVisitFinal,
    /// <summary>An ACT stands ahead of a batch (H5).</summary>
    ActOvertakenHeard,
    /// <summary>An ACT waits for locks: it inherits floors (H5).</summary>
    ActWaitHeard,
    /// <summary>News of an ACT that is over is ignored.</summary>
    NewsOfEndedAct,
    /// <summary>floor &gt;= ceil while an ACT runs: it dies (H5).</summary>
    DiedOfDeadlock,
    /// <summary>floor &gt;= ceil when it had finished: it dies (H5).</summary>
    DiedOfSerializability,
    /// <summary>... by the floor of one whose lock it waits for (H5).</summary>
    DiedOfInheritedFloor,
    /// <summary>An ACT has its result; its parts are under way (H7).</summary>
    ActFinished,
    /// <summary>A part of an ACT that died meanwhile is ignored.</summary>
    ActPartOfDead,
    /// <summary>An ACT too large for a record ends as one that refused (L6).</summary>
    ActTooLarge,
    /// <summary>A finished ACT waits until every batch before it is final (H3).</summary>
    ActWaitsForBatches,
    /// <summary>An ACT's record is queued; it ends (H3, H4).</summary>
    ActQueued,
    /// <summary>... without a change: it rides on the next flush (L5).</summary>
    ActReadOnlyQueued,
    /// <summary>An ACT's own abort is queued when H3 holds (H7).</summary>
    ActAbortQueued,
    /// <summary>An ACT is over without outcome: it met a conflict (H7).</summary>
    ActGivenUp,
    /// <summary>A batch is durable and answered (L5).</summary>
    BatchDurable,
    /// <summary>An ACT is durable, or what it read is, and answered (L5).</summary>
    ActDurable,

    // ---- undo manager (A4 to A8)

    /// <summary>A PACT failed after a turn may have passed (A4).</summary>
    PactFailed,
    /// <summary>... and was a victim already.</summary>
    PactFailedRemoved,
    /// <summary>An undo begins.</summary>
    UndoStarted,
    /// <summary>A failure waits for the undo that goes on: one at a time.</summary>
    UndoWaitsForUndo,
    /// <summary>What had waited was removed by the undo before.</summary>
    UndoHasNothingLeft,
    /// <summary>A PACT is taken out of its batch.</summary>
    PactRemoved,
    /// <summary>An ACT is removed.</summary>
    ActRemoved,
    /// <summary>A victim was found already.</summary>
    VictimKnown,
    /// <summary>An ACT's root is told that it is a victim.</summary>
    ActVictimTold,
    /// <summary>It has poisoned its branches and names its actors (W3, A5).</summary>
    BranchAbortAcknowledged,
    /// <summary>It was over already.</summary>
    BranchAbortAcknowledgedNowhere,
    /// <summary>Another round: victims have victims (A5).</summary>
    VictimsOfVictims,
    /// <summary>No victim is new: the undo is over.</summary>
    UndoEnded,
    /// <summary>A removed PACT goes to its coordinator again (A4).</summary>
    PactSentAgain,

    // ---- roots and requests (W2, W4, A4, A10, H7)

    /// <summary>A PACT's turn comes while it is taken out of its batch for slowness (W4).</summary>
    PactRootShed,
    /// <summary>A PACT's turn comes after its deadline.</summary>
    PactBeganTooLate,
    /// <summary>An attempt of an ACT begins.</summary>
    ActStarted,
    /// <summary>An ACT is held back until batches formed before it are final.</summary>
    ActHeld,
    /// <summary>They are.</summary>
    ActReleased,
    /// <summary>They take long, so it begins.</summary>
    ActReleasedByTime,
    /// <summary>A call to an actor of the same executor runs at once.</summary>
    CallInline,
    /// <summary>... or goes into the queue: it is deep, or the actor is not loaded.</summary>
    CallPosted,
    /// <summary>A call goes to another executor.</summary>
    CallSent,
    /// <summary>A PACT calls an actor that it has not declared (A4).</summary>
    CallUndeclared,
    /// <summary>A PACT makes more calls on an actor than it has declared (A4).</summary>
    CallTooMany,
    /// <summary>A method has returned and waits for calls that nobody awaited (A2).</summary>
    CallJoinedAtEnd,
    /// <summary>A lock is granted to a call that is over.</summary>
    LockGrantedTooLate,
    /// <summary>User code finds itself removed at the actor before the news of the undo has come to its root (A5).</summary>
    RemovalFoundByCode,
    /// <summary>An attempt is doomed by what happened in its calls, or by its time (A10).</summary>
    AbortRequested,
    /// <summary>A result is larger than it may be.</summary>
    ResultTooLarge,
    /// <summary>A PACT that runs again is too large for a record by itself, and aborts (L6).</summary>
    AttemptTooLarge,
    /// <summary>A state that a sub-batch leaves cannot be kept: those who wrote it run again and are weighed one by one (L6).</summary>
    PactStateUnfit,
    /// <summary>A state that an ACT leaves cannot be kept: it ends as one that refused (H7).</summary>
    ActStateUnfit,
    /// <summary>User code of a dead attempt goes on for a while (A8).</summary>
    DeadCodeGoesOn,
    /// <summary>A PACT fails and runs again, marked (A4).</summary>
    PactRunsAgain,
    /// <summary>Its method is marked from then on (A1).</summary>
    MethodMarked,
    /// <summary>An ACT aborts by itself; its answer waits (H7).</summary>
    ActAbortedItself,
    /// <summary>An ACT that met a lock begins again when its holder has ended (W2).</summary>
    ActRepeatedAfterEnd,
    /// <summary>... after a pause (W2).</summary>
    ActRepeatedLater,
    /// <summary>... at once (W2).</summary>
    ActRepeatedAtOnce,
    /// <summary>An ACT's own abort that waited is overruled by the commit order (H5, A5).</summary>
    ActOverridden,
    /// <summary>An ACT that died by itself is told that it is removed.</summary>
    ActRemovedAfterDeath,
    /// <summary>A PACT's attempt is removed while it runs or waits for its batch (A5).</summary>
    PactAttemptRemoved,
    /// <summary>A PACT keeps others waiting: its method counts as slow (W4).</summary>
    SlowNoticed,
    /// <summary>One of its kind that has not begun leaves its batch (W4).</summary>
    SlowShed,
    /// <summary>... but has begun meanwhile.</summary>
    SlowShedTooLate,
    /// <summary>Somebody waits behind an attempt whose code runs (W4).</summary>
    WaiterFound,
    /// <summary>An attempt kept others waiting too long (W4).</summary>
    TurnBoundHit,
    /// <summary>The deadline passes before a PACT has begun.</summary>
    DeadlineInLine,
    /// <summary>... between two attempts of an ACT, or before the first.</summary>
    DeadlineBetweenAttempts,
    /// <summary>... while an attempt runs.</summary>
    DeadlineWhileRunning,
    /// <summary>... after the root has ended: in doubt.</summary>
    DeadlineAfterEnd,
    /// <summary>The caller goes away before the request has begun.</summary>
    CallerLeftInLine,
    /// <summary>The caller goes away when it has begun, which changes nothing.</summary>
    CallerLeftTooLate,

    // ---- door and idempotency (I1 to I4)

    /// <summary>The worker takes no request now.</summary>
    RequestRefused,
    /// <summary>Too much is under way.</summary>
    RequestOverloaded,
    /// <summary>A PACT is let in.</summary>
    PactAdmitted,
    /// <summary>An ACT is let in.</summary>
    ActAdmitted,
    /// <summary>A request joins one of the same id that is under way (I2).</summary>
    IdJoined,
    /// <summary>... whose answer does not come in time.</summary>
    IdJoinGivenUp,
    /// <summary>The id has an outcome (I2).</summary>
    IdKnown,
    /// <summary>... which is read from the log (I3).</summary>
    OutcomeFromLog,
    /// <summary>... which was copied out of the log (I3).</summary>
    OutcomeFromStore,
    /// <summary>... which cannot be read now.</summary>
    OutcomeUnreachable,
    /// <summary>An id is looked for among the outcomes of earlier lives before it is numbered (I2).</summary>
    ArchiveAsked,
    /// <summary>... and found.</summary>
    ArchiveKnew,
    /// <summary>... and the store does not answer.</summary>
    ArchiveUnreachable,
    /// <summary>A request is answered in doubt.</summary>
    InDoubtAnswered,
    /// <summary>... but its answer was quicker.</summary>
    InDoubtTooLate,
    /// <summary>The outcome of a request comes that was answered in doubt.</summary>
    InDoubtResolved,
    /// <summary>The worker ends: a request that had not begun is certainly not executed.</summary>
    GivenUpUnbegun,
    /// <summary>The worker ends: a request that had begun is in doubt.</summary>
    GivenUpInDoubt,
    /// <summary>The worker is asked to stop, and everybody is answered.</summary>
    Drained,
    /// <summary>... and somebody is not answered in time.</summary>
    StoppedUndrained,

    // ---- log, checkpoints, memory (L5 to L8)

    /// <summary>A group of records is sent.</summary>
    GroupSent,
    /// <summary>... of several records.</summary>
    GroupOfMany,
    /// <summary>The epoch alone is checked: what only read is answered (L5).</summary>
    BarrierSent,
    /// <summary>A record that is too much for its group begins the next one (L6).</summary>
    RecordMoved,
    /// <summary>The log has taken it.</summary>
    GroupAppended,
    /// <summary>The log had it already (L6).</summary>
    GroupAlreadyThere,
    /// <summary>Nobody knows what became of a group: the same bytes go out again (L6).</summary>
    AppendUnknown,
    /// <summary>The log refuses; the same bytes go out again (L6).</summary>
    AppendRefused,
    /// <summary>The log takes again.</summary>
    OutageEnded,
    /// <summary>The writer is fenced (L6).</summary>
    Fenced,
    /// <summary>The probe of the log gets no answer.</summary>
    ProbeUnanswered,
    /// <summary>Changes are about to be checkpointed (L8).</summary>
    CheckpointStarted,
    /// <summary>A checkpoint goes out in several calls.</summary>
    FoldedInPart,
    /// <summary>Outcomes are copied out of the log (I3).</summary>
    OutcomesCopied,
    /// <summary>The log is trimmed (L8).</summary>
    Trimmed,
    /// <summary>A checkpoint fails and is tried again.</summary>
    FoldFailed,
    /// <summary>A checkpoint is fenced: the worker ends.</summary>
    FoldFenced,
    /// <summary>A checkpoint covers versions that are stored already, and has no effect (L7).</summary>
    FoldRepeated,
    /// <summary>An actor's stored state is loaded.</summary>
    ActorLoaded,
    /// <summary>... once more, because the store did not answer.</summary>
    LoadRepeated,
    /// <summary>An idle actor leaves memory (L8).</summary>
    ActorEvicted,
    /// <summary>An idle actor stays because its last change is not checkpointed (L8).</summary>
    ActorNotFolded,

    // ---- recovery (R1, R4)

    /// <summary>A worker opens a log that nobody had.</summary>
    RecoveredNew,
    /// <summary>It opens one of which everything is checkpointed and trimmed.</summary>
    RecoveredEmpty,
    /// <summary>It reads records and checkpoints them (R4).</summary>
    RecoveredRecords,
    /// <summary>... behind a checkpoint.</summary>
    RecoveredBehindCheckpoint,
    /// <summary>... in several parts.</summary>
    RecoveryFoldedInParts,
    /// <summary>Another one opens the log meanwhile.</summary>
    RecoveryFenced,
    /// <summary>The store refuses a checkpoint: the worker begins again.</summary>
    RecoveryRefused,
    /// <summary>A damaged record is found.</summary>
    DamageFound,
    /// <summary>The numbers of the new life are durable before one is used (R1).</summary>
    NumbersKept,
    /// <summary>Outcomes of earlier lives are known again (I2).</summary>
    OutcomesRecovered,
}
