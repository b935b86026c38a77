namespace Snapper.Cluster.Wire;

/// <summary>What one worker tells another. Numbers are for good: two versions may run side by side.</summary>
internal enum WireKind : byte
{
    // ---- calls of a transaction

    /// <summary>A method call on an actor of the receiver.</summary>
    Call = 1,

    /// <summary>A call's end, with its result or its failure.</summary>
    Result = 2,

    /// <summary>To the worker of the root: a branch has failed, or must go.</summary>
    BranchFailed = 3,

    /// <summary>To a worker of a PACT: it has ended on an actor there (A2).</summary>
    BranchEnded = 4,

    // ---- two-phase commit of ACTs

    /// <summary>To a worker of an ACT: vote.</summary>
    ActPrepare = 10,

    /// <summary>To the worker of the root: a vote.</summary>
    ActVoted = 11,

    /// <summary>To a worker of an ACT: the decision.</summary>
    ActDecided = 12,

    /// <summary>To a worker of an ACT: it is aborted, and ends there and wherever it went from there.</summary>
    ActAbort = 13,

    /// <summary>To the worker of the root: the marker of a decided ACT is durable.</summary>
    ActMarked = 14,

    /// <summary>To the worker of the root: where an ACT stands among the global batches.</summary>
    ActBounds = 15,

    /// <summary>To the worker of the root: others wait for long behind an ACT.</summary>
    ActLongWait = 16,

    // ---- to the master

    /// <summary>A PACT over several workers asks for a number.</summary>
    NewPact = 20,

    /// <summary>It is given up, if it has none.</summary>
    Withdraw = 21,

    /// <summary>One of the short messages of <see cref="Snapper.Protocol.Global.GlobalMessageKind"/>.</summary>
    ToMaster = 22,

    /// <summary>No batch of an earlier master is open here any more.</summary>
    Settled = 23,

    /// <summary>To a new master: what earlier ones had decided for the sender has durable markers.</summary>
    Marked = 24,

    // ---- what is in doubt

    /// <summary>What became of something that was prepared.</summary>
    AskVerdict = 25,

    /// <summary>That.</summary>
    Verdict = 26,

    // ---- from the master

    /// <summary>A worker's part of a global batch.</summary>
    Part = 30,

    /// <summary>One of the short messages of <see cref="Snapper.Protocol.Global.GlobalOutputKind"/>.</summary>
    FromMaster = 31,

    // ---- migration

    /// <summary>To the master: number nothing more for what a plan moves, or again.</summary>
    Freeze = 35,

    /// <summary>The master's answer.</summary>
    Frozen = 36,

    /// <summary>Entries of the directory that have changed.</summary>
    Moved = 37,

    // ---- requests

    /// <summary>A request that came to the sender and belongs to the receiver.</summary>
    Submit = 40,

    /// <summary>What became of it.</summary>
    Submitted = 41,

    /// <summary>What is known of a request's id.</summary>
    FindOutcome = 42,

    // ---- placement

    /// <summary>What the sender's transactions touched lately.</summary>
    Load = 45,
}
