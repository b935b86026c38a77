using Snapper.Cluster.Wire;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Transactions;
using Snapper.Runtime.Execution;

namespace Snapper.Cluster.Branches;

/// <summary>This worker's branch of one PACT of a global batch. Used by the first executor alone.</summary>
internal sealed class PactBranch(TransactionId global) : PactBranchState<(Incarnation From, WireMessage Message)>(global)
{
    /// <summary>The attempt, where the root is elsewhere; null before its first call here.</summary>
    public Attempt? Attempt { get; set; }
}
