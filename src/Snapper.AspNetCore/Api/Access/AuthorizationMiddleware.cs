using Snapper.AspNetCore.Api.Answers;
using Snapper.AspNetCore.Api.Paths;
using Snapper.Runtime.Door;
using Snapper.Security;
using Snapper.Sidecar;
using Snapper.Sidecar.Hosting;

namespace Snapper.AspNetCore.Api.Access;

/// <summary>
/// The one place of the worker that authenticates the caller, and checks its right against the
/// <see cref="AccessRow"/> of its endpoint. What a transaction names is checked later
/// (<see cref="TransactionAuthorization"/>).
/// </summary>
/// <remarks>While nothing is configured a request costs one look-up of metadata here, and allocates nothing.</remarks>
internal sealed class AuthorizationMiddleware
{
    // Requests without a known token that an address may send, per second and at once: those who guess are slow.
    private const int UnknownRate = 20;
    private const int UnknownBurst = 200;

    private const string NeedsOwnToken = "A token is needed: Authorization: Bearer. The sidecar alone only hosts actors here (Snapper:Security:SidecarMay).";

    private readonly KnownTokens _tokens;
    private readonly AppApiToken _sidecar;
    private readonly Principal _sidecarIs;
    private readonly RequestLimits _limits;
    private readonly RequestLimits _unknown = new(UnknownRate, UnknownBurst, isNeeded: false);
    private readonly AuditLog _audit;
    private readonly bool _isOpen;
    private readonly bool _looksAtNobody;

    /// <param name="tokens">Tokens of people and tools.</param>
    /// <param name="appApiToken">What the sidecar shows; null: nothing.</param>
    /// <param name="limits">How many requests a caller may send.</param>
    /// <param name="audit">Where admin actions are written down.</param>
    /// <param name="hasRights">The doors look at who runs what.</param>
    /// <param name="sidecarMayTransact">Also for callers who show no token of their own.</param>
    public AuthorizationMiddleware(KnownTokens tokens, string? appApiToken, RequestLimits limits, AuditLog audit, bool hasRights, bool sidecarMayTransact = true)
    {
        _tokens = tokens;
        _sidecar = new AppApiToken(appApiToken);
        _limits = limits;
        _audit = audit;
        _isOpen = tokens.Count == 0 && !_sidecar.IsRequired;
        _looksAtNobody = _isOpen && limits.AreOff && !hasRights;

        // Where the sidecar's token is the only one that there is, whoever has it may do everything.
        _sidecarIs = tokens.Count == 0 ? new Principal("sidecar", Role.Everybody) : sidecarMayTransact ? Principal.Sidecar : Principal.Channel;
    }

    /// <summary>Puts the gate before everything that is added to the application later.</summary>
    public void Use(IApplicationBuilder app) => app.Use(Before);

    /// <summary>Puts the gate before the handler of an endpoint that has a row.</summary>
    public RequestDelegate Before(RequestDelegate next) => context => Pass(context, next);

    /// <summary>Throws when an address is served that has no row: it would be refused, and whoever added it shall hear it at once.</summary>
    /// <exception cref="NotSupportedException">One has none; the message names it.</exception>
    public static void Verify(IEndpointRouteBuilder endpoints)
    {
        foreach (var endpoint in endpoints.DataSources.SelectMany(source => source.Endpoints))
        {
            if (RowOf(endpoint) is null)
            {
                throw new NotSupportedException($"{endpoint.DisplayName} does not say what right it needs.");
            }
        }
    }

    /// <summary>Why a caller whom the gate let through to a stream of views may not see one of them; null: it may.</summary>
    /// <param name="view">A request for the view at its own address.</param>
    /// <param name="caller">Who asks.</param>
    /// <param name="row">Of that address.</param>
    public static Problem? ViewProblem(HttpContext view, RequestCaller caller, AccessRow row) => RoleProblem(caller, row) ?? TenantProblem(view, caller.Principal, row);

    /// <summary>Who sends an actor call: the sidecar brings it, and the caller may have added a token of its own.</summary>
    /// <param name="authorization">The call's header; null: none.</param>
    /// <param name="caller">Who; null when refused, or when nothing is configured.</param>
    /// <returns>Null, or why it is refused.</returns>
    public Rejection? OfActorCall(string? authorization, out RequestCaller? caller)
    {
        caller = null;
        if (_looksAtNobody)
        {
            return null;
        }

        // daprd writes its own app's id into actor calls, whoever sent them: of the caller nothing is known but its token.
        var principal = _isOpen ? Principal.Everybody : _tokens.Count == 0 || string.IsNullOrEmpty(authorization) ? _sidecarIs : _tokens.FindBearer(authorization);
        if (principal is null)
        {
            return new Rejection(RejectionKind.Unauthorized, "The Authorization header shows no token that is known here.");
        }

        if (principal.Role == Role.Channel)
        {
            return new Rejection(RejectionKind.Unauthorized, NeedsOwnToken);
        }

        var found = new RequestCaller(principal, null, RequestCaller.ThroughSidecar);
        if (_limits.Take(found) is { } later)
        {
            return new Rejection(RejectionKind.Overloaded, $"{found.Key} sends more requests than its rate.", later);
        }

        caller = found;
        return null;
    }

    private Task Pass(HttpContext context, RequestDelegate next)
    {
        var row = RowOf(context.GetEndpoint());
        if (QuerySecrets.ProblemOf(context, row) is { } wrong)
        {
            return Respond.Send(context, wrong);
        }

        if (row is null)
        {
            return Respond.Send(context, Problem.Forbidden("This address does not say what right it needs."));
        }

        if (_looksAtNobody && row.Action is null)
        {
            return next(context);
        }

        return row.Right == Right.Open ? next(context) : Decide(context, row, next);
    }

    private async Task Decide(HttpContext context, AccessRow row, RequestDelegate next)
    {
        var caller = Identify(context, row, out var problem);
        if (problem is null && row.Right != Right.Channel && _limits.Take(caller) is { } later)
        {
            problem = Problem.Overloaded($"{caller.Key} sends more requests than its rate.", later);
        }

        problem ??= RoleProblem(caller, row) ?? TenantProblem(context, caller.Principal, row);
        if (problem is { Status: StatusCodes.Status401Unauthorized } && _unknown.Take(caller) is { } wait)
        {
            context.Response.Headers.Connection = "close";
            problem = Problem.Overloaded($"{caller.Key} shows no token that is known here, too often.", wait);
        }

        if (problem is { } refused)
        {
            _audit.Refused(row, caller, refused);
            if (refused.Status == StatusCodes.Status401Unauthorized) context.Response.Headers.WWWAuthenticate = "Bearer";
            await Respond.Send(context, refused);
            return;
        }

        context.Features.Set(caller);
        if (row.Action is null)
        {
            await next(context);
            return;
        }

        var note = new AuditNote();
        context.Features.Set(note);
        try
        {
            await next(context);
        }
        finally
        {
            // Also when the caller has gone, or it failed: what was begun may be done.
            _audit.Done(row, caller, note, context.Response.HasStarted ? context.Response.StatusCode : StatusCodes.Status499ClientClosedRequest);
        }
    }

    private RequestCaller Identify(HttpContext context, AccessRow row, out Problem? problem)
    {
        problem = null;
        var from = AddressOf(context);
        if (_isOpen)
        {
            return new RequestCaller(Principal.Everybody, null, from); // nothing shows that a sidecar has sent it, so no header of a sidecar counts
        }

        var headers = context.Request.Headers;
        var shown = headers[DaprHeaders.ApiToken];
        var isSidecar = shown.Count > 0 && _sidecar.IsRequired && _sidecar.Accepts(context.Request);
        if (shown.Count > 0 && !isSidecar)
        {
            problem = Problem.Unauthorized("The header dapr-api-token is missing or wrong.");
            return new RequestCaller(Principal.Nobody, null, from);
        }

        var app = isSidecar ? AppOf(context.Request) : null;
        if (row.Right == Right.Channel)
        {
            // By service invocation every address can be reached, those also that are the sidecar's alone.
            problem = !isSidecar ? Problem.Unauthorized("The header dapr-api-token is missing or wrong: start the sidecar with the APP_API_TOKEN that this worker has.")
                : headers.ContainsKey(DaprHeaders.CalleeAppId) ? Problem.Forbidden("This address is the sidecar's own; by service invocation it is not reached.")
                : null;
            return new RequestCaller(isSidecar ? Principal.Sidecar : Principal.Nobody, app, from);
        }

        if (_tokens.Count > 0 && headers.Authorization.Count > 0)
        {
            var found = headers.Authorization.Count == 1 ? _tokens.FindBearer(headers.Authorization) : null;
            problem = found is null ? Problem.Unauthorized("The Authorization header shows no token that is known here.") : null;
            return new RequestCaller(found ?? Principal.Nobody, app, from);
        }

        if (!isSidecar)
        {
            problem = Problem.Unauthorized(_tokens.Count > 0 ? "A token is needed: Authorization: Bearer." : "The header dapr-api-token is missing or wrong.");
            return new RequestCaller(Principal.Nobody, null, from);
        }

        return new RequestCaller(_sidecarIs, app, from);
    }

    /// <summary>The app that a sidecar names. Callers can send the header too, and then there are two of it, in no order: it counts only when it stands alone, beside the one that only a sidecar adds.</summary>
    private static string? AppOf(HttpRequest request) =>
        request.Headers.ContainsKey(DaprHeaders.CalleeAppId) && request.Headers[DaprHeaders.CallerAppId] is [{ Length: > 0 and <= 128 } app] && !app.Contains(',', StringComparison.Ordinal) ? app : null;

    private static AccessRow? RowOf(Endpoint? endpoint) => endpoint?.Metadata.GetMetadata<AccessRow>();

    private static Problem? RoleProblem(RequestCaller caller, AccessRow row) => caller.Principal.Role switch
    {
        var role when role.Has(row.Right) => null,
        Role.Channel => Problem.Unauthorized(NeedsOwnToken),
        Role.Nobody => Problem.Unauthorized("A token is needed: Authorization: Bearer."),
        _ => Problem.Forbidden($"{caller.Principal.Name} has the role {caller.Principal.Role.Name()}, which has not the right to {row.Right.ToString().ToLowerInvariant()}."),
    };

    private static Problem? TenantProblem(HttpContext context, Principal principal, AccessRow row)
    {
        if (!principal.IsBound || row.Reach == Reach.Common)
        {
            return null;
        }

        if (row.Reach == Reach.Whole)
        {
            return Problem.Forbidden($"{principal.Name} is bound to tenants, and this belongs to all of them together.");
        }

        // Read as the address's own handler reads it; what that cannot read it refuses itself.
        var path = RawPath.After(context, row.Prefix) ?? "";
        if (row.Prefix != ActorAddress.Prefix)
        {
            return OfAnother(principal, Uri.UnescapeDataString(path));
        }

        return ActorAddress.TryReadView(path, out var actor, out _, out var unreadable) ? OfAnother(principal, actor.Id) : unreadable;
    }

    private static Problem? OfAnother(Principal principal, string name) =>
        principal.MayName(name) ? null : Problem.NotFound("There is nothing of this name, or it belongs to another tenant.");

    private static string AddressOf(HttpContext context) => context.Connection.RemoteIpAddress switch
    {
        null => "unknown",
        { IsIPv4MappedToIPv6: true } mapped => mapped.MapToIPv4().ToString(),
        var address => address.ToString(),
    };
}
