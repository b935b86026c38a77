namespace Snapper.RuleModel;

/// <summary>The rules of docs/protocol.md as written, or with one of them broken. A model that does not find the broken ones proves nothing about the others.</summary>
public enum ModelVariant
{
    /// <summary>Nothing is broken.</summary>
    AsWritten,

    /// <summary>L2: a local batch is queued while an earlier global batch is only prepared.</summary>
    LocalIsFinalBeforeEarlierGlobal,

    /// <summary>L3: a global batch is prepared while an earlier local batch is not final.</summary>
    PreparesBeforeEarlierLocal,

    /// <summary>L5: answers leave before the flush that covers them.</summary>
    AnswerBeforeFlush,

    /// <summary>L5: only the answers of read-only ACTs leave before the flush.</summary>
    ReadOnlyAnswerBeforeFlush,

    /// <summary>L5: a participant's vote for an ACT leaves before its record is durable.</summary>
    VoteBeforeFlush,

    /// <summary>L5: a worker's acknowledgement of a global batch leaves before its record is durable.</summary>
    AcknowledgesBeforeFlush,

    /// <summary>R: participants of an ACT hear of the commit before the root's record is durable.</summary>
    ActDecisionBeforeFlush,

    /// <summary>R: workers hear of a global commit before the master's decision is durable.</summary>
    DecisionToldBeforeFlush,

    /// <summary>R: the root commits when the first vote is in: other participants are forgotten.</summary>
    OneVoteIsEnough,

    /// <summary>R: the master decides when the first acknowledgement is in.</summary>
    OneAcknowledgementIsEnough,

    /// <summary>R: the master decides a global batch while a smaller one is undecided.</summary>
    DecidesOutOfOrder,

    /// <summary>H1: a batch starts on an actor though its previous batch there has not arrived (the prevBid chain is dropped).</summary>
    BatchOvertakesMissingPredecessor,

    /// <summary>H1: a batch runs as if ACTs placed before it came after it.</summary>
    BatchIgnoresActs,

    /// <summary>H1: an ACT starts while the batch before its place still runs.</summary>
    ActStartsBeforeBatchExecuted,

    /// <summary>H1: an ACT starts before the outcomes of marked transactions ahead of it are known.</summary>
    ActStartsBeforeOutcomesAreKnown,

    /// <summary>H1: a later visit moves the ACT to the tail: batches that came between are treated as before it.</summary>
    EachVisitTakesANewPlace,

    /// <summary>H2: a participant that only read releases locks and places at its vote.</summary>
    ReleasesReadersAtVote,

    /// <summary>H2: a worker opens after a crash without the places and locks of ACTs that only read there and are in doubt.</summary>
    CrashReleasesReaders,

    /// <summary>H3: an ACT is queued, or voted for, before the batches ahead of it are final.</summary>
    EndsBeforeOrderIsFinal,

    /// <summary>H4: locks go when the ACT has run, before its record is queued.</summary>
    ReleasesBeforeQueueing,

    /// <summary>H4: the decision is not sent to participants that only read.</summary>
    DecisionSkipsReaders,

    /// <summary>H5: nobody compares floor and ceil.</summary>
    NoFloorCeilTest,

    /// <summary>H5: the test runs when an ACT moves (its floor), not when a batch arrives behind it (its ceil).</summary>
    TestOnlyAtVisits,

    /// <summary>H5: the test runs when a batch arrives (its ceil) or a lock wait starts, not at first visits (its floor).</summary>
    TestOnlyAtBatchArrivals,

    /// <summary>H5: the test does not run when a lock wait starts.</summary>
    NoTestAtLockWait,

    /// <summary>H5: the test does not run for those that go on waiting when a lock is granted to somebody else.</summary>
    NoTestAtGrants,

    /// <summary>H5: in a queue that serves who comes first, an upgrade goes ahead, and those whom it overtakes are not said to wait for it.</summary>
    QueueDoesNotTellOfUpgrades,

    /// <summary>H5: floor leaves out the floors of ACTs whose locks the ACT waits for.</summary>
    FloorIsNotInherited,

    /// <summary>H5: places where the ACT still waits to start do not bound it.</summary>
    WaitingPlacesDoNotCount,

    /// <summary>H6: ACTs over several workers commit when every participant finds floor &lt; ceil, without waiting for what is before them (the thesis' n + 1 checks).</summary>
    ChecksAndCommitsAtOnce,

    /// <summary>H6: no worker tells a root that a batch waits behind its ACT.</summary>
    NoBoundOnWaits,

    /// <summary>H6: a participant that has voted ends the ACT by itself when a batch waits too long.</summary>
    VoterEndsItself,

    /// <summary>H6: the bound aborts an ACT whose last vote is in.</summary>
    BoundAbortsAfterLastVote,

    /// <summary>H7: an abort by user code is answered while the batches ahead are not final.</summary>
    AbortAnsweredBeforeOrderIsFinal,

    /// <summary>H7: an ACT that aborts in user code gives its places and locks back at once.</summary>
    AbortReleasesAtOnce,

    /// <summary>W1: the older one dies, the younger one waits.</summary>
    WrongVictimInWaitDie,

    /// <summary>W1: a grant leaves waiters that are younger than the new holder.</summary>
    YoungerWaiterStays,

    /// <summary>W1: everybody waits for every lock.</summary>
    NobodyDies,

    /// <summary>W1, proposed: an ACT that holds locks waits for older ones as well.</summary>
    HoldersWaitForOlder,

    /// <summary>
    /// W1, proposed: an ACT that waits without locks counts as young as it is, not as what is ahead of it.
    /// </summary>
    FirstWaiterCountsAsYoung,

    /// <summary>W1: a shared lock is upgraded beside other readers.</summary>
    UpgradeIgnoresReaders,

    /// <summary>W3: a call that arrives after Abort is let in.</summary>
    LateCallAfterAbort,

    /// <summary>A1: actors pass the turn of a marked transaction before its outcome is known.</summary>
    MarkedTurnNotHeld,

    /// <summary>A2: reaching the count ends the root's own entry before its method has returned.</summary>
    CountEndsTheRoot,

    /// <summary>A2: ended for a transaction whose sub-batch has not arrived is dropped.</summary>
    UnknownTidIsDropped,

    /// <summary>A2: ended is not sent to actors that were declared and never called.</summary>
    EndedGoesToCalledActorsOnly,

    /// <summary>A4: an abort by the user code of an unmarked run is answered.</summary>
    AbortOfUnmarkedRunAnswered,

    /// <summary>A5: only the first actor's report of victims is heard.</summary>
    VictimsOfFirstUndoOnly,

    /// <summary>A5: only those that wrote after a removed write are reported.</summary>
    ReadersAreNoVictims,

    /// <summary>A5: ACTs that saw what is undone are not told.</summary>
    ActVictimsForgotten,

    /// <summary>A5: Undo goes to the actors touched so far, not to all declared ones.</summary>
    UndoGoesToTouchedActorsOnly,

    /// <summary>A5: as many writes as were removed are taken off the end, whoever made them.</summary>
    UndoRestoresByPosition,

    /// <summary>A5: completions from before an undo count after it.</summary>
    StaleCompletionsCount,

    /// <summary>A5: the coordinator keeps an actor's completions when Undo goes there.</summary>
    CompletionsAreNotForgotten,

    /// <summary>A5: a restore keeps the touches that it undid, and a later undo puts their images back.</summary>
    RestoreKeepsTouches,

    /// <summary>A5: a marked transaction that aborted after it saw what is undone is no victim.</summary>
    AbortedMarkedIsNoVictim,

    /// <summary>A5: the undo is done before the roots of ACT victims know of it.</summary>
    UndoDoneBeforeRootsAcknowledge,

    /// <summary>A7: a batch that was emptied gives up its node: messages of it are dropped.</summary>
    EmptiedBatchLeavesTheChain,

    /// <summary>A8: a removed attempt still writes into the state.</summary>
    RemovedAttemptGoesOn,

    /// <summary>A9: batches behind a lost one, on other workers too, go on.</summary>
    LossIsNotClosed,

    /// <summary>A9: ACTs placed behind a lost batch go on.</summary>
    ActsBehindALossGoOn,

    /// <summary>D2: a component is final when it is complete, whatever stands before it on its actors.</summary>
    FinalWithoutTheChain,

    /// <summary>D3: a record of several components folds them in another order than the chains have.</summary>
    RecordIgnoresTheChain,

    /// <summary>D5: completions carry no number of the undo, and those from before it count after it.</summary>
    CompletionsCarryNoUndo,

    /// <summary>D6: a marked PACT that only read what is undone is no victim.</summary>
    MarkedReadersAreNoVictims,

    /// <summary>D7: a local component is final though a part ahead on its actors is only prepared.</summary>
    LocalIgnoresPreparedParts,

    /// <summary>D7: a part is prepared when it is complete, whatever parts stand before it.</summary>
    PartsPreparedOutOfOrder,

    /// <summary>M5: an actor moves while records of its changes are not durable.</summary>
    MovesBeforeDurable,

    /// <summary>D8: with a part those that depend on it are taken back, later ones that do not stay.</summary>
    LaterPartsStay,

    /// <summary>D8: an undo takes back everything behind the failed component in the worker's order.</summary>
    UndoBySuffix,

    /// <summary>D8: what is behind a taken component on its actors, on other workers too, goes on.</summary>
    DependentsGoOn,
}
