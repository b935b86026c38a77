namespace Snapper.Judging.Serializability;

/// <summary>
/// What can be wrong with a history: first what single reads show, then Adya's cycles from the worst to the mildest. A cycle is filed under
/// the first of these names that fits. The <c>RealTime</c> ones need at least one edge "was acknowledged before the other was invoked":
/// such a history is serializable perhaps, but not strictly.
/// </summary>
public enum AnomalyKind
{
    /// <summary>A read returned the same element twice, or one write made two versions: it took effect more than once.</summary>
    DuplicateAppend,

    /// <summary>An acknowledged append or write is missing from a read that was invoked after the acknowledgement, and nobody ever saw it.</summary>
    LostAppend,

    /// <summary>
    /// An in-doubt transaction happened in part: somebody saw one of its appends, and a read invoked after that misses another one, which nobody ever saw.
    /// </summary>
    TornTransaction,

    /// <summary>A read returned an element that nobody appended, or a version that nobody made.</summary>
    PhantomAppend,

    /// <summary>G1a: a committed transaction, or an abort that rests on what was read, has read what an aborted one had appended or written.</summary>
    AbortedRead,

    /// <summary>G1b: a transaction read some of another one's appends to a key but not the last, or a value that its writer overwrote.</summary>
    IntermediateRead,

    /// <summary>A version of a register was read with another value than its writer wrote.</summary>
    WrongValue,

    /// <summary>A transaction did not see its own appends, saw them too early or in another order, or two of its reads of one key differ by more than its own appends.</summary>
    Internal,

    /// <summary>Two reads of one key, neither a prefix of the other: there is no single order of versions. For registers: two transactions made the same version.</summary>
    IncompatibleOrder,

    /// <summary>G0, write cycle: only write-write edges.</summary>
    G0,

    /// <summary>G1c, circular information flow: write-write and write-read edges.</summary>
    G1c,

    /// <summary>G-single, for example read skew or a lost update: exactly one anti-dependency (read-write) edge.</summary>
    GSingle,

    /// <summary>G2, for example write skew: two or more anti-dependency edges. All operations name their keys, so this is Adya's G2-item.</summary>
    G2,

    /// <summary>G0 with real-time edges.</summary>
    G0RealTime,

    /// <summary>G1c with real-time edges: a read of the future.</summary>
    G1cRealTime,

    /// <summary>G-single with real-time edges, for example a stale read.</summary>
    GSingleRealTime,

    /// <summary>G2 with real-time edges.</summary>
    G2RealTime,
}
