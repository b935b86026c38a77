using Snapper.Security;

namespace Snapper.Server.Api.Access;

/// <summary>Who sent a request, as far as it is certain.</summary>
/// <param name="Principal">Whom its tokens show.</param>
/// <param name="App">The Dapr app that sent it by service invocation; null: it came otherwise, or the header that says so could be anybody's.</param>
/// <param name="From">The address at the other end of the connection.</param>
internal sealed record RequestCaller(Principal Principal, string? App, string From)
{
    /// <summary>Whoever comes while nothing is configured.</summary>
    public static RequestCaller Everybody { get; } = new(Principal.Everybody, null, "unknown");

    /// <summary>Under which name methods know the caller; null: what its headers say.</summary>
    public string? Name => Principal.Role is Role.Nobody or Role.Everybody or Role.Sidecar ? null : Principal.Name;

    /// <summary>What limits the caller is told by; the address of one without a name.</summary>
    public string Key => Principal.Role is Role.Nobody or Role.Everybody ? From : App is not null && Principal.Role == Role.Sidecar ? "app:" + App : Principal.Name;
}
