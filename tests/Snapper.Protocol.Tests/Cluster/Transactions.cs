using System.Collections;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Scheduling;
using Snapper.Protocol.Tests.World;
using Snapper.Protocol.Transactions;

namespace Snapper.Protocol.Tests.Cluster;

/// <summary>What one worker knows of one attempt: the root's worker and every other that it visits have one each. Nothing in it is seen by another worker.</summary>
internal sealed class Branch(Request request, WorkerNode worker, int root, Attempt? attempt = null) : Transaction
{
    public Request Request { get; } = request;

    public WorkerNode Worker { get; } = worker;

    /// <summary>Worker of the root.</summary>
    public int Root { get; } = root;

    /// <summary>Of a root what its machine knows of it. Of another branch whose reads and writes these are: the judge's view, which machines never see; null until a call has come.</summary>
    public Attempt? Attempt { get; set; } = attempt;

    public bool IsRoot => Root == Worker.Index;

    /// <summary>Global number of a PACT over several workers; else none.</summary>
    public TransactionId GlobalTid { get; set; }

    /// <summary>Number here; none while the part of a global batch has no place yet.</summary>
    public TransactionId Tid { get; set; }

    public BatchId Bid { get; set; }

    /// <summary>Of a branch that is no root: its root, or an undo, has ended it.</summary>
    public bool IsDead { get; set; }

    public bool IsAlive => IsRoot ? Attempt!.IsAlive : Part?.IsAlive ?? !IsDead;

    /// <summary>What its machine knows of an ACT's branch that is no root.</summary>
    public Part? Part { get; set; }

    /// <summary>An ACT's root has finished: this branch is the commit machine's.</summary>
    public bool IsSealed => IsRoot ? Attempt!.RootEnded : Part?.IsPrepared == true;

    /// <summary>Its actors of this worker (ACT).</summary>
    public List<ActorKey> Participants { get; } = attempt?.Participants ?? [];

    /// <summary>Other workers that it has called, or that its calls have visited.</summary>
    public SortedSet<int> Visited { get; } = [];

    /// <summary>Calls made from here, by index of the declaration (PACT).</summary>
    public int[] Calls { get; } = attempt?.Made ?? new int[request.Declared?.Length ?? 0];

    public override string ToString() => $"{Request.Name}#{Request.Attempts}@{Worker.Name}";
}

/// <summary>A worker's branch of a PACT of a global batch, as the table has it.</summary>
internal sealed class PactBranch(TransactionId global) : PactBranchState<Action>(global);

/// <summary>A branch of an ACT whose root is on another worker.</summary>
internal sealed class Part(Branch branch, IDictionary acts) : TransactionAttempt(branch.Tid, default, default)
{
    public override Transaction Transaction => branch;

    public override bool IsDistributed => true;

    public override bool IsUndecided => acts.Contains(Tid);

    public override ReadOnlySpan<int> Calls => default;

    public override IReadOnlyList<ActorKey> TakeParticipants() => branch.Participants.ToArray();

    public override Incarnation[] TakeVisited() => [.. branch.Visited.Select(branch.Worker.IncarnationOf)];

    public override bool TryTakeBack()
    {
        var was = IsUndecided;
        acts.Remove(Tid);
        return was;
    }
}

internal sealed class Tombstones : HashSet<TransactionId>, ITombstones
{
    bool ITombstones.MayContain(TransactionId tid) => Contains(tid);

    void ITombstones.Add(TransactionId tid) => Add(tid);
}

/// <summary>A call between actors of any workers.</summary>
internal sealed class ClusterFrame(Branch branch, CallScript script, int actor, ClusterFrame? caller, object token) : IActorCall
{
    public Branch Branch { get; } = branch;

    public CallScript Script { get; } = script;

    public int Actor { get; } = actor;

    public ClusterFrame? CallerFrame { get; } = caller;

    /// <summary>Names the call where it was made.</summary>
    public object Token { get; } = token;

    /// <summary>Calls made by it and by all under it that have ended, on every worker (PACT). Exact at its end; a worker's own count would miss what others made, or count twice what came back.</summary>
    public int[] Calls { get; } = new int[branch.Calls.Length];

    public int Position { get; set; }

    public LockMode WaitsFor { get; set; }

    /// <summary>The call that it waits for.</summary>
    public object? Awaits { get; set; }

    public int Children { get; set; }

    public bool HasReturned { get; set; }

    public bool HasEnded { get; set; }

    public int LastSeen { get; set; }

    public TransactionId Tid => Branch.Tid;

    public BatchId Bid => Branch.Bid;

    public TransactionId Age => Branch.Attempt!.Age;

    public bool IsAlive => Branch.IsAlive;

    public BatchId Ceil { get; set; }

    public IActorCall? Caller => CallerFrame;

    public IActorCall? Below { get; set; }

    public Visit? Visit { get; set; }

    public override string ToString() => $"{Branch}.{Script.Actor}";
}
