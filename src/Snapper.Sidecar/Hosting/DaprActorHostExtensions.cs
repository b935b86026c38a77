using Microsoft.AspNetCore.Routing;

namespace Snapper.Sidecar.Hosting;

/// <summary>Puts an actor host behind a Dapr sidecar.</summary>
public static class DaprActorHostExtensions
{
    /// <summary>
    /// Serves what a Dapr sidecar asks of an app that hosts actors: <c>GET /dapr/config</c>, <c>PUT /actors/{type}/{id}/method/{method}</c>,
    /// <c>DELETE /actors/{type}/{id}</c>, <c>GET /dapr/subscribe</c> and <c>GET /healthz</c>. Timers and reminders are refused with 404.
    /// Map it at the root of the app. Start daprd with <c>--app-protocol http</c>, or with <c>h2c</c> towards a port
    /// that speaks HTTP/2 only; <see cref="HttpActorTransport"/> says which is better when.
    /// </summary>
    /// <exception cref="ArgumentException">The host names no actor type.</exception>
    /// <exception cref="ArgumentOutOfRangeException">An option is out of its range.</exception>
    public static IEndpointRouteBuilder MapDaprActorHost(this IEndpointRouteBuilder endpoints, IActorHost host, DaprHostOptions options)
    {
        new HttpActorTransport(options).Map(endpoints, host);
        return endpoints;
    }
}
