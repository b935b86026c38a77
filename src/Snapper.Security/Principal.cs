namespace Snapper.Security;

/// <summary>An authenticated caller. Immutable.</summary>
/// <param name="name">For the audit and for rules; not a secret.</param>
/// <param name="role">What it may do.</param>
/// <param name="tenants">Whose names it may use; none: all.</param>
/// <param name="ratePerSecond">Requests per second that it may send; null: what holds for all.</param>
public sealed class Principal(
    string name, Role role, IReadOnlyList<string>? tenants = null, double? ratePerSecond = null)
{
    private readonly string[] _prefixes = [.. (tenants ?? []).Select(tenant => tenant + "/")];

    /// <summary>While no token is configured all callers are this one.</summary>
    public static Principal Everybody { get; } = new("everybody", Role.Everybody);

    /// <summary>The sidecar, for a caller without a token of its own.</summary>
    public static Principal Sidecar { get; } = new("sidecar", Role.Sidecar);

    /// <summary>The sidecar, where a caller without a token of its own may do nothing.</summary>
    public static Principal Channel { get; } = new("sidecar", Role.Channel);

    /// <summary>A caller who was not authenticated.</summary>
    public static Principal Nobody { get; } = new("nobody", Role.Nobody);

    /// <summary>For the audit and for rules.</summary>
    public string Name { get; } = name;

    /// <summary>What it may do.</summary>
    public Role Role { get; } = role;

    /// <summary>Whose names it may use; empty: all.</summary>
    public IReadOnlyList<string> Tenants { get; } = tenants ?? [];

    /// <summary>Requests per second that it may send; null: what holds for all.</summary>
    public double? RatePerSecond { get; } = ratePerSecond;

    /// <summary>It is bound to tenants: it may not see what belongs to all together.</summary>
    public bool IsBound => _prefixes.Length > 0;

    /// <summary>Whether it may use a name: the id of an actor or of a request. Of one that is bound to <c>acme</c> they begin with <c>acme/</c>.</summary>
    public bool MayName(ReadOnlySpan<char> id)
    {
        if (_prefixes.Length == 0)
        {
            return true;
        }

        foreach (var prefix in _prefixes)
        {
            if (id.Length > prefix.Length && id.StartsWith(prefix, StringComparison.Ordinal)) return true;
        }

        return false;
    }

    /// <inheritdoc/>
    public override string ToString() => $"{Name} ({Role.Name()})";
}
