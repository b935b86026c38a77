using Snapper.Actors.Generated;

namespace Snapper.Actors;

/// <summary>
/// What a generated proxy calls. Inside a worker it sends the call to the actor within the running transaction; in the
/// typed client it notes the method and input of a transaction's root.
/// </summary>
public interface IActorCaller
{
    /// <summary>Calls a method that returns a value.</summary>
    Task<TResult> Call<TInput, TResult>(string actorType, string actorId, ActorMethodKey method, TInput input);

    /// <summary>Calls a method that returns nothing.</summary>
    Task CallVoid<TInput>(string actorType, string actorId, ActorMethodKey method, TInput input);
}
