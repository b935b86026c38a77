using Dapr.Actors;
using Dapr.Actors.Client;
using Snapper.Actors;
using Snapper.Actors.Generated;

namespace Snapper.DaprCompatibility;

/// <summary>
/// Calls methods by their names, within the running transaction. The types of a call must be those of the method.
/// </summary>
public sealed class TransactionProxy : IActorProxy
{
    private readonly IActorCaller _caller;

    internal TransactionProxy(IActorCaller caller, ActorId actorId, string actorType) =>
        (_caller, ActorId, ActorType) = (caller, actorId, actorType);

    /// <inheritdoc/>
    public ActorId ActorId { get; }

    /// <inheritdoc/>
    public string ActorType { get; }

    /// <summary>Calls a method with an input and a result.</summary>
    /// <param name="method">Its name.</param>
    /// <param name="data">The input.</param>
    /// <param name="cancellationToken">Is not heeded: the transaction has a timeout of its own.</param>
    public Task<TResponse> InvokeMethodAsync<TRequest, TResponse>(
        string method, TRequest data, CancellationToken cancellationToken = default) =>
        _caller.Call<TRequest, TResponse>(ActorType, ActorId.GetId(), new ActorMethodKey(method), data);

    /// <summary>Calls a method with an input.</summary>
    /// <param name="method">Its name.</param>
    /// <param name="data">The input.</param>
    /// <param name="cancellationToken">Is not heeded: the transaction has a timeout of its own.</param>
    public Task InvokeMethodAsync<TRequest>(
        string method, TRequest data, CancellationToken cancellationToken = default) =>
        _caller.CallVoid(ActorType, ActorId.GetId(), new ActorMethodKey(method), data);

    /// <summary>Calls a method with a result.</summary>
    /// <param name="method">Its name.</param>
    /// <param name="cancellationToken">Is not heeded: the transaction has a timeout of its own.</param>
    public Task<TResponse> InvokeMethodAsync<TResponse>(
        string method, CancellationToken cancellationToken = default) =>
        InvokeMethodAsync<Nothing, TResponse>(method, default, cancellationToken);

    /// <summary>Calls a method.</summary>
    /// <param name="method">Its name.</param>
    /// <param name="cancellationToken">Is not heeded: the transaction has a timeout of its own.</param>
    public Task InvokeMethodAsync(string method, CancellationToken cancellationToken = default) =>
        InvokeMethodAsync<Nothing>(method, default, cancellationToken);
}
