namespace Snapper.Runtime.Door;

/// <summary>Where requests enter a worker. Thread-safe.</summary>
public interface ITransactionService
{
    /// <summary>Runs a transaction, or joins or repeats the answer of one with the same id. Never throws for what a caller can cause.</summary>
    /// <param name="request">The request.</param>
    /// <param name="cancellation">
    /// The caller went away: a request that is not numbered yet is dropped (<c>cancelled</c>); one that runs goes on.
    /// </param>
    Task<TransactionEnvelope> Submit(TransactionRequest request, CancellationToken cancellation);

    /// <summary>
    /// What became of a request; null when nobody knows of it. A refusal (<see cref="RejectionKind.Unavailable"/>) when whoever may know of it cannot be asked now: no
    /// word about the request.
    /// </summary>
    Task<TransactionEnvelope?> Find(string id, CancellationToken cancellation);
}
