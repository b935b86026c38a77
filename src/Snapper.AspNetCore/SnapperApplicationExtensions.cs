using Microsoft.Extensions.Options;
using Snapper.AspNetCore.Applications;
using Snapper.AspNetCore.Hosting;

namespace Snapper.AspNetCore;

/// <summary>Makes a web application a worker: it hosts transactional actors beside whatever else it serves.</summary>
public static class SnapperApplicationExtensions
{
    /// <summary>
    /// Adds a worker, which begins when the application has started and ends before it stops. It serves at the
    /// addresses that <see cref="MapSnapper"/> maps.
    /// </summary>
    /// <param name="services">Of the application. Constructors of actors take what they ask for from them.</param>
    /// <param name="configure">Says what is hosted, and what differs from the section <c>Snapper</c>.</param>
    /// <exception cref="InvalidOperationException">It was added already.</exception>
    public static IServiceCollection AddSnapper(this IServiceCollection services, Action<SnapperOptions> configure) =>
        services.AddSnapper(configure, Environment.GetEnvironmentVariable);

    /// <summary>The same with an environment of its own.</summary>
    internal static IServiceCollection AddSnapper(
        this IServiceCollection services, Action<SnapperOptions> configure, Func<string, string?> environment)
    {
        ArgumentNullException.ThrowIfNull(services);
        ArgumentNullException.ThrowIfNull(configure);
        if (services.Any(static service => service.ServiceType == typeof(ApplicationEndpoints)))
        {
            throw new InvalidOperationException("AddSnapper is called once: an application is one worker.");
        }

        services.AddOptions<SnapperOptions>()
            .Configure<IConfiguration>(static (options, configuration) => SnapperSettings.Read(configuration, options))
            .Configure(configure);
        services.AddSingleton(its => SnapperSettings.ToWorker(
            its.GetRequiredService<IOptions<SnapperOptions>>().Value, services, environment));
        services.AddSingleton(static its => WorkerParts.Of(its.GetRequiredService<WorkerSettings>()));
        WorkerServices.Add(services);
        services.AddSingleton<ApplicationEndpoints>();
        services.AddHostedService<ApplicationWorker>();
        return services;
    }

    /// <summary>
    /// Maps the worker's addresses: <c>/v1/...</c>, what the sidecar calls, and <c>/healthz</c>, <c>/readyz</c> and
    /// <c>/metrics</c> where the application has not mapped its own. They are guarded by the settings of
    /// <c>Snapper:Security</c> and <c>Snapper:Http</c>, and nothing else of the application is.
    /// </summary>
    /// <param name="endpoints">The application.</param>
    /// <returns>All of them, to add conventions to.</returns>
    /// <exception cref="InvalidOperationException">They are mapped already, or not at the root.</exception>
    public static IEndpointConventionBuilder MapSnapper(this IEndpointRouteBuilder endpoints)
    {
        ArgumentNullException.ThrowIfNull(endpoints);
        var mapped = endpoints.ServiceProvider.GetService<ApplicationEndpoints>()
            ?? throw new InvalidOperationException("MapSnapper needs services.AddSnapper(...) before.");
        return mapped.Map(endpoints);
    }
}
