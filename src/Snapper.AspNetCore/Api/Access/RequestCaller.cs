using System.Net;
using System.Net.Sockets;
using Snapper.Security;

namespace Snapper.AspNetCore.Api.Access;

/// <summary>Who sent a request, as far as it is certain.</summary>
/// <param name="Principal">Whom its tokens show.</param>
/// <param name="App">The Dapr app that sent it by service invocation; null: it came otherwise, or the header that says so could be anybody's.</param>
/// <param name="From">The address at the other end of the connection; <see cref="ThroughSidecar"/>.</param>
internal sealed record RequestCaller(Principal Principal, string? App, string From)
{
    /// <summary>Stands for the address of a caller at the actor door, who is at the sidecar's other side.</summary>
    public const string ThroughSidecar = "sidecar";

    private const string ThisMachine = "this machine";
    private const int Ipv6NetworkBytes = 8;

    private string? _key;

    /// <summary>Whoever comes while nothing is configured.</summary>
    public static RequestCaller Everybody { get; } = new(Principal.Everybody, null, "unknown");

    /// <summary>Under which name methods know the caller: <c>token:ann</c>, <c>app:shop</c>. Null: nothing certain is known.</summary>
    public string? Name => Principal.Role.IsOfToken() ? "token:" + Principal.Name : App is not null ? "app:" + App : null;

    /// <summary>What limits the caller is told by; of one without a name what it cannot change at will: its address, of IPv6 the network (/64). All that comes from this machine is one.</summary>
    public string Key => _key ??= Principal.Role.IsOfToken() ? Principal.Name
        : App is not null ? "app:" + App
        : Principal.Role is Role.Nobody or Role.Everybody ? OfAddress(From)
        : Principal.Name;

    /// <summary>
    /// Who it is among those that are told apart; null: who comes from this machine, or through the sidecar without a
    /// name, may be anyone.
    /// </summary>
    public string? Apart => Name ?? (IsOfAnotherMachine ? Key : null);

    /// <summary>Its address is known, and not this machine's.</summary>
    public bool IsOfAnotherMachine => Principal.Role is Role.Nobody or Role.Everybody && From != ThroughSidecar
        && IPAddress.TryParse(From, out var address) && !IPAddress.IsLoopback(address);

    /// <summary>
    /// It has a share of its own. Who comes from this machine, or through the sidecar without a name, may be anyone.
    /// </summary>
    public bool IsKnownApart => Name is not null || IsOfAnotherMachine;

    private static string OfAddress(string from)
    {
        if (from == ThroughSidecar) return ThisMachine;
        if (!IPAddress.TryParse(from, out var address)) return from;
        if (IPAddress.IsLoopback(address)) return ThisMachine;
        return address.AddressFamily == AddressFamily.InterNetworkV6 ? $"{new IPAddress([.. address.GetAddressBytes()[..Ipv6NetworkBytes], .. new byte[Ipv6NetworkBytes]])}/64" : from;
    }
}
