using Snapper.AspNetCore.Api;
using Snapper.AspNetCore.Api.Access;
using Snapper.AspNetCore.Hosting;
using Snapper.Sidecar.Hosting;

namespace Snapper.AspNetCore.Applications;

/// <summary>
/// The worker's addresses in an application that has its own. What guards them stands before each of ours, and before
/// nothing else, wherever in the application's pipeline they are served.
/// </summary>
internal sealed class ApplicationEndpoints : IDisposable
{
    private readonly CancellationTokenSource _cutOff = new();

    /// <summary>Where they were mapped; null: they were not.</summary>
    public IEndpointRouteBuilder? Endpoints { get; private set; }

    /// <summary>Maps them.</summary>
    /// <exception cref="InvalidOperationException">They are mapped already, or not at the root.</exception>
    public IEndpointConventionBuilder Map(IEndpointRouteBuilder endpoints)
    {
        if (Endpoints is not null || endpoints is RouteGroupBuilder)
        {
            throw new InvalidOperationException(
                "MapSnapper is called once, and on the application itself: the sidecar knows its addresses.");
        }

        Endpoints = endpoints;
        var services = endpoints.ServiceProvider;
        var hosts = services.GetRequiredService<HostRules>();
        var places = services.GetRequiredService<RequestPlaces>();
        var gate = services.GetRequiredService<AuthorizationMiddleware>();
        var retryAfter = services.GetRequiredService<ApiOptions>().RetryAfter;
        var config = new SharedDaprConfig(endpoints);
        var group = endpoints.MapGroup("");
        ((IEndpointConventionBuilder)group).Add(endpoint =>
        {
            var handler = endpoint.RequestDelegate!;
            if (((RouteEndpointBuilder)endpoint).RoutePattern.RawText == HttpActorTransport.ConfigAddress)
            {
                handler = config.Merged(handler);
            }

            endpoint.RequestDelegate = Mortal(hosts.Before(places.Before(gate.Before(handler), 0, retryAfter)));
        });
        WorkerServices.Map(group, isGuest: true);
        return group;
    }

    /// <summary>The worker has failed: its answers cannot be trusted, and callers do not wait for them.</summary>
    public void CutOff() => _cutOff.Cancel();

    public void Dispose() => _cutOff.Dispose();

    private RequestDelegate Mortal(RequestDelegate handler) => async context =>
    {
        await using var end = _cutOff.Token.Register(static one => ((HttpContext)one!).Abort(), context);
        await handler(context);
    };
}
