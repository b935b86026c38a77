namespace Snapper.Storage.Log.Records;

/// <summary>What a record is, as stored in its header. Numbers are for good: an old log keeps its meaning.</summary>
internal enum RecordKind : byte
{
    LocalBatchCommitted = 1,
    ActCommitted = 2,

    // Several workers (protocol R, M5). A reader that does not know a kind stops; it must not skip.
    Prepared = 3,
    Decision = 4,
    Decided = 5,
    ActPrepared = 6,
    ActEnded = 7,
    MovedIn = 8,

    /// <summary>An <see cref="Records.ActCommitted"/> with participants on other workers.</summary>
    ActCommittedWithOthers = 9,

    /// <summary>An outcome that was copied out of the log; only in a state store, never in a stream.</summary>
    StoredOutcome = 64,
}
