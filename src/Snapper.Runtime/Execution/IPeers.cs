using Snapper.Actors.Generated;
using Snapper.Contracts;
using Snapper.Protocol.Batches;
using Snapper.Protocol.Commitment;
using Snapper.Protocol.Coordination;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;
using Snapper.Storage.Log.Records;

namespace Snapper.Runtime.Execution;

/// <summary>
/// The other workers, as one worker needs them: what is theirs, and what is said to them. A worker that is alone has
/// <see cref="NoPeers"/>. Members are called from any thread unless they say where.
/// </summary>
public interface IPeers
{
    /// <summary>There are no others: all actors are this worker's.</summary>
    bool IsAlone { get; }

    /// <summary>This worker in this life; none when it is alone.</summary>
    Incarnation Self { get; }

    /// <summary>The master that this worker listens to; none: there is none, or it is not known yet.</summary>
    Incarnation Master { get; }

    /// <summary>What coordinators may number; null: everything.</summary>
    IOwnership? Ownership { get; }

    /// <summary>How often this worker has gained actors from others (I2).</summary>
    long Gains { get; }

    /// <summary>Requests of this worker's callers that others run.</summary>
    int Forwarded { get; }

    /// <summary>Another may own what this worker owned: the log is away, and cannot say so.</summary>
    bool MayBeReplaced { get; }

    /// <summary>Bytes of the largest input or result that a message to another worker can carry.</summary>
    int MaxContentBytes { get; }

    /// <summary>A view of what waits for others; null: the worker is alone.</summary>
    ClusterStatusView? Status();

    /// <summary>The directory gives an actor to this worker.</summary>
    bool IsListedHere(ActorKey actor);

    /// <summary>Another worker may know alone what a request of this root did.</summary>
    bool MayKnow(ActorKey root);

    /// <summary>The outcome of an id that another worker has copied out of its log; null: none has.</summary>
    /// <exception cref="IOException">One of them, which may know the id, cannot be read now.</exception>
    Task<OutcomeRecord?> FindOutcome(string id, CancellationToken cancellation);

    /// <summary>
    /// Takes an ACT that is about to begin and whose root is frozen, or is or was another worker's (M3, M7).
    /// </summary>
    /// <returns>False: it begins here.</returns>
    bool TakesAct(Request request, Executor executor);

    /// <summary>Takes a PACT that is to be numbered: its root is not here, or the master numbers it (M1).</summary>
    /// <returns>False: it is numbered here.</returns>
    bool TakesPact(PactTicket ticket, Request request);

    /// <summary>The time of a PACT is over, or its caller has left.</summary>
    /// <returns>False: it is this worker's to drop.</returns>
    bool Withdraw(Request request);

    /// <summary>A PACT was taken out of its batch.</summary>
    void OnRemoved(PactTicket ticket);

    /// <summary>Answers "in doubt" to all whose requests others run: the worker is over.</summary>
    void GiveUpForwarded();

    /// <summary>
    /// An ACT that is about to visit an actor: whether that is another worker's, or must not be entered here (M3).
    /// </summary>
    /// <param name="attempt">The ACT.</param>
    /// <param name="actor">The actor.</param>
    /// <param name="owner">Its owner; none while it is being moved.</param>
    bool IsElsewhere(Attempt attempt, ActorKey actor, out Incarnation owner);

    /// <summary>A worker takes less than it is sent: nothing new is begun that needs it.</summary>
    bool IsFull(Incarnation peer);

    /// <summary>Calls an actor of another worker; on the caller's executor.</summary>
    /// <returns>The task that the caller awaits.</returns>
    /// <exception cref="RemoteCallException">The call cannot be sent; the message says why.</exception>
    Task Call<TInput, TResult>(CallFrame caller, Incarnation to, ActorKey target, ActorMethodKey method, TInput input);

    /// <summary>A call that came from another worker has ended, with all calls under it; on its executor.</summary>
    void SendResult(CallFrame frame);

    /// <summary>As <see cref="SendResult"/>, of a call that has failed.</summary>
    void SendFailure(CallFrame frame, AbortInfo why);

    /// <summary>An attempt is over here: the results of its calls to others are dropped.</summary>
    void Forget(Attempt attempt);

    /// <summary>A branch must go, or has failed: the worker of its root ends the transaction.</summary>
    void TellRoot(Attempt attempt, AbortInfo why);

    /// <summary>Aborts an ACT on the workers that it has visited from here.</summary>
    void AbortElsewhere(Attempt attempt);

    /// <summary>The commit machine ends a branch; on the first executor.</summary>
    void OnBranchMessage(Attempt attempt, in Message message);

    /// <summary>An effect of a machine that is for the master or for another worker.</summary>
    void Send(in Output output);

    /// <summary>Handles what has come from another worker; on the first executor.</summary>
    void Handle(Incarnation from, object message);

    /// <summary>The commit machine is about to be stepped; on its executor.</summary>
    void OnCommitMessage(in Message message);

    /// <summary>A part of a global batch is final here; on the commit machine's executor.</summary>
    void OnFinal(Batch part);

    /// <summary>
    /// The record that commits an ACT of several workers is queued; on the commit machine's executor.
    /// </summary>
    void OnDecided(ActOutcome act, long sequence);

    /// <summary>The marker of a decided part is durable; on the commit machine's executor.</summary>
    void OnMarked(ActOutcome part);
}

/// <summary>
/// A call to another worker that has no result yet. Used by its caller's executor alone, once it is sent.
/// </summary>
public interface IRemoteCall
{
    /// <summary>Names it on this worker.</summary>
    long Id { get; }

    /// <summary>Its result has come; on the caller's executor.</summary>
    void OnResult(Executor executor, object result);
}

/// <summary>A call to another worker cannot be sent; the message goes on where "calls X: " ends.</summary>
public sealed class RemoteCallException(string message) : Exception(message);
