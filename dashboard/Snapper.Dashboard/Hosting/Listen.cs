using System.Net;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Snapper.Security;

namespace Snapper.Dashboard.Hosting;

/// <summary>Where the dashboard listens, and who may come in: the one place that decides it.</summary>
internal static class Listen
{
    /// <summary>Applies the listen address.</summary>
    /// <exception cref="FormatException">It would be open to others without a sign-in.</exception>
    public static void On(KestrelServerOptions kestrel, DashboardSettings settings)
    {
        kestrel.AddServerHeader = false;
        kestrel.Configure(); // in the place of the Kestrel section of the configuration, which could open further addresses past all checks
        kestrel.Limits.MaxRequestBodySize = 64 * 1024;

        // Whoever holds connections and says nothing must not take all memory and descriptors.
        kestrel.Limits.MaxConcurrentConnections = settings.ConnectionsMax;
        kestrel.Limits.MaxConcurrentUpgradedConnections = settings.PagesMax;
        kestrel.Limits.RequestHeadersTimeout = settings.SilenceMax;
        kestrel.Limits.KeepAliveTimeout = settings.IdleMax;
        kestrel.Listen(settings.BeyondLoopback ? IPAddress.IPv6Any : IPAddress.Loopback, settings.Port, new SilentConnections(settings.SilenceMax, (settings.ConnectionsMax + 1) / 2).Watch);
    }

    /// <summary>Null: it may start; else why not.</summary>
    /// <param name="settings">What it is told.</param>
    /// <param name="signsIn">Whoever comes must sign in.</param>
    public static string? Refusal(DashboardSettings settings, bool signsIn) => settings.BeyondLoopback && !signsIn
        ? "ASPNETCORE_HTTP_PORTS makes the dashboard listen on all addresses, and there is no token with which one could sign in (SNAPPER_TOKENS_FILE); without one it listens on loopback only (--port)"
        : null;

    /// <summary>
    /// Lets in only requests that name this server by a loopback name or address, and, where a browser says which page sent them, only our own: a page
    /// elsewhere can point a name of its own at this machine, and open a WebSocket to any port.
    /// </summary>
    public static void Guard(WebApplication app, DashboardSettings settings) => app.Use((context, next) =>
    {
        var host = context.Request.Host;
        var known = settings.BeyondLoopback || host.Host.Equals("localhost", StringComparison.OrdinalIgnoreCase)
            || (IPAddress.TryParse(host.Host.Trim('[', ']'), out var address) && IPAddress.IsLoopback(address));
        var origin = context.Request.Headers.Origin.ToString();
        if (context.Request.QueryString.Value?.Contains(TokenHash.Prefix, StringComparison.Ordinal) == true)
        {
            context.Response.StatusCode = StatusCodes.Status400BadRequest;
            return context.Response.WriteAsync("The address holds a token, which every log on the way would show. Make a new one: this one is not secret any more.");
        }

        var named = settings.Origins.Any(one => one.Authority.Equals(host.Value, StringComparison.OrdinalIgnoreCase));
        if ((known || named) && (origin.Length == 0 || origin.Equals($"{context.Request.Scheme}://{host}", StringComparison.OrdinalIgnoreCase)
            || settings.Origins.Any(one => one.GetLeftPart(UriPartial.Authority).Equals(origin, StringComparison.OrdinalIgnoreCase)))
            && !(origin.Length == 0 && ForeignPage.Sends(context.Request.Headers)))
        {
            var headers = context.Response.Headers;
            headers.CacheControl = "no-store"; // pages have figures in them, which whoever has signed out shall not find; files that may be kept say so
            headers.XContentTypeOptions = "nosniff";
            headers["Referrer-Policy"] = "same-origin";
            headers.ContentSecurityPolicy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; "
                + "form-action 'self'; base-uri 'self'; frame-ancestors 'none'";
            return next(context);
        }

        context.Response.StatusCode = StatusCodes.Status403Forbidden;
        return context.Response.WriteAsync("The request names another server, or was sent by a page of another origin.");
    });
}
