using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection.Extensions;
using Snapper.Client;

// As the platform's own registrations: found where services are registered, without a using.
#pragma warning disable IDE0130
namespace Microsoft.Extensions.DependencyInjection;
#pragma warning restore IDE0130

/// <summary>Registers <see cref="SnapperClient"/> with a host's services.</summary>
public static class SnapperClientServices
{
    /// <summary>
    /// Adds one <see cref="SnapperClient"/> for the whole process, which is made when it is first asked for, by itself
    /// or as <see cref="ISnapperClient"/>. The container closes it at the end.
    /// </summary>
    /// <param name="services">The host's.</param>
    /// <param name="options">
    /// Makes the options; null: the sidecar that the environment names, and the app id of the configuration's
    /// <c>Snapper:AppId</c>, which is that of the worker where the application is one, or <c>snapper</c>.
    /// </param>
    public static IServiceCollection AddSnapperClient(
        this IServiceCollection services, Func<IServiceProvider, SnapperClientOptions>? options = null)
    {
        ArgumentNullException.ThrowIfNull(services);
        services.TryAddSingleton(provider => new SnapperClient((options ?? Configured)(provider)));
        services.TryAddSingleton<ISnapperClient>(static provider => provider.GetRequiredService<SnapperClient>());
        return services;
    }

    private static SnapperClientOptions Configured(IServiceProvider services) =>
        services.GetService<IConfiguration>()?["Snapper:AppId"] is { Length: > 0 } appId
            ? new SnapperClientOptions { AppId = appId }
            : new SnapperClientOptions();
}
