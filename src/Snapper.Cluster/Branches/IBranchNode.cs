using Snapper.Cluster.Node;
using Snapper.Cluster.Recovering;
using Snapper.Protocol.Directory;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;
using Snapper.Runtime.Execution;

namespace Snapper.Cluster.Branches;

/// <summary>A node with its sides of transactions that touch other workers.</summary>
internal interface IBranchNode : INode
{
    /// <summary>Finds out what became of what was prepared.</summary>
    InDoubtResolver Doubts { get; }

    /// <summary>Calls to and from other workers.</summary>
    RemoteCalls Calls { get; }

    /// <summary>Parts of global batches, and their transactions here.</summary>
    PactBranches Pacts { get; }

    /// <summary>ACTs that other workers take part in.</summary>
    ActBranches Acts { get; }

    /// <summary>What was decided on them here, as long as others may ask.</summary>
    ActDecisions Decisions { get; }

    /// <summary>PACTs over several workers whose roots are here.</summary>
    GlobalRequests Requests { get; }

    /// <summary>M4, M7: an actor moves only when no ACT is in on it.</summary>
    /// <param name="attempt">It calls the actor.</param>
    /// <param name="actor">Of this worker, or not.</param>
    /// <param name="state">
    /// As it was just read, ahead of the attempt. It is read again behind it: the actor may have come here in between, and
    /// another branch been let in.
    /// </param>
    void RequireNotIn(Attempt attempt, ActorKey actor, OwnershipState state);

    /// <summary>Checks now and then what waits for which ACT, while something does (W4, H6).</summary>
    void KeepTicking();

    /// <summary>A machine of this worker speaks to the master.</summary>
    /// <returns>True: it was the answer to this worker's own undo (A9).</returns>
    bool TakesUndoAnswer(in Message message);
}
