using Dapr.Actors;
using Snapper.Actors;

namespace Snapper.DaprCompatibility;

/// <summary>
/// The members of <see cref="DaprCompatibility.Actor"/>, from which actor classes derive. An object lives for one call
/// of one method: fields do not outlive it, and <see cref="OnActivateAsync"/> runs before each.
/// </summary>
public abstract partial class TransactionalDaprActor : TransactionalActor<NamedStates>
{
    private readonly TransactionalStates _states;
    private TransactionProxies? _proxies;
    private ILogger? _logger;
    private ActorId? _id;

    internal TransactionalDaprActor(ActorHost host)
    {
        ArgumentNullException.ThrowIfNull(host);
        Host = host;
        host.Attach(this);
        _states = new TransactionalStates(this, host.JsonSerializerOptions);
        StateManager = _states;
        Calls = new SavingCaller(this, _states);
    }

    /// <summary>Id of this actor within its type.</summary>
    public new ActorId Id => _id ??= new ActorId(base.Id);

    /// <summary>What the constructor was given.</summary>
    public ActorHost Host { get; }

    /// <summary>The actor's named states, as the transaction sees them.</summary>
    public IActorStateManager StateManager { get; protected set; }

    /// <summary>Calls other actors within the transaction.</summary>
    public TransactionProxies ProxyFactory => _proxies ??= new TransactionProxies(this);

    /// <summary>
    /// The same, under the name of the SDK's class: <c>ActorProxy.Create&lt;IStock&gt;(id, "Stock")</c> inside an actor
    /// calls within the transaction.
    /// </summary>
    protected TransactionProxies ActorProxy => ProxyFactory;

    /// <summary>Logs under the name of the class.</summary>
    protected ILogger Logger => _logger ??= Host.LoggerFactory.CreateLogger(GetType());

    internal ActorContext Transaction => Context;

    internal SavingCaller Calls { get; }

    /// <summary>Another actor (or this one), called within the same transaction.</summary>
    /// <param name="id">
    /// Its id; its type is that of the class that implements the interface, or the interface's name.
    /// </param>
    protected new TActor Actor<TActor>(string id)
        where TActor : class => Snapper.Actors.Generated.ActorProxies.Create<TActor>(Calls, id);

    /// <summary>As <see cref="Actor{TActor}(string)"/>, for an interface that several actor types implement.</summary>
    /// <param name="type">Its type.</param>
    /// <param name="id">Its id.</param>
    protected new TActor Actor<TActor>(string type, string id)
        where TActor : class => Snapper.Actors.Generated.ActorProxies.Create<TActor>(Calls, type, id);

    /// <summary>
    /// Hands what was set so far to the transaction, which is saved as a whole, or not at all, when it commits. There
    /// is no need to call it.
    /// </summary>
    protected Task SaveStateAsync() => StateManager.SaveStateAsync();

    /// <summary>
    /// Runs before each method, and again in each further attempt of the transaction: an object lives for one call.
    /// </summary>
    protected virtual Task OnActivateAsync() => Task.CompletedTask;

    /// <summary>Is never called.</summary>
    protected virtual Task OnDeactivateAsync() => Task.CompletedTask;

    /// <summary>Runs before each method.</summary>
    /// <param name="actorMethodContext">Names the method.</param>
    protected virtual Task OnPreActorMethodAsync(ActorMethodContext actorMethodContext) => Task.CompletedTask;

    /// <summary>Runs after each method that has not failed.</summary>
    /// <param name="actorMethodContext">Names the method.</param>
    protected virtual Task OnPostActorMethodAsync(ActorMethodContext actorMethodContext) => Task.CompletedTask;

    /// <summary>Runs when a method has failed. The transaction aborts, whatever this does.</summary>
    /// <param name="actorMethodContext">Names the method.</param>
    /// <param name="e">What it threw.</param>
    protected virtual Task OnActorMethodFailedAsync(ActorMethodContext actorMethodContext, Exception e) =>
        Task.CompletedTask;

    /// <inheritdoc/>
    protected sealed override NamedStates InitialState() => NamedStates.Empty;

    internal async Task Begin(ActorMethodContext method, bool readOnly)
    {
        _states.IsShared = readOnly;
        await OnActivateAsync();
        await OnPreActorMethodAsync(method);
    }

    internal async Task End(ActorMethodContext method)
    {
        await OnPostActorMethodAsync(method);
        await _states.HandOver();
    }

    internal Task Failed(ActorMethodContext method, Exception failure) => OnActorMethodFailedAsync(method, failure);
}
