using Snapper.Actors.Generated;
using Snapper.Contracts;
using Snapper.Protocol;
using Snapper.Protocol.Batches;
using Snapper.Protocol.Commitment;
using Snapper.Protocol.Coordination;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;
using Snapper.Storage.Log.Records;

namespace Snapper.Runtime.Execution;

/// <summary>No other workers: everything is here, and nothing is said to anyone.</summary>
public sealed class NoPeers : IPeers
{
    public static NoPeers Instance { get; } = new();

    public bool IsAlone => true;

    public Incarnation Self => default;

    public Incarnation Master => default;

    public IOwnership? Ownership => null;

    public long Gains => 0;

    public int Forwarded => 0;

    public bool MayBeReplaced => false;

    public int MaxContentBytes => int.MaxValue;

    public ClusterStatusView? Status() => null;

    public bool IsListedHere(ActorKey actor) => true;

    public bool MayKnow(ActorKey root) => false;

    public Task<OutcomeRecord?> FindOutcome(string id, CancellationToken cancellation) =>
        Task.FromResult<OutcomeRecord?>(null);

    public bool TakesAct(Request request, Executor executor) => false;

    public bool TakesPact(PactTicket ticket, Request request) => false;

    public bool Withdraw(Request request) => false;

    public void OnRemoved(PactTicket ticket)
    {
    }

    public void GiveUpForwarded()
    {
    }

    public bool IsElsewhere(Attempt attempt, ActorKey actor, out Incarnation owner)
    {
        owner = default;
        return false;
    }

    public bool IsFull(Incarnation peer) => false;

    public Task Call<TInput, TResult>(CallFrame caller, Incarnation to, ActorKey target, ActorMethodKey method, TInput input) =>
        throw Alone();

    public void SendResult(CallFrame frame) => throw Alone();

    public void SendFailure(CallFrame frame, AbortInfo why) => throw Alone();

    public void Forget(Attempt attempt)
    {
    }

    public void TellRoot(Attempt attempt, AbortInfo why) => throw Alone();

    public void AbortElsewhere(Attempt attempt)
    {
    }

    public void OnBranchMessage(Attempt attempt, in Message message) => throw Alone();

    public void Send(in Output output) => throw Alone();

    public void Handle(Incarnation from, object message) => throw Alone();

    public void OnCommitMessage(in Message message)
    {
    }

    public void OnFinal(Batch part) => throw Alone();

    public void OnDecided(ActOutcome act, long sequence) => throw Alone();

    public void OnMarked(ActOutcome part) => throw Alone();

    private static ProtocolViolationException Alone() =>
        new("A worker that is alone has no part in a transaction of several.");
}
