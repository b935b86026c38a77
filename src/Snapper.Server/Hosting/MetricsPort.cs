namespace Snapper.Server.Hosting;

/// <summary>A port at which <c>/metrics</c> is served and nothing else: it alone can be opened to others.</summary>
internal static class MetricsPort
{
    /// <summary>Answers 404 to whatever else comes in at the port, before anything looks at it.</summary>
    /// <param name="app">The application.</param>
    /// <param name="port">The port; 0: there is none.</param>
    public static void Use(IApplicationBuilder app, int port)
    {
        if (port > 0)
        {
            app.Use(next => context => context.Connection.LocalPort == port && context.Request.Path.Value != "/metrics"
                ? Refuse(context)
                : next(context));
        }
    }

    private static Task Refuse(HttpContext context)
    {
        context.Response.StatusCode = StatusCodes.Status404NotFound;
        return Task.CompletedTask;
    }
}
