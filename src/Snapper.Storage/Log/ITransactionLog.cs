namespace Snapper.Storage.Log;

/// <summary>
/// One worker's durable stream of record groups, fenced by an epoch (L5, L6). Implementations: Redis, local file, memory.
/// A call either returns a status that is certain, or throws: then its effect is unknown and the caller sends the same again.
/// </summary>
public interface ITransactionLog : IAsyncDisposable
{
    /// <summary><c>redis</c>, <c>file</c> or <c>memory</c>.</summary>
    string Kind { get; }

    /// <summary>Raises the epoch, which fences every earlier writer, and tells where the log stands.</summary>
    Task<LogOpening> Open(CancellationToken cancellation);

    /// <summary>Adds a group of encoded records whose first has number <paramref name="firstSequence"/>, atomically and durably.</summary>
    Task<AppendResult> Append(long epoch, long firstSequence, int count, ReadOnlyMemory<byte> group, CancellationToken cancellation);

    /// <summary>Checks the epoch like an append of nothing (L5: read-only work alone).</summary>
    Task<AppendResult> CheckEpoch(long epoch, CancellationToken cancellation);

    /// <summary>The groups from the one that holds <paramref name="fromSequence"/> on, in order, to the end at the time of the call.</summary>
    /// <exception cref="CorruptLogException">A record in the middle fails its check; says where. A torn tail is not an error: it ends the log.</exception>
    IAsyncEnumerable<LogGroup> Read(long fromSequence, CancellationToken cancellation);

    /// <summary>Forgets whole groups below <paramref name="keepFrom"/> and stores the watermarks in the same step (L8).</summary>
    Task<AppendResult> Trim(long epoch, long keepFrom, LogWatermarks watermarks, CancellationToken cancellation);
}

/// <summary>Where a log stands after it was opened.</summary>
/// <param name="Epoch">The new epoch, above every earlier one.</param>
/// <param name="NextSequence">Number of the next record, 1 or more.</param>
/// <param name="FirstSequence">Number of the first record still there; equals <paramref name="NextSequence"/> when empty.</param>
/// <param name="Watermarks">As stored by the last trim.</param>
public sealed record LogOpening(long Epoch, long NextSequence, long FirstSequence, LogWatermarks Watermarks)
{
    /// <summary>How often a writer found that the log had lost what it had acknowledged, since it began.</summary>
    public long Losses { get; init; }
}

/// <summary>Highest numbers in the part of the log that was trimmed: numbering stays above them (R1).</summary>
public readonly record struct LogWatermarks(long Transaction, long ActCounter);

/// <summary>A group as it was appended.</summary>
public readonly record struct LogGroup(long FirstSequence, int Count, ReadOnlyMemory<byte> Records);

/// <summary>What became of an append or another fenced call.</summary>
public enum AppendStatus : byte
{
    /// <summary>Done and durable.</summary>
    Appended,

    /// <summary>It was there already: an earlier try had succeeded.</summary>
    AlreadyThere,

    /// <summary>Records before it are missing: the log lost data or the writer is wrong. Recover.</summary>
    Gap,

    /// <summary>Another writer has raised the epoch. Recover.</summary>
    Fenced,

    /// <summary>Certainly not done (out of memory, disk full, read-only replica); repeat unchanged later.</summary>
    Refused,

    /// <summary>
    /// The log was fenced on behalf of another worker (R4), whose own epoch is not the current one any more: it stops the take-over and drops its memory. Only a log
    /// that was opened so answers this.
    /// </summary>
    RescuerFenced,

    /// <summary>A checkpoint builds on a later version of a state than is stored, though the writer has lost nothing that it knows of: the log does not follow the states. Recover.</summary>
    Behind,
}

/// <summary>Status with words for people.</summary>
public readonly record struct AppendResult(AppendStatus Status, string Detail = "");

/// <summary>The log holds something that was never written so. The worker stops and says where.</summary>
public sealed class CorruptLogException(string message) : Exception(message);
