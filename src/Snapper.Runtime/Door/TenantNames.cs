namespace Snapper.Runtime.Door;

/// <summary>
/// Whose an actor is, where tenants are kept apart: its id begins with the tenant's name and a slash, <c>acme/alice</c>. Ids without a slash are nobody's. A transaction stays within the
/// tenant of its root: each call is checked where it is made, against the id of the actor that makes it, so that no message has to carry a tenant.
/// </summary>
public static class TenantNames
{
    private const char Separator = '/';

    /// <summary>The tenant of an id; empty: nobody's.</summary>
    public static ReadOnlySpan<char> TenantOf(string id)
    {
        ArgumentNullException.ThrowIfNull(id);
        var end = id.IndexOf(Separator, StringComparison.Ordinal);
        return end < 0 ? default : id.AsSpan(0, end);
    }

    /// <summary>Whether two ids are the same tenant's, or both nobody's.</summary>
    public static bool AreTogether(string one, string other) => TenantOf(one).SequenceEqual(TenantOf(other));
}
