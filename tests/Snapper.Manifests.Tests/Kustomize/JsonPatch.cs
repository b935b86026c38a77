using System.Globalization;
using System.Text.Json.Nodes;

namespace Snapper.Manifests.Tests.Kustomize;

/// <summary>A JSON patch (RFC 6902): add, replace, remove and test.</summary>
internal static class JsonPatch
{
    /// <exception cref="ManifestException">An operation is not known, or its place is not there.</exception>
    public static void Apply(JsonObject target, JsonArray patch)
    {
        foreach (var operation in patch.Cast<JsonObject>())
        {
            var path = (string)operation["path"]!;
            var steps = path.Split('/').Skip(1).Select(step => step.Replace("~1", "/", StringComparison.Ordinal).Replace("~0", "~", StringComparison.Ordinal)).ToArray();
            JsonNode parent = target;
            foreach (var step in steps[..^1]) parent = Child(parent, step) ?? throw Missing(path);
            Apply((string)operation["op"]!, parent, steps[^1], operation["value"]?.DeepClone(), path);
        }
    }

    private static void Apply(string op, JsonNode parent, string last, JsonNode? value, string path)
    {
        switch (op, parent)
        {
            case ("add", JsonArray list):
                if (last == "-") list.Add(value);
                else list.Insert(Index(last, list.Count + 1, path), value);
                break;
            case ("add", JsonObject mapping):
                mapping[last] = value;
                break;
            case ("replace" or "remove" or "test", _) when Child(parent, last) is null:
                throw Missing(path);
            case ("replace", JsonArray list):
                list[Index(last, list.Count, path)] = value;
                break;
            case ("replace", JsonObject mapping):
                mapping[last] = value;
                break;
            case ("remove", JsonArray list):
                list.RemoveAt(Index(last, list.Count, path));
                break;
            case ("remove", JsonObject mapping):
                mapping.Remove(last);
                break;
            case ("test", _):
                if (!JsonNode.DeepEquals(Child(parent, last), value)) throw new ManifestException($"a patch expects {value?.ToJsonString()} at {path}");
                break;
            default:
                throw new ManifestException($"the operation {op} is not known here");
        }
    }

    private static JsonNode? Child(JsonNode parent, string step) => parent switch
    {
        JsonObject mapping => mapping[step],
        JsonArray list when int.TryParse(step, NumberStyles.None, CultureInfo.InvariantCulture, out var at) && at < list.Count => list[at],
        _ => null,
    };

    private static int Index(string text, int limit, string path) =>
        int.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out var at) && at < limit ? at : throw Missing(path);

    private static ManifestException Missing(string path) => new($"a patch names {path}, which is not there");
}
