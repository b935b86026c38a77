namespace Snapper.Protocol.Transactions;

/// <summary>
/// What the shell does after a step of a <see cref="TransactionMachine"/> or a <see cref="BranchMachine"/>, in this
/// order. The messages of the step are sent behind <see cref="AbortElsewhere"/>.
/// </summary>
[Flags]
public enum AttemptEffects
{
    /// <summary>Nothing but the messages of the step.</summary>
    None = 0,

    /// <summary>Of a branch: its root is told why it cannot stay.</summary>
    TellRoot = 1,

    /// <summary>
    /// The attempt is over here: its code is watched no more, and calls that it made elsewhere are forgotten.
    /// </summary>
    Ended = 2,

    /// <summary>The attempt was aborted, for <see cref="TransactionAttempt.AbortCause"/>: it is counted.</summary>
    Aborted = 4,

    /// <summary>The commit machine has the PACT run again, marked, under a new number (A4, A5).</summary>
    RunsAgain = 8,

    /// <summary>The other workers that the ACT has visited from here are told that it is aborted.</summary>
    AbortElsewhere = 16,

    /// <summary>The locks of the attempt are given back: those who wait for that begin again (W2).</summary>
    LocksGone = 32,

    /// <summary>The attempt of an ACT is taken back here, and wherever it went from here.</summary>
    TakenBack = Ended | AbortElsewhere | LocksGone,

    /// <summary>
    /// The attempt was aborted just now: the shell says so to <see cref="TransactionMachine.Aborted"/>, behind what
    /// its root's executor has to do.
    /// </summary>
    AbortRequested = 64,

    /// <summary>The ACT is run again, as <see cref="Transactions.Retry"/> says (W2).</summary>
    Retry = 128,

    /// <summary>
    /// The transaction is answered: aborted for <see cref="Transaction.Abort"/>. Nothing of it can commit any more,
    /// and the answer relies on nothing in the log.
    /// </summary>
    Answer = 256,

    /// <summary>The transaction is answered as in doubt.</summary>
    InDoubt = 512,
}
