using Dapr.Actors;
using Dapr.Actors.Client;
using Snapper.Actors.Generated;

namespace Snapper.DaprCompatibility;

/// <summary>
/// Makes proxies whose calls are parts of the running transaction, by the names of <c>IActorProxyFactory</c> and of
/// <c>ActorProxy</c> of Dapr's SDK. Options of proxies are not heeded: calls do not leave the process, or go to another
/// worker by the system's own way.
/// </summary>
public sealed class TransactionProxies : IActorProxyFactory
{
    private readonly TransactionalDaprActor _actor;

    internal TransactionProxies(TransactionalDaprActor actor) => _actor = actor;

    /// <summary>This object.</summary>
    public TransactionProxies DefaultProxyFactory => this;

    /// <summary>A proxy of an interface.</summary>
    /// <param name="actorId">The actor's id.</param>
    /// <param name="actorType">The actor's type.</param>
    /// <param name="options">Is not heeded.</param>
    public TActorInterface CreateActorProxy<TActorInterface>(
        ActorId actorId, string actorType, ActorProxyOptions? options = null)
        where TActorInterface : IActor
    {
        ArgumentNullException.ThrowIfNull(actorId);
        return ActorProxies.Create<TActorInterface>(_actor.Calls, actorType, actorId.GetId());
    }

    /// <summary>A proxy of an interface that is known at run time alone.</summary>
    /// <param name="actorId">The actor's id.</param>
    /// <param name="actorInterfaceType">The interface; an actor class of the same application implements it.</param>
    /// <param name="actorType">The actor's type.</param>
    /// <param name="options">Is not heeded.</param>
    public object CreateActorProxy(
        ActorId actorId, Type actorInterfaceType, string actorType, ActorProxyOptions? options = null)
    {
        ArgumentNullException.ThrowIfNull(actorId);
        return ActorProxies.Create(actorInterfaceType, _actor.Calls, actorType, actorId.GetId());
    }

    /// <summary>As <see cref="CreateActorProxy{TActorInterface}"/>.</summary>
    /// <param name="actorId">The actor's id.</param>
    /// <param name="actorType">The actor's type.</param>
    /// <param name="options">Is not heeded.</param>
    public TActorInterface Create<TActorInterface>(
        ActorId actorId, string actorType, ActorProxyOptions? options = null)
        where TActorInterface : IActor => CreateActorProxy<TActorInterface>(actorId, actorType, options);

    /// <summary>As <see cref="CreateActorProxy(ActorId, Type, string, ActorProxyOptions?)"/>.</summary>
    /// <param name="actorId">The actor's id.</param>
    /// <param name="actorInterfaceType">The interface; an actor class of the same application implements it.</param>
    /// <param name="actorType">The actor's type.</param>
    /// <param name="options">Is not heeded.</param>
    public object Create(
        ActorId actorId, Type actorInterfaceType, string actorType, ActorProxyOptions? options = null) =>
        CreateActorProxy(actorId, actorInterfaceType, actorType, options);

    /// <summary>A proxy whose methods are called by their names.</summary>
    /// <param name="actorId">The actor's id.</param>
    /// <param name="actorType">The actor's type.</param>
    /// <param name="options">Is not heeded.</param>
    public TransactionProxy Create(ActorId actorId, string actorType, ActorProxyOptions? options = null)
    {
        ArgumentNullException.ThrowIfNull(actorId);
        return new TransactionProxy(_actor.Calls, actorId, actorType);
    }

    // The SDK's untyped proxy cannot be derived from: its calls always leave the transaction.
    Dapr.Actors.Client.ActorProxy IActorProxyFactory.Create(
        ActorId actorId, string actorType, ActorProxyOptions? options) =>
        throw new NotSupportedException(
            "An untyped ActorProxy of Dapr's SDK leaves the transaction: take ActorProxy.Create or ProxyFactory.Create "
            + "of the base class, which gives a TransactionProxy, or a typed proxy.");
}
