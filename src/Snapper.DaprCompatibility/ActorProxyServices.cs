using Dapr.Actors.Client;
using Dapr.Actors.Runtime;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.DependencyInjection.Extensions;
using Microsoft.Extensions.Options;

namespace Snapper.DaprCompatibility;

/// <summary>For what an application outside of its actors has injected.</summary>
public static class ActorProxyServices
{
    /// <summary>
    /// Registers the <see cref="IActorProxyFactory"/> that <c>AddActors</c> of Dapr's SDK has registered, unless there
    /// is one: its proxies call through the sidecar, each call as a transaction of its own, with JSON as bodies. Where
    /// the sidecar is, its token and the options of JSON are those of <see cref="ActorRuntimeOptions"/>.
    /// </summary>
    /// <param name="services">Of the application.</param>
    public static IServiceCollection AddActorProxyFactory(this IServiceCollection services)
    {
        ArgumentNullException.ThrowIfNull(services);
        services.AddOptions();
        services.TryAddSingleton<IActorProxyFactory>(static its =>
        {
            var options = its.GetRequiredService<IOptions<ActorRuntimeOptions>>().Value;
            var proxies = new ActorProxyOptions { UseJsonSerialization = true };
            if (options.HttpEndpoint is { } endpoint) proxies.HttpEndpoint = endpoint;
            if (options.DaprApiToken is { } token) proxies.DaprApiToken = token;
            if (options.JsonSerializerOptions is { } json) proxies.JsonSerializerOptions = json;
            return new ActorProxyFactory(proxies);
        });
        return services;
    }
}
