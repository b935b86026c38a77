namespace Snapper.Sidecar.Hosting;

/// <summary>Reads the raw request target of an actor callback.</summary>
/// <remarks>
/// The raw target, because the server's own decoded path has lost what an id may hold: it removes dot segments and leaves
/// <c>%2F</c> as it is, so that an encoded slash and the text <c>%2F</c> look the same.
/// </remarks>
internal readonly ref struct ActorRoute
{
    private const string Prefix = "/actors/";
    private const string MethodSeparator = "/method/";

    /// <summary>Encoded type.</summary>
    public ReadOnlySpan<char> Type { get; private init; }

    /// <summary>Encoded id.</summary>
    public ReadOnlySpan<char> Id { get; private init; }

    /// <summary>Encoded method; with a slash for reminders and timers; empty in a deactivation.</summary>
    public ReadOnlySpan<char> Method { get; private init; }

    /// <summary><c>/actors/{type}/{id}/method/{method}[?query]</c></summary>
    public static bool TryParseCall(string target, out ActorRoute route)
    {
        if (!TrySplit(target, out var type, out var rest))
        {
            route = default;
            return false;
        }

        var separator = rest.IndexOf(MethodSeparator, StringComparison.Ordinal);
        if (separator <= 0 || separator + MethodSeparator.Length >= rest.Length)
        {
            route = default;
            return false;
        }

        route = new ActorRoute { Type = type, Id = rest[..separator], Method = rest[(separator + MethodSeparator.Length)..] };
        return route.Id.IndexOf('/') < 0;
    }

    /// <summary><c>/actors/{type}/{id}</c></summary>
    public static bool TryParseActor(string target, out ActorRoute route)
    {
        var fits = TrySplit(target, out var type, out var rest) && !rest.IsEmpty && rest.IndexOf('/') < 0;
        route = fits ? new ActorRoute { Type = type, Id = rest } : default;
        return fits;
    }

    private static bool TrySplit(string target, out ReadOnlySpan<char> type, out ReadOnlySpan<char> rest)
    {
        type = default;
        rest = default;
        var path = target.AsSpan();
        var query = path.IndexOf('?');
        if (query >= 0)
        {
            path = path[..query];
        }

        if (!path.StartsWith(Prefix, StringComparison.Ordinal))
        {
            return false;
        }

        path = path[Prefix.Length..];
        var slash = path.IndexOf('/');
        if (slash <= 0)
        {
            return false;
        }

        type = path[..slash];
        rest = path[(slash + 1)..];
        return true;
    }
}
