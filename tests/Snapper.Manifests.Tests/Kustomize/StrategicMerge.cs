using System.Text.Json.Nodes;

namespace Snapper.Manifests.Tests.Kustomize;

/// <summary>
/// A strategic merge patch: mappings are merged, null removes, lists that have a merge key are merged by it, all other lists are replaced.
/// Of directives only <c>$patch: delete</c> and <c>$patch: replace</c> are known.
/// </summary>
internal static class StrategicMerge
{
    /// <summary>Merge keys of the lists in the kinds that are used here, by the name of the field.</summary>
    private static readonly Dictionary<string, string> s_keys = new(StringComparer.Ordinal)
    {
        ["containers"] = "name", ["initContainers"] = "name", ["env"] = "name", ["volumes"] = "name", ["volumeMounts"] = "mountPath",
        ["topologySpreadConstraints"] = "topologyKey", ["imagePullSecrets"] = "name",
    };

    private const string Directive = "$patch";

    /// <summary>The target with the patch; null: it is deleted.</summary>
    public static JsonObject? Apply(JsonObject target, JsonObject patch)
    {
        switch ((string?)patch[Directive])
        {
            case "delete":
                return null;
            case "replace":
                var replaced = (JsonObject)patch.DeepClone();
                replaced.Remove(Directive);
                return replaced;
            case { } other:
                throw new ManifestException($"$patch: {other} is not known here");
        }

        foreach (var (name, value) in patch)
        {
            if (value is null) target.Remove(name);
            else if (Merged(name, target[name], value) is { } merged) target[name] = merged;
            else target.Remove(name);
        }

        return target;
    }

    private static JsonNode? Merged(string name, JsonNode? old, JsonNode patch) => patch switch
    {
        JsonObject change => Apply(old is JsonObject mapping ? (JsonObject)mapping.DeepClone() : [], change),
        JsonArray changes when name == "ports" => MergedList(old as JsonArray, changes, PortKey(old as JsonArray ?? changes)),
        JsonArray changes when s_keys.TryGetValue(name, out var key) => MergedList(old as JsonArray, changes, key),
        _ => patch.DeepClone(),
    };

    // Containers know ports by containerPort, services by port, and policies by nothing.
    private static string? PortKey(JsonArray ports) =>
        ports.FirstOrDefault() is JsonObject first ? first.ContainsKey("containerPort") ? "containerPort" : first.ContainsKey("name") ? "port" : null : null;

    private static JsonArray MergedList(JsonArray? old, JsonArray changes, string? key)
    {
        if (key is null || old is null) return (JsonArray)changes.DeepClone();
        var merged = new JsonArray();
        var others = (JsonArray)old.DeepClone();

        // Like kustomize: what a patch names stands first, in the patch's order.
        foreach (var change in changes.Cast<JsonObject>())
        {
            var id = change[key]?.ToJsonString() ?? throw new ManifestException($"an element of a list that is merged by {key} has none");
            var at = others.Select(other => other![key]?.ToJsonString()).ToList().IndexOf(id);
            if (at < 0)
            {
                merged.Add(change.DeepClone());
                continue;
            }

            if (Apply((JsonObject)others[at]!.DeepClone(), change) is { } element) merged.Add(element);
            others.RemoveAt(at);
        }

        foreach (var other in others) merged.Add(other!.DeepClone());
        return merged;
    }
}
