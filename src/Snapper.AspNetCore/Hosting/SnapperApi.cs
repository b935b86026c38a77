using Snapper.AspNetCore.Api;
using Snapper.AspNetCore.Api.Access;
using Snapper.AspNetCore.Api.Endpoints;
using Snapper.AspNetCore.Api.Events;
using Snapper.Cluster.Control;
using Snapper.Runtime.Door;
using Snapper.Runtime.Inspection;
using Snapper.Security;

namespace Snapper.AspNetCore.Hosting;

/// <summary>The HTTP surface of a worker: transactions, and looking inside.</summary>
internal static class SnapperApi
{
    /// <summary>Adds the endpoints.</summary>
    /// <param name="endpoints">Where to; its services must hold logging.</param>
    /// <param name="door">Where requests go; a <see cref="LifecycleGate"/> when the worker comes and goes, and then <c>/readyz</c> tells.</param>
    /// <param name="inspection">What can be seen.</param>
    /// <param name="options">Limits.</param>
    /// <param name="control">The workers as one system; null: there is one worker alone, or, while a <see cref="LifecycleGate"/> is closed, it has not joined the others yet.</param>
    /// <param name="isGuest">Only addresses of the worker are answered: the application has its own.</param>
    /// <exception cref="ArgumentOutOfRangeException">An option is out of its range.</exception>
    public static void Map(
        IEndpointRouteBuilder endpoints, ITransactionService door, IWorkerInspection inspection, ApiOptions options,
        Func<IClusterControl?>? control = null, bool isGuest = false)
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
        var map = new ApiRoutes(endpoints, events, log, options.RetryAfter, isGuest);
        var transactions = new TransactionEndpoints(door, options, log, control);
        map.Add(HttpMethods.Post, "/v1/transactions", Right.Transact, Reach.Common, transactions.Submit);
        map.View("/v1/transactions/{**id}", Right.Ask, Reach.Named, transactions.Find);

        map.Add(HttpMethods.Post, "/v1/reads", Right.View, Reach.Common, new ReadEndpoint(door, options, control).Read);

        var health = new HealthEndpoints(door as LifecycleGate, inspection, options);
        map.Get("/healthz", Right.Open, Reach.Common, health.Live);
        map.View("/readyz", Right.Open, Reach.Common, health.Ready);
        map.Get("/metrics", Right.Open, Reach.Common, new MetricsEndpoint(inspection).Scrape);

        var watch = new WatchEndpoints(inspection);
        var views = new InspectionEndpoints(inspection, watch);
        map.View("/v1/status", Right.View, Reach.Whole, views.Status);
        map.View("/v1/actor-types", Right.Ask, Reach.Common, views.ActorTypes);
        map.View("/v1/actors", Right.View, Reach.Whole, views.Actors);
        map.View("/v1/actors/{**actor}", Right.View, Reach.Named, views.Actor);
        var states = new StateEndpoints(door, options, control);
        map.Add(HttpMethods.Put, "/v1/actors/{**actor}", Right.Administer, Reach.Whole, states.Import, "import");
        map.Add(HttpMethods.Delete, "/v1/actors/{**actor}", Right.Administer, Reach.Whole, states.Delete, "delete");
        var imports = new ImportEndpoint(door, inspection, options, control);
        map.Add(HttpMethods.Post, "/v1/imports", Right.Administer, Reach.Whole, imports.Import, "import");
        map.View("/v1/batches", Right.View, Reach.Whole, views.Batches);
        map.View("/v1/batches/{bid}", Right.View, Reach.Whole, views.Batch);
        map.View("/v1/aborts", Right.View, Reach.Whole, views.Aborts);
        map.View("/v1/traces", Right.View, Reach.Whole, watch.Traces);
        map.View("/v1/traces/{**id}", Right.View, Reach.Whole, watch.Trace);
        map.View("/v1/hot", Right.View, Reach.Whole, watch.Hot);
        map.View("/v1/access", Right.View, Reach.Whole, watch.Access);
        map.View("/v1/ring", Right.View, Reach.Whole, watch.Ring);

        var cluster = new ClusterEndpoints(control, door as LifecycleGate, options);
        map.View("/v1/workers", Right.View, Reach.Whole, cluster.Workers);
        map.View("/v1/directory", Right.View, Reach.Whole, cluster.Directory);
        map.Add(HttpMethods.Post, "/v1/leave", Right.Administer, Reach.Whole, cluster.Leave, "leave");
        map.View("/v1/migrations", Right.View, Reach.Whole, cluster.Migrations);
        map.Add(HttpMethods.Post, "/v1/migrations", Right.Operate, Reach.Whole, cluster.Migrate, "migrate");
        map.View("/v1/migrations/proposals", Right.View, Reach.Whole, cluster.Proposals);
        map.View("/v1/migrations/{**id}", Right.View, Reach.Whole, cluster.Migration);
        map.View("/v1/audit", Right.Operate, Reach.Whole, new AuditEndpoint(audit, inspection).Read);

        // No HEAD: a stream has no end.
        var stopping = endpoints.ServiceProvider.GetRequiredService<IHostApplicationLifetime>().ApplicationStopping;
        var streams = new EventsEndpoint(inspection, events, audit, options, stopping);
        map.Add(HttpMethods.Get, "/v1/events", Right.View, Reach.Whole, streams.Watch);
        map.Rest();
    }
}
