namespace Snapper.Actors.Generated;

/// <summary>Base of the generated proxies: an interface call becomes one call of <see cref="IActorCaller"/>.</summary>
public abstract class ActorProxy(IActorCaller caller, string actorType, string actorId)
{
    /// <summary>Calls a method with a result.</summary>
    protected Task<TResult> Call<TInput, TResult>(ActorMethodKey method, TInput input) =>
        caller.Call<TInput, TResult>(actorType, actorId, method, input);

    /// <summary>Calls a method without a result.</summary>
    protected Task CallVoid<TInput>(ActorMethodKey method, TInput input) =>
        caller.CallVoid(actorType, actorId, method, input);
}

/// <summary>Makes the proxy of one interface. Registered by generated code.</summary>
public delegate object ActorProxyFactory(IActorCaller caller, string actorType, string actorId);
