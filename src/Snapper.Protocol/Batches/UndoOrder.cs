using Snapper.Protocol.Identity;

namespace Snapper.Protocol.Batches;

/// <summary>Transactions that an actor must remove (A5). Shared between actors; never changed.</summary>
/// <param name="Removed">In ascending order of their numbers.</param>
public sealed record UndoOrder(IReadOnlyList<Victim> Removed)
{
    /// <summary>Their numbers, in ascending order.</summary>
    public IReadOnlyList<TransactionId> Tids { get; } = [.. Removed.Select(static victim => victim.Tid)];
}

/// <summary>A transaction that touched an actor after a removed one had written it (A5).</summary>
/// <param name="Tid">The victim.</param>
/// <param name="Bid">Its batch; none for an ACT.</param>
public readonly record struct Victim(TransactionId Tid, BatchId Bid);
