using System.Collections.Concurrent;

namespace Snapper.Actors.Generated;

/// <summary>
/// The generated proxies of this process, by interface. A module initializer of each assembly that declares actor
/// interfaces fills it, so that callers need no registration.
/// </summary>
public static class ActorProxies
{
    private static readonly ConcurrentDictionary<Type, ProxyEntry> Entries = new();

    /// <summary>Adds a proxy. Called by generated module initializers; a second call for one interface changes nothing.</summary>
    /// <param name="contract">The interface.</param>
    /// <param name="defaultActorType">
    /// The actor type that calls through this interface mean: of the class that implements it, when that is known where
    /// the interface is declared, else the interface's name without its leading <c>I</c>.
    /// </param>
    /// <param name="create">Makes the proxy.</param>
    public static void Add(Type contract, string defaultActorType, ActorProxyFactory create) =>
        Entries.TryAdd(contract, new ProxyEntry(defaultActorType, create));

    /// <summary>Makes a proxy for an actor of the interface's own type.</summary>
    /// <exception cref="InvalidOperationException">The interface has no generated proxy.</exception>
    public static TActor Create<TActor>(IActorCaller caller, string actorId)
    {
        var entry = ProxyCache<TActor>.Entry;
        return (TActor)entry.Create(caller, entry.DefaultActorType, actorId);
    }

    /// <summary>Makes a proxy for an actor of a named type.</summary>
    /// <exception cref="InvalidOperationException">The interface has no generated proxy.</exception>
    public static TActor Create<TActor>(IActorCaller caller, string actorType, string actorId) =>
        (TActor)ProxyCache<TActor>.Entry.Create(caller, actorType, actorId);

    /// <summary>Makes a proxy for an actor of a named type, of an interface that is known at run time alone.</summary>
    /// <exception cref="InvalidOperationException">The interface has no generated proxy.</exception>
    public static object Create(Type contract, IActorCaller caller, string actorType, string actorId)
    {
        ArgumentNullException.ThrowIfNull(contract);
        return Find(contract).Create(caller, actorType, actorId);
    }

    /// <summary>The actor type that calls through the interface mean.</summary>
    public static string DefaultActorType<TActor>() => ProxyCache<TActor>.Entry.DefaultActorType;

    private static ProxyEntry Find(Type contract)
    {
        // The module initializer of the declaring assembly has run by now if any of its code has.
        System.Runtime.CompilerServices.RuntimeHelpers.RunModuleConstructor(contract.Module.ModuleHandle);
        return Entries.TryGetValue(contract, out var entry)
            ? entry
            : throw new InvalidOperationException(
                $"No generated proxy for {contract}: does its project reference Snapper.Generators as an analyzer?");
    }

    private sealed record ProxyEntry(string DefaultActorType, ActorProxyFactory Create);

    private static class ProxyCache<TActor>
    {
        public static readonly ProxyEntry Entry = Find(typeof(TActor));
    }
}
