using System.Text.Json.Nodes;
using System.Text.RegularExpressions;
using Snapper.Cli.Supervision;

namespace Snapper.Server.Tests.OpenApi;

/// <summary>One documented operation.</summary>
internal sealed record Operation(string Method, string Path, JsonObject Description)
{
    /// <summary>Documented statuses.</summary>
    public IEnumerable<string> Statuses => Description["responses"]!.AsObject().Select(r => r.Key);

    public override string ToString() => $"{Method} {Path}";
}

/// <summary>docs/openapi.json.</summary>
internal sealed partial class ApiDescription
{
    private ApiDescription(JsonObject document)
    {
        Document = document;
        Operations = [.. document["paths"]!.AsObject().SelectMany(path => path.Value!.AsObject().Select(one => new Operation(one.Key.ToUpperInvariant(), path.Key, one.Value!.AsObject())))];
        Check = new SchemaCheck(document);
    }

    public static string File { get; } = Path.Combine(Repository.Find()!, "docs", "openapi.json");

    public JsonObject Document { get; }

    public IReadOnlyList<Operation> Operations { get; }

    public SchemaCheck Check { get; }

    public static ApiDescription Load() => new(JsonNode.Parse(System.IO.File.ReadAllText(File))!.AsObject());

    /// <summary>The documented operation that a request is; the one with fewest parameters when several could be meant, as a router chooses.</summary>
    public Operation? Find(string method, string path)
    {
        path = path.Split('?')[0];
        return Operations.Where(o => o.Method == method && Regex.IsMatch(path, "^" + Parameter().Replace(o.Path, "[^/]+") + "$")).MinBy(o => Parameter().Count(o.Path));
    }

    [GeneratedRegex(@"\{[^}]+\}")]
    private static partial Regex Parameter();
}
