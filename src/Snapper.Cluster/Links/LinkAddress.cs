using System.Diagnostics.CodeAnalysis;
using System.Globalization;
using System.Net;

namespace Snapper.Cluster.Links;

/// <summary>Where a worker takes direct links of others, as it is registered: <c>host:port machine</c>.</summary>
/// <param name="Host">Name or address.</param>
/// <param name="Port">1 to 65,535.</param>
/// <param name="Machine">Name of its machine, or of its pod: an address on loopback leads nowhere else.</param>
public readonly record struct LinkAddress(string Host, int Port, string Machine)
{
    /// <summary>It is on loopback: only workers on the same machine reach it.</summary>
    public bool IsLoopback => Host == "localhost"
        || (IPAddress.TryParse(Host, out var address) && IPAddress.IsLoopback(address));

    /// <summary>Reads it.</summary>
    /// <returns>False: it is none; the worker takes no links, or is of a version without them.</returns>
    public static bool TryParse(string text, [NotNullWhen(true)] out LinkAddress? address)
    {
        address = null;
        var space = text.IndexOf(' ', StringComparison.Ordinal);
        var colon = space < 0 ? -1 : text.LastIndexOf(':', space);
        if (colon < 1 || !int.TryParse(text.AsSpan(colon + 1, space - colon - 1), NumberStyles.None,
            CultureInfo.InvariantCulture, out var port)
            || port is < 1 or > ushort.MaxValue)
        {
            return false;
        }

        address = new LinkAddress(text[..colon].Trim('[', ']'), port, text[(space + 1)..]);
        return true;
    }

    /// <inheritdoc />
    public override string ToString() => $"{Place} {Machine}";

    /// <summary>Without the machine.</summary>
    public string Place => string.Create(
        CultureInfo.InvariantCulture, $"{(Host.Contains(':', StringComparison.Ordinal) ? $"[{Host}]" : Host)}:{Port}");
}
