using System.Security.Claims;
using Microsoft.AspNetCore.Components.Authorization;
using Snapper.Security;

namespace Snapper.Dashboard.Access;

/// <summary>Who looks at this page, and what they may do. One per circuit.</summary>
public sealed class Holder(KnownTokens tokens, Sessions sessions, AuthenticationStateProvider states)
{
    private string? _session;

    /// <summary>There is a sign-in.</summary>
    public bool IsNamed => SignIn.IsOn(tokens);

    /// <summary>Name, role and token of whoever has signed in; without a sign-in everybody may do everything that the workers let the dashboard do.</summary>
    public async Task<(Principal Principal, string? Token)> Who()
    {
        if (!IsNamed) return (Principal.Everybody, null);
        var user = (await states.GetAuthenticationStateAsync()).User;
        _session = user.FindFirstValue(SignIn.SessionClaim);
        var token = user.FindFirstValue(SignIn.TokenClaim);
        return HasEnded ? (Principal.Nobody, null) : (tokens.Find(token) ?? Principal.Nobody, token);
    }

    /// <summary>Whoever opened this page has signed out since, or has been signed in too long. Known after <see cref="Who"/>.</summary>
    public bool HasEnded => IsNamed && _session is not null && !sessions.IsOpen(_session);
}
