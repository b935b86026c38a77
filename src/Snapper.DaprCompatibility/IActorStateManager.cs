namespace Snapper.DaprCompatibility;

/// <summary>
/// The named states of an actor inside a transaction: the interface of that name of Dapr's SDK, which it is as well, so
/// that code which takes that one goes on. What lives for a time only is refused: there is no time to live here.
/// </summary>
public interface IActorStateManager : Dapr.Actors.Runtime.IActorStateManager
{
    /// <summary>A value, if it is there.</summary>
    /// <param name="stateName">Its name.</param>
    /// <param name="cancellationToken">Is not heeded: the transaction has a timeout of its own.</param>
    new Task<ConditionalValue<T>> TryGetStateAsync<T>(string stateName, CancellationToken cancellationToken = default);

    /// <summary>Is refused.</summary>
    /// <param name="stateName">Its name.</param>
    /// <param name="value">The value.</param>
    /// <param name="ttl">Time to live.</param>
    /// <param name="cancellationToken">Is not heeded.</param>
    [Obsolete(Refusals.TimeToLive, error: true)]
    new Task AddStateAsync<T>(string stateName, T value, TimeSpan ttl, CancellationToken cancellationToken = default);

    /// <summary>Is refused.</summary>
    /// <param name="stateName">Its name.</param>
    /// <param name="value">The value.</param>
    /// <param name="ttl">Time to live.</param>
    /// <param name="cancellationToken">Is not heeded.</param>
    [Obsolete(Refusals.TimeToLive, error: true)]
    new Task SetStateAsync<T>(string stateName, T value, TimeSpan ttl, CancellationToken cancellationToken = default);

    /// <summary>Is refused.</summary>
    /// <param name="stateName">Its name.</param>
    /// <param name="value">The value.</param>
    /// <param name="ttl">Time to live.</param>
    /// <param name="cancellationToken">Is not heeded.</param>
    [Obsolete(Refusals.TimeToLive, error: true)]
    new Task<bool> TryAddStateAsync<T>(
        string stateName, T value, TimeSpan ttl, CancellationToken cancellationToken = default);

    /// <summary>Is refused.</summary>
    /// <param name="stateName">Its name.</param>
    /// <param name="value">The value.</param>
    /// <param name="ttl">Time to live.</param>
    /// <param name="cancellationToken">Is not heeded.</param>
    [Obsolete(Refusals.TimeToLive, error: true)]
    new Task<T> GetOrAddStateAsync<T>(
        string stateName, T value, TimeSpan ttl, CancellationToken cancellationToken = default);

    /// <summary>Is refused.</summary>
    /// <param name="stateName">Its name.</param>
    /// <param name="addValue">The value to add.</param>
    /// <param name="updateValueFactory">Makes the next one.</param>
    /// <param name="ttl">Time to live.</param>
    /// <param name="cancellationToken">Is not heeded.</param>
    [Obsolete(Refusals.TimeToLive, error: true)]
    new Task<T> AddOrUpdateStateAsync<T>(
        string stateName, T addValue, Func<string, T, T> updateValueFactory, TimeSpan ttl,
        CancellationToken cancellationToken = default);
}
