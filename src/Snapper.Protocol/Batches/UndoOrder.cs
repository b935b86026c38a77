using Snapper.Protocol.Identity;

namespace Snapper.Protocol.Batches;

/// <summary>Transactions that an actor must remove (A5), in ascending order. Shared between actors; never changed.</summary>
public sealed record UndoOrder(IReadOnlyList<TransactionId> Tids);

/// <summary>A transaction that touched an actor after a removed one had written it (A5).</summary>
/// <param name="Tid">The victim.</param>
/// <param name="Bid">Its batch; none for an ACT.</param>
public readonly record struct Victim(TransactionId Tid, BatchId Bid);
