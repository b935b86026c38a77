using Snapper.Runtime.Door;
using Snapper.Runtime.Inspection;
using Snapper.Server.Api.Access;
using Snapper.Server.Api.Endpoints;

namespace Snapper.Server.Api;

/// <summary>The HTTP surface of a worker: transactions, and looking inside.</summary>
public static class SnapperApi
{
    /// <summary>Adds the endpoints.</summary>
    /// <param name="endpoints">Where to; its services must hold logging.</param>
    /// <param name="door">Where requests go; a <see cref="DoorSwitch"/> when the worker comes and goes, and then <c>/readyz</c> tells.</param>
    /// <param name="inspection">What can be seen.</param>
    /// <param name="options">Limits.</param>
    /// <param name="control">The workers as one system; null: there is one worker alone, or, while a <see cref="DoorSwitch"/> is closed, it has not joined the others yet.</param>
    /// <exception cref="ArgumentOutOfRangeException">An option is out of its range.</exception>
    public static void Map(IEndpointRouteBuilder endpoints, ITransactionDoor door, IWorkerInspection inspection, ApiOptions options, Func<IClusterControl?>? control = null)
    {
        ArgumentNullException.ThrowIfNull(endpoints);
        ArgumentNullException.ThrowIfNull(door);
        ArgumentNullException.ThrowIfNull(inspection);
        ArgumentNullException.ThrowIfNull(options);
        options.Validate();
        control ??= static () => null;

        var log = endpoints.ServiceProvider.GetRequiredService<ILoggerFactory>().CreateLogger("Snapper.Server.Api");
        var transactions = new TransactionEndpoints(door, options, log, control);
        Post(endpoints, "/v1/transactions", transactions.Submit, log, options);
        Get(endpoints, "/v1/transactions/{**id}", transactions.Find, log, options);

        var health = new HealthEndpoints(door as DoorSwitch, inspection, options);
        Get(endpoints, "/healthz", health.Live, log, options);
        Get(endpoints, "/readyz", health.Ready, log, options);

        var watch = new WatchEndpoints(inspection);
        var views = new InspectionEndpoints(inspection, watch);
        Get(endpoints, "/v1/status", views.Status, log, options);
        Get(endpoints, "/v1/actor-types", views.ActorTypes, log, options);
        Get(endpoints, "/v1/actors", views.Actors, log, options);
        var states = new StateEndpoints(door, options, control);
        endpoints.MapPut("/v1/actors/{**actor}", new FailureGuard(states.Import, log, options.RetryAfter).Run);
        endpoints.MapDelete("/v1/actors/{**actor}", new FailureGuard(states.Delete, log, options.RetryAfter).Run);
        Get(endpoints, "/v1/actors/{**actor}", views.Actor, log, options, HttpMethods.Put, HttpMethods.Delete);
        Get(endpoints, "/v1/batches", views.Batches, log, options);
        Get(endpoints, "/v1/batches/{bid}", views.Batch, log, options);
        Get(endpoints, "/v1/aborts", views.Aborts, log, options);
        Get(endpoints, "/v1/traces", watch.Traces, log, options);
        Get(endpoints, "/v1/traces/{**id}", watch.Trace, log, options);
        Get(endpoints, "/v1/hot", watch.Hot, log, options);
        Get(endpoints, "/v1/access", watch.Access, log, options);
        Get(endpoints, "/v1/ring", watch.Ring, log, options);
        var stopping = endpoints.ServiceProvider.GetRequiredService<IHostApplicationLifetime>().ApplicationStopping;
        Get(endpoints, "/v1/events", new EventsEndpoint(inspection, TimeSpan.FromSeconds(1), stopping).Watch, log, options);
        Get(endpoints, "/metrics", new MetricsEndpoint(inspection).Scrape, log, options);
        var cluster = new ClusterEndpoints(control, door as DoorSwitch, options);
        Get(endpoints, "/v1/workers", cluster.Workers, log, options);
        Get(endpoints, "/v1/directory", cluster.Directory, log, options);
        Post(endpoints, "/v1/leave", cluster.Leave, log, options);
        endpoints.MapPost("/v1/migrations", new FailureGuard(cluster.Migrate, log, options.RetryAfter).Run);
        Get(endpoints, "/v1/migrations", cluster.Migrations, log, options);
        Get(endpoints, "/v1/migrations/proposals", cluster.Proposals, log, options);
        Get(endpoints, "/v1/migrations/{**id}", cluster.Migration, log, options);
        Get(endpoints, "/v1/audit", new AuditEndpoint(options.Audit ?? AuditLog.InMemory(log), inspection).Read, log, options);
        endpoints.MapFallback("/{**path}", UnknownEndpoints.NotFound);
    }

    private static void Post(IEndpointRouteBuilder endpoints, string pattern, RequestDelegate handler, ILogger log, ApiOptions options)
    {
        endpoints.MapPost(pattern, new FailureGuard(handler, log, options.RetryAfter).Run);
        endpoints.Map(pattern, UnknownEndpoints.WrongMethod(HttpMethods.Post));
    }

    // Endpoints that name their method come before those that take any.
    private static void Get(IEndpointRouteBuilder endpoints, string pattern, RequestDelegate handler, ILogger log, ApiOptions options, params string[] others)
    {
        endpoints.MapGet(pattern, new FailureGuard(handler, log, options.RetryAfter).Run);
        endpoints.Map(pattern, UnknownEndpoints.WrongMethod([HttpMethods.Get, .. others]));
    }
}
