namespace Snapper.Storage.Log;

/// <summary>A log that says which one it is, so that its worker notices another one, or an older copy, in its place.</summary>
public interface IIdentifiedLog : ITransactionLog
{
    /// <summary>Random name, given when the log was made and kept as long as it is; known after <see cref="ITransactionLog.Open"/>.</summary>
    string Id { get; }

    /// <summary>Every record below this number was acknowledged to this writer, or was there when it opened the log.</summary>
    long AcknowledgedNext { get; }

    /// <summary>Looks at the log without changing anything, the epoch least of all.</summary>
    /// <returns>Null: there is none.</returns>
    /// <exception cref="CorruptLogException">What is there cannot be understood.</exception>
    Task<LogStanding?> Look(CancellationToken cancellation);
}

/// <summary>What a log says about itself.</summary>
/// <param name="Id">Which one it is; empty: it was never given a name.</param>
/// <param name="Epoch">How often it was opened.</param>
/// <param name="NextSequence">Number of the next record; null: known only once it is open.</param>
public sealed record LogStanding(string Id, long Epoch, long? NextSequence);
