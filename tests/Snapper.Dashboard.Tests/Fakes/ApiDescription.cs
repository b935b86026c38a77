using System.Text.Json;
using System.Text.RegularExpressions;

namespace Snapper.Dashboard.Tests.Fakes;

/// <summary>What docs/openapi.json says of the answers to GET, which is checked against workers elsewhere.</summary>
internal static partial class ApiDescription
{
    private static readonly JsonElement s_document = JsonDocument.Parse(typeof(ApiDescription).Assembly.GetManifestResourceStream("openapi.json")!).RootElement;

    /// <summary>The schemas that an answer may have: several where it depends on the query; none: there is no such address.</summary>
    /// <param name="path">Without its query; /v1/batches/7, say.</param>
    public static IReadOnlyList<JsonElement> Answers(string path)
    {
        var found = s_document.GetProperty("paths").EnumerateObject().Where(one => Regex.IsMatch(path, "^" + Parameter().Replace(one.Name, "[^/]+") + "$"))
            .OrderBy(one => Parameter().Count(one.Name)).Select(one => one.Value).FirstOrDefault();
        if (found.ValueKind == JsonValueKind.Undefined || !found.TryGetProperty("get", out var get)) return [];
        var schema = Resolved(get.GetProperty("responses").GetProperty("200").GetProperty("content").GetProperty("application/json").GetProperty("schema"));
        return schema.TryGetProperty("anyOf", out var several) ? [.. several.EnumerateArray().Select(Resolved)] : [schema];
    }

    /// <summary>The reasons that aborts are filtered by: all of them.</summary>
    public static string[] AbortReasons()
    {
        var get = s_document.GetProperty("paths").GetProperty("/v1/aborts").GetProperty("get");
        var parameters = get.GetProperty("parameters").EnumerateArray().Select(Resolved);
        var reason = parameters.Single(parameter => parameter.GetProperty("name").ValueEquals("reason"));
        return [.. reason.GetProperty("schema").GetProperty("enum").EnumerateArray().Select(name => name.GetString()!)];
    }

    /// <summary>The schema itself, where there is a reference to it.</summary>
    public static JsonElement Resolved(JsonElement schema) => schema.TryGetProperty("$ref", out var reference)
        ? reference.GetString()!.Split('/').Skip(1).Aggregate(s_document, (at, name) => at.GetProperty(name)) : schema;

    /// <summary>The JSON types that a value may have; empty: any.</summary>
    public static string[] Types(JsonElement schema) =>
        !schema.TryGetProperty("type", out var type) ? [] : type.ValueKind == JsonValueKind.Array ? [.. type.EnumerateArray().Select(one => one.GetString()!)] : [type.GetString()!];

    /// <summary>Fields of an answer that no worker sends, as dotted names.</summary>
    public static IReadOnlyList<string> Unknown(string path, JsonElement answer)
    {
        var schemas = Answers(path);
        return schemas.Count == 0 ? [path] : schemas.Select(schema => Unknown(path, schema, answer).Distinct().ToArray()).MinBy(unknown => unknown.Length)!;
    }

    private static IEnumerable<string> Unknown(string at, JsonElement schema, JsonElement value)
    {
        schema = Resolved(schema);
        switch (value.ValueKind)
        {
            case JsonValueKind.Array when schema.TryGetProperty("items", out var items):
                return value.EnumerateArray().SelectMany(one => Unknown(at, items, one));
            case JsonValueKind.Object when schema.TryGetProperty("properties", out var properties):
                return value.EnumerateObject().SelectMany(one => properties.TryGetProperty(one.Name, out var field) ? Unknown($"{at}.{one.Name}", field, one.Value) : [$"{at}.{one.Name}"]);
            case JsonValueKind.Object when schema.TryGetProperty("additionalProperties", out var values) && values.ValueKind == JsonValueKind.Object:
                return value.EnumerateObject().SelectMany(one => Unknown($"{at}.*", values, one.Value));
            default:
                return [];
        }
    }

    [GeneratedRegex(@"\{[^}]+\}")]
    private static partial Regex Parameter();
}
