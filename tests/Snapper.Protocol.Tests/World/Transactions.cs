using System.Collections;
using Snapper.Protocol.Batches;
using Snapper.Protocol.Commitment;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;
using Snapper.Protocol.Scheduling;
using Snapper.Protocol.Transactions;

namespace Snapper.Protocol.Tests.World;

/// <summary>The state of an actor: a list that each write makes longer. It names its writers, so that every read can be judged.</summary>
internal sealed class Appended(Appended? before, Attempt writer)
{
    public Appended? Before { get; } = before;

    public Attempt Writer { get; } = writer;

    public int Length { get; } = before is null ? 1 : before.Length + 1;

    /// <summary>It is in a final record.</summary>
    public bool IsFinal { get; set; }
}

/// <summary>What became of a request.</summary>
internal enum Answer : byte
{
    None,
    Committed,
    Aborted,
}

/// <summary>A request of a client.</summary>
internal sealed class Request : Transaction
{
    public required int Index { get; init; }

    public required string Name { get; init; }

    public required CallScript Script { get; init; }

    /// <summary>Null for an ACT.</summary>
    public ActorAccess[]? Declared { get; init; }

    public bool Marked { get; init; }

    /// <summary>The coordinator that is asked for a number.</summary>
    public int Ring { get; init; }

    public Attempt? Attempt { get; set; }

    public Answer Answer { get; set; }

    public AbortReason Reason { get; set; }

    /// <summary>Step at which it was sent; 0: not yet.</summary>
    public long SentAt { get; set; }

    /// <summary>Step at which it was answered.</summary>
    public long AnsweredAt { get; set; }

    public bool IsPact => Declared is not null;
}

/// <summary>One attempt of a request.</summary>
/// <param name="acts">ACTs whose records are not queued, by tid.</param>
internal sealed class Attempt(
    Request request, TransactionId tid, BatchId bid, TransactionId age, int node, IDictionary acts)
    : TransactionAttempt(tid, bid, age)
{
    public Request Request { get; } = request;

    public override Transaction Transaction => Request;

    /// <summary>Where its root is.</summary>
    public int Node { get; } = node;

    public int Number { get; } = request.Attempts + 1;

    public AbortReason Reason => AbortCause?.Reason ?? AbortReason.None;

    public Frame? Root { get; set; }

    public int[] Made { get; } = new int[request.Declared?.Length ?? 0];

    public List<ActorKey> Participants { get; } = [];

    /// <summary>Other workers that it has visited.</summary>
    public Func<Incarnation[]> Visited { get; set; } = static () => [];

    public override ReadOnlySpan<int> Calls => Made;

    public override bool IsDistributed => Visited().Length > 0;

    public override bool IsUndecided => acts.Contains(Tid);

    /// <summary>What it saw of others' writes: actor and state.</summary>
    public List<(int Actor, Appended? Seen)> Reads { get; } = [];

    public List<(int Actor, Appended Written)> Writes { get; } = [];

    /// <summary>The lowest batch known to stand behind it.</summary>
    public BatchId Ceil { get; set; }

    public override IReadOnlyList<ActorKey> TakeParticipants() => Participants.ToArray();

    public override Incarnation[] TakeVisited() => Visited();

    public override bool TryTakeBack()
    {
        acts.Remove(Tid);
        return true;
    }

    public override string ToString() => Number <= 1 ? Request.Name : $"{Request.Name}#{Number}";
}

/// <summary>A call as the machines see it, and how far its script is.</summary>
internal sealed class Frame(Attempt attempt, CallScript script, int actor, Frame? caller) : IActorCall
{
    public Attempt Attempt { get; } = attempt;

    public CallScript Script { get; } = script;

    /// <summary>Index of its actor.</summary>
    public int Actor { get; } = actor;

    public Frame? CallerFrame { get; } = caller;

    /// <summary>The next step.</summary>
    public int Position { get; set; }

    /// <summary>The lock that it waits for.</summary>
    public LockMode WaitsFor { get; set; }

    /// <summary>The call that it waits for.</summary>
    public Frame? Awaits { get; set; }

    public int Children { get; set; }

    public bool HasReturned { get; set; }

    public bool HasEnded { get; set; }

    public int LastSeen { get; set; }

    public TransactionId Tid => Attempt.Tid;

    public BatchId Bid => Attempt.Bid;

    public TransactionId Age => Attempt.Age;

    public bool IsAlive => Attempt.IsAlive;

    public BatchId Ceil { get => Attempt.Ceil; set => Attempt.Ceil = value; }

    public IActorCall? Caller => CallerFrame;

    public IActorCall? Below { get; set; }

    public Visit? Visit { get; set; }

    public override string ToString() => $"{Attempt}@{Script.Actor}";
}
