using System.Globalization;

namespace Snapper.AspNetCore.Processes;

/// <summary>An address as people write it: <c>localhost:6379</c>, <c>10.0.0.5:6379</c>, <c>[::1]:6379</c>.</summary>
internal readonly record struct HostAndPort(string Host, int Port)
{
    /// <summary>Reads <c>HOST:PORT</c>; false when either part is missing or the port is not 1 to 65535.</summary>
    public static bool TryParse(string text, out HostAndPort address)
    {
        address = default;
        var colon = text.LastIndexOf(':');
        if (colon <= 0) return false;
        var host = text[..colon];
        if (host.StartsWith('[') && host.EndsWith(']')) host = host[1..^1];
        else if (host.Contains(':', StringComparison.Ordinal)) return false;
        if (host.Length == 0 || host.Any(c => char.IsWhiteSpace(c) || c is '/' or '@' or ',')) return false;
        if (!int.TryParse(text.AsSpan(colon + 1), NumberStyles.None, CultureInfo.InvariantCulture, out var port) || port is < 1 or > 65535) return false;
        address = new HostAndPort(host, port);
        return true;
    }

    public override string ToString() => Host.Contains(':', StringComparison.Ordinal) ? $"[{Host}]:{Port}" : $"{Host}:{Port}";
}
