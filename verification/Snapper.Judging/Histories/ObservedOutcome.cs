namespace Snapper.Judging.Histories;

/// <summary>What a client knows about how its transaction ended.</summary>
public enum ObservedOutcome
{
    /// <summary>The system acknowledged the commit: every effect must be there, once.</summary>
    Committed,

    /// <summary>The system reported an abort: no effect may ever be seen.</summary>
    Aborted,

    /// <summary>
    /// The answer was lost, or the system said "in doubt". The transaction may have committed or not; it counts as committed once
    /// somebody has seen one of its appends, and its completion orders nothing in real time.
    /// </summary>
    Unknown,
}

/// <summary>How a transaction was run, for reports only: the rules are the same for all.</summary>
public enum ObservedMode
{
    /// <summary>Not said.</summary>
    Unspecified,

    /// <summary>With a declared access set.</summary>
    Pact,

    /// <summary>With nothing declared.</summary>
    Act,
}
