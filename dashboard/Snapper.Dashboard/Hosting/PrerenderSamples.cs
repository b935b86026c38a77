using System.Collections;
using System.Reflection;
using System.Text.Json;
using System.Text.Json.Nodes;

namespace Snapper.Dashboard.Hosting;

/// <summary>Answers of workers that were never given: every field has a value of its type, every list two elements. To run code with, not to show.</summary>
internal static class PrerenderSamples
{
    private const int Deepest = 8;

    /// <summary>As JSON, with the names of fields as workers write them.</summary>
    /// <param name="type">A view.</param>
    public static JsonNode Of(Type type) => Of(type, "", 0)!;

    private static JsonNode? Of(Type type, string name, int depth)
    {
        type = Nullable.GetUnderlyingType(type) ?? type;
        if (depth > Deepest) return null;
        if (type == typeof(string)) return "Made/up";
        if (type == typeof(bool)) return true;
        if (type == typeof(DateTimeOffset)) return DateTimeOffset.UtcNow;
        if (type == typeof(JsonElement)) return new JsonObject { ["value"] = 1 };
        if (type.IsPrimitive) return name.EndsWith("AtMs", StringComparison.Ordinal) ? DateTimeOffset.UtcNow.ToUnixTimeMilliseconds() : 3;
        if (type.IsGenericType && type.GetGenericTypeDefinition() == typeof(IReadOnlyDictionary<,>)) return new JsonObject { ["conflict"] = Of(type.GetGenericArguments()[1], name, depth + 1), ["application"] = Of(type.GetGenericArguments()[1], name, depth + 1) };
        if (type.IsAssignableTo(typeof(IEnumerable))) return new JsonArray(Of(type.GetGenericArguments()[0], name, depth + 1), Of(type.GetGenericArguments()[0], name, depth + 1));
        var answer = new JsonObject();
        foreach (var property in type.GetProperties(BindingFlags.Public | BindingFlags.Instance).Where(one => one.GetIndexParameters().Length == 0))
        {
            answer[JsonNamingPolicy.CamelCase.ConvertName(property.Name)] = Of(property.PropertyType, property.Name, depth + 1);
        }

        return answer;
    }
}
