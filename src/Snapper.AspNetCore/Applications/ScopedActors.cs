using System.Reflection;
using System.Runtime.CompilerServices;
using Snapper.Actors;
using Snapper.Actors.Generated;

namespace Snapper.AspNetCore.Applications;

/// <summary>
/// Actors that ask for a service that is not a singleton: each call of a method has a scope of its own, which is
/// disposed of after it. Types that ask for singletons alone, or for nothing, are left as they are.
/// </summary>
internal static class ScopedActors
{
    /// <summary>The type, with scopes if it needs them.</summary>
    /// <param name="type">As generated.</param>
    /// <param name="services">All services of the process.</param>
    public static ActorTypeDescriptor Of(ActorTypeDescriptor type, IServiceCollection services)
    {
        const BindingFlags all = BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic;
        var asks = type.ActorClass.GetConstructors(all).Where(one => !one.IsPrivate && !one.IsFamily)
            .SelectMany(static one => one.GetParameters());
        if (!asks.Any(parameter => IsScoped(parameter.ParameterType, services)))
        {
            return type;
        }

        var scopes = new ConditionalWeakTable<TransactionalActor, Scope>();
        var wrapper = new Wrapper(scopes);
        return type with
        {
            Create = services => services is null ? type.Create(null) : Create(type, services, scopes),
            Methods = [.. type.Methods.Select(method => method.Accept(wrapper))],
        };
    }

    private static bool IsScoped(Type asked, IServiceCollection services)
    {
        if (asked == typeof(IServiceProvider))
        {
            return true; // what it is asked for later may be
        }

        if (asked.IsConstructedGenericType && asked.GetGenericTypeDefinition() == typeof(IEnumerable<>))
        {
            return Registered(asked.GenericTypeArguments[0], services).Any(IsNoSingleton);
        }

        // The last registration is the one that is found.
        return Registered(asked, services).LastOrDefault() is { } found && IsNoSingleton(found);
    }

    private static bool IsNoSingleton(ServiceDescriptor service) => service.Lifetime != ServiceLifetime.Singleton;

    private static IEnumerable<ServiceDescriptor> Registered(Type asked, IServiceCollection services)
    {
        var open = asked.IsConstructedGenericType ? asked.GetGenericTypeDefinition() : null;
        return services.Where(one => !one.IsKeyedService && (one.ServiceType == asked || one.ServiceType == open));
    }

    private static TransactionalActor Create(
        ActorTypeDescriptor type, IServiceProvider services, ConditionalWeakTable<TransactionalActor, Scope> scopes)
    {
        var scope = services.CreateAsyncScope();
        try
        {
            var actor = type.Create(scope.ServiceProvider);
            scopes.Add(actor, new Scope(scope));
            return actor;
        }
        catch
        {
            scope.Dispose();
            throw;
        }
    }

    private sealed class Scope(AsyncServiceScope services) : IAsyncDisposable
    {
        public ValueTask DisposeAsync() => services.DisposeAsync();
    }

    private sealed class Wrapper(ConditionalWeakTable<TransactionalActor, Scope> scopes)
        : IActorMethodVisitor<ActorMethod>
    {
        public ActorMethod Visit<TInput, TResult>(ActorMethod<TInput, TResult> method) => method.RunBy(
            typeof(TResult) == typeof(Nothing)
                ? (actor, input) => Run(method, actor, input)
                : (actor, input) => RunForResult(method, actor, input));

        private async Task Run<TInput, TResult>(
            ActorMethod<TInput, TResult> method, TransactionalActor actor, TInput input)
        {
            await using var scope = ScopeOf(actor);
            await Begin(method, actor, input);
        }

        private async Task<TResult> RunForResult<TInput, TResult>(
            ActorMethod<TInput, TResult> method, TransactionalActor actor, TInput input)
        {
            await using var scope = ScopeOf(actor);
            return await (Task<TResult>)Begin(method, actor, input);
        }

        private static Task Begin<TInput, TResult>(
            ActorMethod<TInput, TResult> method, TransactionalActor actor, TInput input) =>
            method.Run(actor, input) ?? throw new InvalidOperationException($"{method.Name} returned no task.");

        private Scope? ScopeOf(TransactionalActor actor) => scopes.TryGetValue(actor, out var scope) ? scope : null;
    }
}
