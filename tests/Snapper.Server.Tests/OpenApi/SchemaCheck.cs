using System.Text.Json.Nodes;

namespace Snapper.Server.Tests.OpenApi;

/// <summary>
/// Compares JSON with the part of JSON Schema that docs/openapi.json uses; another keyword is an error, so that none is ignored. Stricter than the standard in one thing: an
/// object whose schema lists properties must have no others, for a field that is answered and not described is what this is to find.
/// </summary>
/// <param name="document">The whole description, for references.</param>
internal sealed class SchemaCheck(JsonObject document)
{
    private static readonly string[] s_known =
    [
        "$ref", "type", "properties", "required", "additionalProperties", "items", "enum", "anyOf", "description",
        "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "format",
    ];

    /// <summary>What does not fit, with its place; empty: it fits.</summary>
    public IReadOnlyList<string> Problems(JsonNode? value, JsonNode schema, string at = "$") => [.. Check(value, schema.AsObject(), at)];

    private IEnumerable<string> Check(JsonNode? value, JsonObject schema, string at)
    {
        foreach (var (keyword, _) in schema)
        {
            if (!s_known.Contains(keyword)) throw new InvalidOperationException($"docs/openapi.json uses the keyword '{keyword}', which SchemaCheck does not know: add it there.");
        }

        if (schema["$ref"] is { } reference) return Check(value, Resolve((string)reference!), at);
        if (schema["anyOf"] is JsonArray choices)
        {
            var tried = choices.Select(choice => Check(value, choice!.AsObject(), at).ToArray()).ToArray();
            return tried.Any(problems => problems.Length == 0) ? [] : [$"{at} fits none of: {string.Join(" | ", tried.Select(p => p[0]))}"];
        }

        return Typed(value, schema, at);
    }

    private JsonObject Resolve(string reference)
    {
        var node = (JsonNode?)document;
        foreach (var part in reference.Split('/').Skip(1)) node = node?[part];
        return node?.AsObject() ?? throw new InvalidOperationException($"docs/openapi.json refers to {reference}, which is not there.");
    }

    private IEnumerable<string> Typed(JsonNode? value, JsonObject schema, string at)
    {
        if (schema["type"] is { } type)
        {
            string[] allowed = type is JsonArray several ? [.. several.Select(t => (string)t!)] : [(string)type!];
            if (!allowed.Contains(TypeOf(value)) && !(TypeOf(value) == "integer" && allowed.Contains("number")))
            {
                yield return $"{at} must be {string.Join(" or ", allowed)}, not {value?.ToJsonString() ?? "null"}";
                yield break;
            }
        }

        if (schema["enum"] is JsonArray words && !words.Any(word => JsonNode.DeepEquals(word, value))) yield return $"{at} must be one of {words.ToJsonString()}, not {value?.ToJsonString()}";
        if (Limit(value, schema) is { } limit) yield return $"{at} {limit}";
        if (value is JsonArray array && schema["items"] is JsonObject items)
        {
            foreach (var problem in array.SelectMany((element, i) => Check(element, items, $"{at}[{i}]"))) yield return problem;
        }

        if (value is not JsonObject one) yield break;
        foreach (var name in schema["required"]?.AsArray().Select(n => (string)n!) ?? [])
        {
            if (!one.ContainsKey(name)) yield return $"{at}.{name} is missing";
        }

        var properties = schema["properties"]?.AsObject();
        foreach (var (name, field) in one)
        {
            if (properties?[name] is JsonObject described)
            {
                foreach (var problem in Check(field, described, $"{at}.{name}")) yield return problem;
            }
            else if (schema["additionalProperties"] is JsonObject others)
            {
                foreach (var problem in Check(field, others, $"{at}.{name}")) yield return problem;
            }
            else if (properties is not null)
            {
                yield return $"{at}.{name} is answered and not described";
            }
        }
    }

    private static string? Limit(JsonNode? value, JsonObject schema)
    {
        if (value is not JsonValue) return value is JsonArray list && (list.Count < (int?)schema["minItems"] || list.Count > (int?)schema["maxItems"]) ? $"has {list.Count} elements" : null;
        var number = TypeOf(value) is "integer" or "number" ? (double?)value : null;
        if (number < (double?)schema["minimum"] || number > (double?)schema["maximum"]) return $"is {number}, out of range";
        var text = TypeOf(value) == "string" ? (string?)value : null;
        return text?.Length < (int?)schema["minLength"] || text?.Length > (int?)schema["maxLength"] ? $"has {text!.Length} characters"
            : (string?)schema["format"] == "date-time" && !DateTimeOffset.TryParse(text, out _) ? $"is no time: {text}"
            : null;
    }

    private static string TypeOf(JsonNode? value) => value?.GetValueKind() switch
    {
        null or System.Text.Json.JsonValueKind.Null => "null",
        System.Text.Json.JsonValueKind.Object => "object",
        System.Text.Json.JsonValueKind.Array => "array",
        System.Text.Json.JsonValueKind.String => "string",
        System.Text.Json.JsonValueKind.True or System.Text.Json.JsonValueKind.False => "boolean",
        _ => value!.ToJsonString().IndexOfAny(['.', 'e', 'E']) < 0 ? "integer" : "number",
    };
}
