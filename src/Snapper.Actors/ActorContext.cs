using Snapper.Actors.Generated;
using Snapper.Protocol.Identity;

namespace Snapper.Actors;

/// <summary>
/// What a method may know and do besides its own computation. Every member throws
/// <see cref="TransactionDoomedException"/> once the attempt can no longer commit, and when it is used from a thread that
/// does not belong to the actor (after <c>Task.Run</c>, or after the worker gave up on a blocked method).
/// </summary>
public abstract class ActorContext : IActorCaller
{
    /// <summary>The actor the code runs on.</summary>
    public abstract ActorKey Actor { get; }

    /// <summary>Number of this attempt of the transaction.</summary>
    public abstract TransactionId Transaction { get; }

    /// <summary>The request's id: the caller's idempotency key, or a generated one. The same in every attempt.</summary>
    public abstract string RequestId { get; }

    /// <summary>The caller, where it is certain: <c>token:ann</c> for the token of that name, <c>app:shop</c> for that Dapr app; null: unknown.</summary>
    public abstract string? Caller { get; }

    /// <summary>W3C <c>traceparent</c> of the request; null when there is none.</summary>
    public abstract string? TraceParent { get; }

    /// <summary>Time at which this attempt began; the same for all its actors. Use it instead of the clock.</summary>
    public abstract DateTimeOffset UtcNow { get; }

    /// <summary>A new random id. Use it instead of <see cref="Guid.NewGuid"/>.</summary>
    public abstract Guid NewGuid();

    /// <summary>
    /// Waits, by the worker's clock. Use it instead of <see cref="Task.Delay(TimeSpan)"/>. The actor is not free meanwhile, and
    /// the time counts as the method's own: the turn bound ends it when others wait.
    /// </summary>
    /// <param name="delay">0 or more.</param>
    public abstract Task Delay(TimeSpan delay);

    /// <inheritdoc/>
    public abstract Task<TResult> Call<TInput, TResult>(string actorType, string actorId, ActorMethodKey method, TInput input);

    /// <inheritdoc/>
    public abstract Task CallVoid<TInput>(string actorType, string actorId, ActorMethodKey method, TInput input);

    /// <summary>The state to read; for an ACT after a shared lock. Null when the actor was never written.</summary>
    public abstract ValueTask<object?> ReadState();

    /// <summary>The state to change; for an ACT after an exclusive lock. Null when the actor was never written.</summary>
    public abstract ValueTask<object?> ReadStateForUpdate();

    /// <summary>Replaces the state. For an ACT the exclusive lock must be held (<see cref="ReadStateForUpdate"/> was awaited).</summary>
    public abstract void WriteState(object state);
}
