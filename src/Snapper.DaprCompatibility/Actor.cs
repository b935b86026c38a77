namespace Snapper.DaprCompatibility;

/// <summary>
/// Base class of what was a plain Dapr actor. With <c>using Snapper.DaprCompatibility;</c> in the place of <c>using
/// Dapr.Actors.Runtime;</c> the class is a transactional actor: each call of a method, by whatever client, is a
/// transaction, or a part of the caller's.
/// </summary>
/// <param name="host">What the constructor is given.</param>
public abstract class Actor(ActorHost host) : TransactionalDaprActor(host);
