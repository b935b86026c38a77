using System.Globalization;
using System.Net;
using System.Security.Claims;
using System.Text;
using System.Threading.RateLimiting;
using Microsoft.AspNetCore.Antiforgery;
using Microsoft.AspNetCore.Authentication;
using Microsoft.AspNetCore.Authentication.Cookies;
using Snapper.Security;

namespace Snapper.Dashboard.Access;

/// <summary>
/// Who may see the dashboard: whoever shows a token that the workers know, with a role that may look. The token goes into an encrypted cookie that scripts cannot read, and from there with
/// what its holder asks for to the workers, who decide and write down who it was. Where no tokens are configured there is no sign-in, and the dashboard listens on loopback only.
/// </summary>
internal static class SignIn
{
    public const string Path = "/sign-in";
    public const string OutPath = "/sign-out";

    /// <summary>Claim with the holder's token.</summary>
    public const string TokenClaim = "token";

    /// <summary>Claim with the session; see <see cref="Sessions"/>.</summary>
    public const string SessionClaim = "session";

    private const string Scheme = CookieAuthenticationDefaults.AuthenticationScheme;
    private const string Attempts = "sign-in";
    private const int AttemptsPerMinute = 10;

    private static readonly TimeSpan s_stays = TimeSpan.FromHours(8);

    public static void Add(IServiceCollection services, KnownTokens tokens, bool isBehindTls)
    {
        services.AddSingleton(tokens);
        services.AddSingleton(new Sessions(TimeProvider.System));
        services.AddCascadingAuthenticationState();
        services.AddAuthentication(Scheme).AddCookie(cookie =>
        {
            cookie.Cookie.Name = "snapper";
            cookie.Cookie.HttpOnly = true;
            cookie.Cookie.SameSite = SameSiteMode.Strict;
            cookie.Cookie.SecurePolicy = isBehindTls ? CookieSecurePolicy.Always : CookieSecurePolicy.SameAsRequest;
            cookie.ExpireTimeSpan = s_stays;
            cookie.SlidingExpiration = true;
            cookie.Events.OnValidatePrincipal = context =>
            {
                // A token that was taken back ends what was begun with it, at the next start at the latest.
                var sessions = context.HttpContext.RequestServices.GetRequiredService<Sessions>();
                if (!sessions.IsOpen(context.Principal?.FindFirst(SessionClaim)?.Value) || tokens.Find(context.Principal?.FindFirst(TokenClaim)?.Value) is null) context.RejectPrincipal();
                return Task.CompletedTask;
            };
        });
        services.AddRateLimiter(limiter =>
        {
            limiter.RejectionStatusCode = StatusCodes.Status429TooManyRequests;
            limiter.AddPolicy(Attempts, context => RateLimitPartition.GetFixedWindowLimiter(
                context.Connection.RemoteIpAddress ?? IPAddress.None, static _ => new FixedWindowRateLimiterOptions { PermitLimit = AttemptsPerMinute, Window = TimeSpan.FromMinutes(1) }));
        });
    }

    /// <summary>Nobody passes who has not signed in, but to the page where that is done and the style it needs.</summary>
    public static void Guard(WebApplication app)
    {
        if (!IsOn(app.Services.GetRequiredService<KnownTokens>())) return;
        app.UseAuthentication();
        app.Use((context, next) =>
        {
            var path = context.Request.Path;
            if (context.User.Identity is { IsAuthenticated: true } || path == Path || path == "/healthz" || path == "/snapper.css" || path == "/favicon.svg") return next(context);
            if (HttpMethods.IsGet(context.Request.Method) && context.Request.Headers.Accept.ToString().Contains("text/html", StringComparison.Ordinal))
            {
                context.Response.Redirect($"{Path}?then={Uri.EscapeDataString(path + context.Request.QueryString)}");
                return Task.CompletedTask;
            }

            context.Response.StatusCode = StatusCodes.Status401Unauthorized;
            return context.Response.WriteAsync("Sign in first.");
        });
        app.UseRateLimiter();
    }

    public static void Map(WebApplication app)
    {
        if (!IsOn(app.Services.GetRequiredService<KnownTokens>())) return;
        app.MapGet(Path, (HttpContext context, IAntiforgery antiforgery, string? then) => Page(context, antiforgery, then, null));
        app.MapPost(Path, Enter).RequireRateLimiting(Attempts);
        app.MapPost(OutPath, async (HttpContext context, IAntiforgery antiforgery, Sessions sessions) =>
        {
            if (!await antiforgery.IsRequestValidAsync(context)) return Results.BadRequest("The form is old: load the page again.");
            sessions.End(context.User.FindFirst(SessionClaim)?.Value);
            await context.SignOutAsync(Scheme);
            return Results.LocalRedirect(Path);
        });
    }

    /// <summary>Tokens are configured, and somebody's may look.</summary>
    public static bool IsOn(KnownTokens tokens) => tokens.Principals.Any(MayLook);

    private static bool MayLook(Principal principal) => principal.Role.Has(Right.View) && !principal.IsBound;

    private static async Task<IResult> Enter(HttpContext context, IAntiforgery antiforgery, KnownTokens tokens, Sessions sessions)
    {
        var form = context.Request.HasFormContentType ? await context.Request.ReadFormAsync(context.RequestAborted) : FormCollection.Empty;
        var then = form["then"].ToString();
        if (!await antiforgery.IsRequestValidAsync(context))
        {
            return Page(context, antiforgery, then, "This form was old. Try once more.", StatusCodes.Status400BadRequest);
        }

        var token = form["token"].ToString().Trim();
        if (tokens.Find(token) is not { } principal)
        {
            return Page(context, antiforgery, then, "Nobody has this token.", StatusCodes.Status401Unauthorized);
        }

        if (!MayLook(principal))
        {
            return Page(context, antiforgery, then, $"{principal.Name} may not look at everything: it takes the role viewer, operator or admin, bound to no tenant.", StatusCodes.Status403Forbidden);
        }

        var identity = new ClaimsIdentity(
            [new(ClaimTypes.Name, principal.Name), new(ClaimTypes.Role, principal.Role.Name()), new(TokenClaim, token), new(SessionClaim, sessions.Begin())], Scheme);
        await context.SignInAsync(Scheme, new ClaimsPrincipal(identity));
        return Results.LocalRedirect(IsLocal(then) ? then : "/");
    }

    // Not to another server: "//host" and "/\host" are addresses of one.
    private static bool IsLocal(string then) => then is ['/', ..] and not ['/', '/' or '\\', ..] && !then.Any(char.IsControl);

    private static IResult Page(HttpContext context, IAntiforgery antiforgery, string? then, string? problem, int status = StatusCodes.Status200OK)
    {
        var tokens = antiforgery.GetAndStoreTokens(context);
        context.Response.Headers.CacheControl = "no-store";
        var page = string.Create(CultureInfo.InvariantCulture, $"""
            <!DOCTYPE html>
            <html lang="en">
            <head>
                <meta charset="utf-8" />
                <meta name="viewport" content="width=device-width, initial-scale=1" />
                <meta name="color-scheme" content="light dark" />
                <title>Sign in – Snapper</title>
                <link rel="icon" type="image/svg+xml" href="{BrowserFiles.Url("favicon.svg")}" />
                <link rel="stylesheet" href="{BrowserFiles.Url("snapper.css")}" />
            </head>
            <body class="sign-in">
                <main>
                    <h1>Snapper</h1>
                    <form method="post" action="{Path}" class="panel">
                        <input type="hidden" name="{tokens.FormFieldName}" value="{tokens.RequestToken}" />
                        <input type="hidden" name="then" value="{WebUtility.HtmlEncode(then)}" />
                        <label>Your token <input type="password" name="token" autocomplete="current-password" required autofocus /></label>
                        <button type="submit" class="primary">Sign in</button>
                        <p class="lead">Whoever runs this system makes one with <code>./snapper token</code>.</p>
                        {(problem is null ? "" : $"<p class=\"note failed\" role=\"alert\">{WebUtility.HtmlEncode(problem)}</p>")}
                    </form>
                </main>
            </body>
            </html>
            """);
        return Results.Content(page, "text/html; charset=utf-8", Encoding.UTF8, status);
    }
}
