namespace Snapper.Protocol.Messages;

/// <summary>Why a transaction ended without effects. The names on the wire are the lower-case ones of the HTTP contract.</summary>
public enum AbortReason : byte
{
    /// <summary>Not aborted.</summary>
    None = 0,

    /// <summary>The method threw or asked for it.</summary>
    Application = 1,

    /// <summary>Wait-die: a younger ACT met an older holder or waiter (W1).</summary>
    Conflict = 2,

    /// <summary>An ACT that waited where its waiting could close a ring of waits (H5).</summary>
    Deadlock = 3,

    /// <summary>An ACT that had finished stood both behind and ahead of batches in the wrong order (H5).</summary>
    Serializability = 4,

    /// <summary>A PACT touched an actor, a key or a call more than it declared.</summary>
    Undeclared = 5,

    /// <summary>Deadline of the request, or user code beyond the turn bound while others waited (W4).</summary>
    Timeout = 6,

    /// <summary>An actor was being moved.</summary>
    Migration = 7,

    /// <summary>A bounded queue was full.</summary>
    Overloaded = 8,

    /// <summary>The caller went away before the transaction was numbered.</summary>
    Cancelled = 9,

    /// <summary>The worker was lost, or stopped, before the decision.</summary>
    Failure = 10,

    /// <summary>Removed because a transaction it depended on was removed (A5); run again, never shown to a client.</summary>
    Undone = 11,
}
