using Snapper.AspNetCore.Hosting;
using Snapper.Sidecar.Hosting;

namespace Snapper.AspNetCore;

/// <summary>Addresses of an application that only its sidecar may call.</summary>
public static class SnapperSidecarExtensions
{
    /// <summary>
    /// Lets in what shows <c>APP_API_TOKEN</c>, as a sidecar does that has the same one, and answers 401 to all else.
    /// Where the application has no such token, all are let in. Dapr's SDK does not look at the token: so
    /// <c>app.MapActorsHandlers().RequireAppApiToken()</c> guards plain actors as the transactional ones are guarded.
    /// </summary>
    /// <param name="endpoints">The addresses.</param>
    /// <returns>The same.</returns>
    /// <remarks>The token is that of the worker, so that the application needs <c>AddSnapper</c>.</remarks>
    public static TBuilder RequireAppApiToken<TBuilder>(this TBuilder endpoints)
        where TBuilder : IEndpointConventionBuilder
    {
        AppApiToken? token = null;
        endpoints.Add(endpoint =>
        {
            if (endpoint.RequestDelegate is { } next)
            {
                endpoint.RequestDelegate = context => Token(context).Accepts(context.Request)
                    ? next(context)
                    : AppApiToken.Refuse(context);
            }
        });
        return endpoints;

        AppApiToken Token(HttpContext context) => token ??= new AppApiToken(
            context.RequestServices.GetRequiredService<WorkerSettings>().AppApiToken);
    }
}
