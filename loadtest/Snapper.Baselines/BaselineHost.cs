using System.Net;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Server.Kestrel.Core;

namespace Snapper.Baselines;

/// <summary>The web server of the baseline: bare Kestrel on the loopback interface.</summary>
public static class BaselineHost
{
    /// <summary>Builds the server; the caller starts it.</summary>
    /// <param name="port">Where the sidecar finds it; 0 lets the system choose.</param>
    /// <param name="endpoint">What answers.</param>
    public static WebApplication Build(int port, ActorEndpoint endpoint)
    {
        var builder = WebApplication.CreateEmptyBuilder(new WebApplicationOptions());
        builder.WebHost.UseKestrelCore().ConfigureKestrel(options =>
        {
            options.AddServerHeader = false;
            options.Listen(IPAddress.Loopback, port, listen => listen.Protocols = HttpProtocols.Http1);
        });

        var app = builder.Build();
        app.Run(endpoint.HandleAsync);
        return app;
    }
}
