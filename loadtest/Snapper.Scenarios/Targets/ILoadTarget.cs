using Snapper.Client.Messages;

namespace Snapper.Scenarios.Targets;

/// <summary>Who takes transactions: a running system, or what stands for one in a test. Thread-safe.</summary>
public interface ILoadTarget
{
    /// <summary>Runs a transaction. Every outcome is a reply.</summary>
    /// <param name="request">With an id.</param>
    /// <param name="cancellation">Ends the wait, with <see cref="OperationCanceledException"/>.</param>
    Task<TransactionReply> Submit(TransactionRequestMessage request, CancellationToken cancellation);

    /// <summary>What became of a transaction; null: it is not known there.</summary>
    /// <exception cref="HttpRequestException">Nobody answers.</exception>
    Task<TransactionReply?> Find(string id, CancellationToken cancellation);
}
