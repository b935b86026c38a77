using Snapper.Security;

namespace Snapper.Server.Api.Access;

/// <summary>What a caller that is bound to tenants gets at an address.</summary>
internal enum Reach
{
    /// <summary>It shows or changes what belongs to all tenants together: refused.</summary>
    Whole,

    /// <summary>It names an actor or a request, which must be the tenant's: another one is not found.</summary>
    Named,

    /// <summary>Nothing in it belongs to a tenant, or the door looks at each transaction itself: let through.</summary>
    Common,
}

/// <summary>One address of the worker, and what it asks of its callers.</summary>
/// <param name="Method">HTTP method; <see cref="AccessTable.AnyMethod"/>: every one.</param>
/// <param name="Pattern">As it is mapped.</param>
/// <param name="Right">What callers must have.</param>
/// <param name="Reach">What those get who are bound to tenants.</param>
/// <param name="Action">The word under which it is audited; null: it is not.</param>
internal sealed record AccessRow(string Method, string Pattern, Right Right, Reach Reach, string? Action = null)
{
    /// <summary>Begins the raw path of a <see cref="Reach.Named"/> address; behind it stands the name.</summary>
    public string Prefix { get; } = Pattern[..(Pattern.IndexOf('{', StringComparison.Ordinal) is >= 0 and var brace ? brace : Pattern.Length)];
}
