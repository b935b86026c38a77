namespace Snapper.AspNetCore.Processes;

/// <summary>A Redis as people name it: <c>HOST:PORT</c> or <c>redis://[USER[:PASSWORD]@]HOST:PORT</c>, with TLS <c>rediss://</c>; user and password with percent escapes.</summary>
/// <remarks>Prints the place alone.</remarks>
internal sealed class RedisAddress
{
    private const string Scheme = "redis://";
    private const string TlsScheme = "rediss://";

    private RedisAddress(HostAndPort place, string? user, string? password, bool isTls)
    {
        IsTls = isTls;
        Place = place;
        User = user;
        Password = password;
    }

    public HostAndPort Place { get; }

    /// <summary>It was named with <c>rediss://</c>.</summary>
    public bool IsTls { get; }

    /// <summary>Null: none is named.</summary>
    public string? User { get; }

    /// <summary>Null: none is given here. Never to be printed.</summary>
    public string? Password { get; }

    /// <summary>Reads what was given with <c>--redis</c>, which must not hold a password, or with <c>SNAPPER_REDIS</c>, which may.</summary>
    /// <exception cref="UsageException">It is wrong. What could be a password is not repeated.</exception>
    public static RedisAddress Parse(string text, bool fromCommandLine) =>
        Parse(text, fromCommandLine, fromCommandLine ? "--redis" : "SNAPPER_REDIS");

    /// <summary>The same of one that was given in another way.</summary>
    /// <param name="text">The address.</param>
    /// <param name="fromCommandLine">It must not hold a password.</param>
    /// <param name="given">The option's or variable's name.</param>
    /// <exception cref="UsageException">It is wrong. What could be a password is not repeated.</exception>
    public static RedisAddress Parse(string text, bool fromCommandLine, string given)
    {
        var isTls = text.StartsWith(TlsScheme, StringComparison.OrdinalIgnoreCase);
        var rest = isTls ? text[TlsScheme.Length..] : text.StartsWith(Scheme, StringComparison.OrdinalIgnoreCase) ? text[Scheme.Length..] : text;
        var at = rest.LastIndexOf('@');
        var login = at < 0 ? "" : rest[..at];
        var place = rest[(at + 1)..];
        if (rest.Length != text.Length) place = place.TrimEnd('/');
        else if (at >= 0) throw new UsageException($"{given} must be HOST:PORT or redis://[USER@]HOST:PORT.");
        if (!HostAndPort.TryParse(place, out var address)) throw new UsageException($"{given} must be HOST:PORT or redis://[USER@]HOST:PORT, not '{(at < 0 ? text : "..." + rest[at..])}'.");

        var colon = login.IndexOf(':', StringComparison.Ordinal);
        var password = colon < 0 ? null : Uri.UnescapeDataString(login[(colon + 1)..]);
        if (!string.IsNullOrEmpty(password) && fromCommandLine)
        {
            throw new UsageException(
                $"{given} holds a password, which everybody on this machine could read there. Give it in "
                + $"{RedisLogin.PasswordVariable}, or in a file that {RedisLogin.FileVariable} names.");
        }

        var user = Uri.UnescapeDataString(colon < 0 ? login : login[..colon]);
        return new RedisAddress(address, user.Length == 0 ? null : user, string.IsNullOrEmpty(password) ? null : password, isTls);
    }

    public override string ToString() => Place.ToString();
}
