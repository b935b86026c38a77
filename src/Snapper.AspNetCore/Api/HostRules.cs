using System.Net;
using Snapper.AspNetCore.Api.Answers;
using Snapper.Security;

namespace Snapper.AspNetCore.Api;

/// <summary>
/// Whom the worker's port answers: requests that name it by a loopback name, by the address they came to, or by a configured name, and that no web page of
/// another origin has sent. A page in a browser on this machine reaches loopback too: by a name of its own that it points there (DNS rebinding), or by
/// a plain cross-site POST, which browsers send without asking. Programs, daprd among them, send no <c>Origin</c>.
/// </summary>
/// <remarks>Answers carry no CORS headers: an allowed origin is one that a proxy in front of the worker serves.</remarks>
internal sealed class HostRules
{
    private const string Any = "*";

    // Nearly all requests name the same host.
    private volatile string? _lastAccepted;

    /// <summary>Further host names or addresses, without port; <c>*</c>: any. Default: none.</summary>
    public IReadOnlyList<string> AllowedHosts { get; init; } = [];

    /// <summary>Further origins, as <c>https://shop.example</c>; <c>*</c>: any. Default: none.</summary>
    public IReadOnlyList<string> AllowedOrigins { get; init; } = [];

    /// <summary>Puts the rules before everything that is added to the application later.</summary>
    public void Use(IApplicationBuilder app)
    {
        ArgumentNullException.ThrowIfNull(app);
        app.Use(Before);
    }

    /// <summary>Puts the rules before a handler.</summary>
    internal RequestDelegate Before(RequestDelegate next) =>
        context => Objection(context) is { } detail ? Refuse(context, detail) : next(context);

    private string? Objection(HttpContext context)
    {
        var headers = context.Request.Headers;
        var host = headers.Host.ToString();
        if (host.Length > 0 && host != _lastAccepted)
        {
            if (!IsOwn(context.Request.Host.Host, context.Connection.LocalIpAddress))
            {
                return "The Host header names another server. Setting Snapper:Http:AllowedHosts adds names.";
            }

            _lastAccepted = host;
        }

        // A picture or a frame of such a page says nothing of its origin, but browsers say of each request whether it is a page's of another site.
        var origin = headers.Origin;
        var isOwn = origin.Count == 0
            ? !ForeignPage.Sends(headers)
            : IsOwnOrigin(origin.ToString(), context.Request.Scheme, host);
        return isOwn
            ? null
            : "The request was sent by a web page of another origin. Setting Snapper:Http:AllowedOrigins adds origins.";
    }

    private bool IsOwn(string host, IPAddress? bound)
    {
        if (host.Equals("localhost", StringComparison.OrdinalIgnoreCase) || Contains(AllowedHosts, host))
        {
            return true;
        }

        return IPAddress.TryParse(host, out var address) && (IPAddress.IsLoopback(address) || address.Equals(bound) || address.MapToIPv6().Equals(bound));
    }

    private bool IsOwnOrigin(string origin, string scheme, string host) =>
        (host.Length > 0 && origin.Equals($"{scheme}://{host}", StringComparison.OrdinalIgnoreCase)) || Contains(AllowedOrigins, origin);

    private static bool Contains(IReadOnlyList<string> allowed, string name) =>
        allowed.Any(one => one == Any || one.Equals(name, StringComparison.OrdinalIgnoreCase));

    private static Task Refuse(HttpContext context, string detail) =>
        Respond.Send(context, Problem.Forbidden(detail));
}
