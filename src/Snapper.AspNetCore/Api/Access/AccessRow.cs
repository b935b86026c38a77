using Snapper.Security;

namespace Snapper.AspNetCore.Api.Access;

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

/// <summary>One address of the worker, and what it asks of its callers: metadata of its endpoint.</summary>
/// <param name="Method">GET stands for HEAD, too; <see cref="AnyMethod"/>: every method that has no other row.</param>
/// <param name="Pattern">As it is mapped.</param>
/// <param name="Right">What callers must have.</param>
/// <param name="Reach">What those get who are bound to tenants.</param>
/// <param name="Action">The word under which it is audited; null: it is not.</param>
internal sealed record AccessRow(string Method, string Pattern, Right Right, Reach Reach, string? Action = null)
{
    /// <summary>Stands for every HTTP method.</summary>
    public const string AnyMethod = "*";

    /// <summary>Begins the raw path of a <see cref="Reach.Named"/> address; behind it stands the name.</summary>
    public string Prefix { get; } =
        Pattern[..(Pattern.IndexOf('{', StringComparison.Ordinal) is >= 0 and var brace ? brace : Pattern.Length)];
}

/// <summary>Says at the mapping of an address what it asks of its callers.</summary>
internal static class AccessConventions
{
    /// <summary>
    /// Adds the row to each endpoint that is built. An address without one is refused, and a worker that serves one
    /// does not start.
    /// </summary>
    public static void RequireRight(
        this IEndpointConventionBuilder builder, Right right, Reach reach, string? action = null) =>
        builder.Add(endpoint =>
        {
            var methods = endpoint.Metadata.OfType<IHttpMethodMetadata>().SingleOrDefault()?.HttpMethods;
            var pattern = ((RouteEndpointBuilder)endpoint).RoutePattern.RawText!;
            endpoint.Metadata.Add(new AccessRow(methods?[0] ?? AccessRow.AnyMethod, pattern, right, reach, action));
        });
}
