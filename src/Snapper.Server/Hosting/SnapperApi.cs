using Snapper.Runtime.Door;
using Snapper.Runtime.Inspection;
using Snapper.Server.Api;
using Snapper.Server.Api.Access;
using Snapper.Server.Api.Endpoints;
using Snapper.Server.Api.Events;

namespace Snapper.Server.Hosting;

/// <summary>The HTTP surface of a worker: transactions, and looking inside.</summary>
public static class SnapperApi
{
    /// <summary>Adds the endpoints.</summary>
    /// <param name="endpoints">Where to; its services must hold logging.</param>
    /// <param name="door">Where requests go; a <see cref="LifecycleGate"/> when the worker comes and goes, and then <c>/readyz</c> tells.</param>
    /// <param name="inspection">What can be seen.</param>
    /// <param name="options">Limits.</param>
    /// <param name="control">The workers as one system; null: there is one worker alone, or, while a <see cref="LifecycleGate"/> is closed, it has not joined the others yet.</param>
    /// <exception cref="ArgumentOutOfRangeException">An option is out of its range.</exception>
    public static void Map(IEndpointRouteBuilder endpoints, ITransactionService door, IWorkerInspection inspection, ApiOptions options, Func<IClusterControl?>? control = null)
    {
        ArgumentNullException.ThrowIfNull(endpoints);
        ArgumentNullException.ThrowIfNull(door);
        ArgumentNullException.ThrowIfNull(inspection);
        ArgumentNullException.ThrowIfNull(options);
        options.Validate();
        control ??= static () => null;

        var log = endpoints.ServiceProvider.GetRequiredService<ILoggerFactory>().CreateLogger("Snapper.Server.Api");
        var audit = options.Audit ?? AuditLog.InMemory(log);
        var events = new ViewTable();
        var transactions = new TransactionEndpoints(door, options, log, control);
        Post(endpoints, "/v1/transactions", transactions.Submit, log, options);
        View(endpoints, events, "/v1/transactions/{**id}", transactions.Find, log, options);

        var health = new HealthEndpoints(door as LifecycleGate, inspection, options);
        Get(endpoints, "/healthz", health.Live, log, options);
        View(endpoints, events, "/readyz", health.Ready, log, options);

        var watch = new WatchEndpoints(inspection);
        var views = new InspectionEndpoints(inspection, watch);
        View(endpoints, events, "/v1/status", views.Status, log, options);
        View(endpoints, events, "/v1/actor-types", views.ActorTypes, log, options);
        View(endpoints, events, "/v1/actors", views.Actors, log, options);
        var states = new StateEndpoints(door, options, control);
        endpoints.MapPut("/v1/actors/{**actor}", new FailureGuard(states.Import, log, options.RetryAfter).Run);
        endpoints.MapDelete("/v1/actors/{**actor}", new FailureGuard(states.Delete, log, options.RetryAfter).Run);
        View(endpoints, events, "/v1/actors/{**actor}", views.Actor, log, options, HttpMethods.Put, HttpMethods.Delete);
        View(endpoints, events, "/v1/batches", views.Batches, log, options);
        View(endpoints, events, "/v1/batches/{bid}", views.Batch, log, options);
        View(endpoints, events, "/v1/aborts", views.Aborts, log, options);
        View(endpoints, events, "/v1/traces", watch.Traces, log, options);
        View(endpoints, events, "/v1/traces/{**id}", watch.Trace, log, options);
        View(endpoints, events, "/v1/hot", watch.Hot, log, options);
        View(endpoints, events, "/v1/access", watch.Access, log, options);
        View(endpoints, events, "/v1/ring", watch.Ring, log, options);
        Get(endpoints, "/metrics", new MetricsEndpoint(inspection).Scrape, log, options);
        var cluster = new ClusterEndpoints(control, door as LifecycleGate, options);
        View(endpoints, events, "/v1/workers", cluster.Workers, log, options);
        View(endpoints, events, "/v1/directory", cluster.Directory, log, options);
        Post(endpoints, "/v1/leave", cluster.Leave, log, options);
        endpoints.MapPost("/v1/migrations", new FailureGuard(cluster.Migrate, log, options.RetryAfter).Run);
        View(endpoints, events, "/v1/migrations", cluster.Migrations, log, options);
        View(endpoints, events, "/v1/migrations/proposals", cluster.Proposals, log, options);
        View(endpoints, events, "/v1/migrations/{**id}", cluster.Migration, log, options);
        View(endpoints, events, "/v1/audit", new AuditEndpoint(audit, inspection).Read, log, options);
        var stopping = endpoints.ServiceProvider.GetRequiredService<IHostApplicationLifetime>().ApplicationStopping;

        // No HEAD: a stream has no end.
        Only(endpoints, "/v1/events", [HttpMethods.Get], new EventsEndpoint(inspection, events, audit, options, stopping).Watch, log, options);
        endpoints.MapFallback("/{**path}", UnknownEndpoints.NotFound);
    }

    private static void Post(IEndpointRouteBuilder endpoints, string pattern, RequestDelegate handler, ILogger log, ApiOptions options) =>
        Only(endpoints, pattern, [HttpMethods.Post], handler, log, options);

    /// <summary>An address that streams of events can carry, too.</summary>
    private static void View(IEndpointRouteBuilder endpoints, ViewTable events, string pattern, RequestDelegate handler, ILogger log, ApiOptions options, params string[] others)
    {
        Get(endpoints, pattern, handler, log, options, others);
        events.Add(pattern, new FailureGuard(handler, log, options.RetryAfter).Run);
    }

    // HEAD runs the same handler: the web server leaves the body out.
    private static void Get(
        IEndpointRouteBuilder endpoints, string pattern, RequestDelegate handler, ILogger log, ApiOptions options, params string[] others) =>
        Only(endpoints, pattern, [HttpMethods.Get, HttpMethods.Head], handler, log, options, others);

    // Endpoints that name their method come before those that take any.
    private static void Only(
        IEndpointRouteBuilder endpoints, string pattern, string[] methods, RequestDelegate handler, ILogger log, ApiOptions options, params string[] others)
    {
        endpoints.MapMethods(pattern, methods, new FailureGuard(handler, log, options.RetryAfter).Run);
        endpoints.Map(pattern, UnknownEndpoints.WrongMethod([.. methods, .. others]));
    }
}
