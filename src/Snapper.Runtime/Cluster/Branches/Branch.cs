using Snapper.Protocol.Batches;
using Snapper.Protocol.Identity;
using Snapper.Runtime.Cluster.Wire;
using Snapper.Runtime.Execution;

namespace Snapper.Runtime.Cluster.Branches;

/// <summary>That a transaction's root is on another worker.</summary>
/// <param name="Root">That worker.</param>
/// <param name="Global">A PACT's global number; none for an ACT.</param>
internal sealed record BranchOrigin(Incarnation Root, TransactionId Global);

/// <summary>This worker's side of one PACT of a global batch, whether its root is here or not. Used by the first executor alone.</summary>
internal sealed class PactBranch(TransactionId global)
{
    /// <summary>Global number.</summary>
    public TransactionId Global { get; } = global;

    /// <summary>As the master sent it; null: its part has not come yet.</summary>
    public GlobalMember? Member { get; set; }

    /// <summary>Ticket of this worker; null as long as the part has not come.</summary>
    public PactTicket? Ticket { get; set; }

    /// <summary>This worker's number of it; none until its part has a place.</summary>
    public TransactionId Tid { get; set; }

    /// <summary>This worker's batch.</summary>
    public BatchId Bid { get; set; }

    /// <summary>The attempt, where the root is elsewhere; null before its first call here.</summary>
    public Attempt? Attempt { get; set; }

    /// <summary>What came before its part had a place, in the order of arrival.</summary>
    public List<(Incarnation From, WireMessage Message)>? Early { get; set; }
}
