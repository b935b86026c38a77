using System.Globalization;
using System.Text;
using Snapper.Security;

namespace Snapper.Server.Api.Access;

/// <summary>
/// Every address that the worker serves, with the right that it asks for: the one place from which requests are decided, the table in docs/security.md is written, and the tests run.
/// An address without a row is refused, and a worker that serves one does not start.
/// </summary>
internal static class AccessTable
{
    /// <summary>Stands for every HTTP method.</summary>
    public const string AnyMethod = "*";

    /// <summary>The rows, each address once.</summary>
    public static IReadOnlyList<AccessRow> Rows { get; } =
    [
        new("GET", "/healthz", Right.Open, Reach.Common),
        new("GET", "/readyz", Right.Open, Reach.Common),
        new("GET", "/metrics", Right.Open, Reach.Common),

        new("GET", "/dapr/config", Right.Channel, Reach.Common),
        new("GET", "/dapr/subscribe", Right.Channel, Reach.Common),
        new("PUT", "/actors/{**actor}", Right.Channel, Reach.Common),
        new("DELETE", "/actors/{**actor}", Right.Channel, Reach.Common),

        new("POST", "/v1/transactions", Right.Transact, Reach.Common),
        new("GET", "/v1/transactions/{**id}", Right.Ask, Reach.Named),

        new("GET", "/v1/actor-types", Right.Ask, Reach.Common),
        new("GET", "/v1/actors/{**actor}", Right.View, Reach.Named),
        new("PUT", "/v1/actors/{**actor}", Right.Administer, Reach.Whole, "import"),
        new("DELETE", "/v1/actors/{**actor}", Right.Administer, Reach.Whole, "delete"),
        new("GET", "/v1/actors", Right.View, Reach.Whole),
        new("GET", "/v1/traces", Right.View, Reach.Whole),
        new("GET", "/v1/traces/{**id}", Right.View, Reach.Whole),
        new("GET", "/v1/hot", Right.View, Reach.Whole),
        new("GET", "/v1/access", Right.View, Reach.Whole),
        new("GET", "/v1/ring", Right.View, Reach.Whole),
        new("GET", "/v1/status", Right.View, Reach.Whole),
        new("GET", "/v1/batches", Right.View, Reach.Whole),
        new("GET", "/v1/batches/{bid}", Right.View, Reach.Whole),
        new("GET", "/v1/aborts", Right.View, Reach.Whole),
        new("GET", "/v1/events", Right.View, Reach.Whole),
        new("GET", "/v1/workers", Right.View, Reach.Whole),
        new("GET", "/v1/directory", Right.View, Reach.Whole),
        new("GET", "/v1/migrations", Right.View, Reach.Whole),
        new("GET", "/v1/migrations/proposals", Right.View, Reach.Whole),
        new("GET", "/v1/migrations/{**id}", Right.View, Reach.Whole),

        new("GET", "/v1/audit", Right.Operate, Reach.Whole),
        new("POST", "/v1/migrations", Right.Operate, Reach.Whole, "migrate"),
        new("POST", "/v1/leave", Right.Administer, Reach.Whole, "leave"),

        new(AnyMethod, "/{**path}", Right.Identified, Reach.Common),
    ];

    /// <summary>
    /// The row of an address; null: there is none. HEAD asks for the right of GET. An address asked with a method that it does not take only says so, to
    /// everybody who is somebody.
    /// </summary>
    public static AccessRow? Of(Endpoint? endpoint)
    {
        if (endpoint is not RouteEndpoint { RoutePattern.RawText: { } pattern })
        {
            return null;
        }

        var methods = endpoint.Metadata.GetMetadata<IHttpMethodMetadata>()?.HttpMethods;
        var method = methods switch { null or { Count: 0 } => AnyMethod, [var one] => one, ["GET", "HEAD"] => "GET", _ => null };
        AccessRow? sameAddress = null;
        foreach (var row in Rows)
        {
            if (row.Pattern != pattern) continue;
            if (row.Method == method) return row;
            sameAddress = row;
        }

        return sameAddress is null || method != AnyMethod ? null
            : sameAddress.Right == Right.Open ? sameAddress with { Method = AnyMethod }
            : new AccessRow(AnyMethod, pattern, Right.Identified, Reach.Common);
    }

    /// <summary>What an address answers to a role that asks: 0, its own answer; else 401 or 403.</summary>
    public static int Refusal(AccessRow row, Role role) =>
        role.Has(row.Right) ? 0 : role == Role.Nobody ? StatusCodes.Status401Unauthorized : StatusCodes.Status403Forbidden;

    /// <summary>The table as the documentation shows it.</summary>
    public static string ToMarkdown()
    {
        Role[] roles = [Role.Nobody, Role.Sidecar, .. Roles.OfTokens];
        var text = new StringBuilder("| address | right |");
        foreach (var role in roles) text.Append(CultureInfo.InvariantCulture, $" {role.Name()} |");
        text.Append(" bound to tenants | audited |\n|---|---|").Insert(text.Length, "---|", roles.Length + 2).Append('\n');
        foreach (var row in Rows)
        {
            text.Append(CultureInfo.InvariantCulture, $"| `{(row.Method == AnyMethod ? "any other" : row.Method + " " + Address(row.Pattern))}` | {row.Right.ToString().ToLowerInvariant()} |");
            foreach (var role in roles)
            {
                text.Append(CultureInfo.InvariantCulture, $" {(Refusal(row, role) is > 0 and var status ? status : "yes")} |");
            }

            var bound = row.Reach switch { Reach.Whole => "403", Reach.Named => "its own; else 404", _ => "as its role" };
            text.Append(CultureInfo.InvariantCulture, $" {bound} | {row.Action ?? ""} |\n");
        }

        return text.ToString();
    }

    private static string Address(string pattern) => pattern.Replace("{**actor}", pattern.StartsWith("/v1", StringComparison.Ordinal) ? "{type}/{id}..." : "...", StringComparison.Ordinal).Replace("{**", "{", StringComparison.Ordinal);
}
