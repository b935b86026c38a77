using System.Globalization;
using System.Text.Json.Nodes;

namespace Snapper.Manifests.Tests.Rules;

/// <summary>The objects of one rendering, and what is made outside of it.</summary>
/// <param name="objects">All of them.</param>
/// <param name="outside">Secrets that somebody makes by hand, with their keys.</param>
internal sealed class Manifests(IReadOnlyList<JsonObject> objects, IReadOnlyDictionary<string, string[]> outside)
{
    /// <summary>All objects.</summary>
    public IReadOnlyList<JsonObject> Objects { get; } = objects;

    /// <summary>Secrets that are not among the objects.</summary>
    public IReadOnlyDictionary<string, string[]> Outside { get; } = outside;

    /// <summary>Everything that makes pods.</summary>
    public IReadOnlyList<Pods> Pods { get; } = [.. objects.Where(one => one["spec"]?["template"] is JsonObject).Select(one => new Pods(one))];

    public IEnumerable<JsonObject> OfKind(string kind) => Objects.Where(one => (string?)one["kind"] == kind);

    public JsonObject? Find(string kind, string? name) => OfKind(kind).FirstOrDefault(one => NameOf(one) == name);

    /// <summary>All rules on all objects.</summary>
    public IReadOnlyList<string> Problems()
    {
        var fields = Objects.SelectMany(Schema.FieldTables.Problems).ToArray();

        // The rules rely on the fields being what they should be.
        return fields.Length > 0 ? fields :
        [
            .. ReferenceRules.Problems(this), .. SelectorRules.Problems(this), .. PortRules.Problems(this), .. NetworkRules.Problems(this), .. EnvironmentRules.Problems(this),
            .. SecurityRules.Problems(this), .. WorkerRules.Problems(this), .. RedisRules.Problems(this),
            .. AccessListRules.Problems(this),
            .. TimeRules.Problems(this),
        ];
    }

    /// <summary>Keys of a secret, here or outside; null: there is no such secret.</summary>
    public IReadOnlyCollection<string>? KeysOf(string secret) =>
        Find("Secret", secret) is { } here ? [.. Keys(here["data"]), .. Keys(here["stringData"])] : Outside.GetValueOrDefault(secret);

    public static IEnumerable<string> Keys(JsonNode? mapping) => (mapping as JsonObject ?? []).Select(pair => pair.Key);

    public static string NameOf(JsonObject one) => (string)one["metadata"]!["name"]!;

    public static string Where(JsonObject one) => $"{one["kind"]}/{NameOf(one)}";

    public static IEnumerable<JsonObject> List(JsonNode? list) => (list as JsonArray ?? []).Cast<JsonObject>();

    public static IEnumerable<string> Texts(JsonNode? list) => (list as JsonArray ?? []).Select(text => (string)text!);

    /// <summary>Whether a selector that is not there, is empty, or has labels takes something with these labels.</summary>
    public static bool Takes(JsonNode? selector, JsonObject? labels) =>
        (selector as JsonObject ?? []).All(pair => (string?)labels?[pair.Key] == (string?)pair.Value);
}

/// <summary>What makes pods, a StatefulSet or a Deployment.</summary>
internal sealed class Pods(JsonObject owner)
{
    public JsonObject Owner { get; } = owner;

    public string Where { get; } = Manifests.Where(owner);

    public JsonObject Spec { get; } = (JsonObject)owner["spec"]!["template"]!["spec"]!;

    public JsonObject Labels { get; } = owner["spec"]!["template"]!["metadata"]!["labels"] as JsonObject ?? [];

    public JsonObject Annotations { get; } = owner["spec"]!["template"]!["metadata"]!["annotations"] as JsonObject ?? [];

    public IReadOnlyList<JsonObject> Containers { get; } = [.. Manifests.List(owner["spec"]!["template"]!["spec"]!["containers"])];

    public bool HasSidecar => (string?)Annotations["dapr.io/enabled"] == "true";

    public int Replicas => (int?)Owner["spec"]!["replicas"] ?? 1;

    /// <summary>Ports by name, and as numbers under their own text; those of the sidecar without names.</summary>
    public IReadOnlyDictionary<string, int> Ports { get; } = PortsOf(owner);

    /// <summary>The ports at which the injected sidecar listens beyond loopback: the other sidecars', its health, its metrics.</summary>
    public static readonly int[] SidecarPorts = [50002, 3501, 9090];

    private const string AnnotationPath = "metadata.annotations['";

    /// <summary>The number of a port that is given by name or number; null: there is no such port.</summary>
    public int? Port(JsonNode? given) =>
        given is null ? null
        : Ports.TryGetValue(given.ToString(), out var number) ? number
        : HasSidecar && SidecarPorts.Select(port => port.ToString(CultureInfo.InvariantCulture)).Contains(given.ToString()) ? (int)given : null;

    /// <summary>The environment of a container as far as it is known here; secrets are <c>secret</c>.</summary>
    public Dictionary<string, string> Environment(JsonObject container, string podName)
    {
        var known = new Dictionary<string, string>(StringComparer.Ordinal);
        foreach (var variable in Manifests.List(container["env"]))
        {
            var value = (string?)variable["value"];
            value ??= (string?)variable["valueFrom"]?["fieldRef"]?["fieldPath"] switch
            {
                "metadata.name" => podName,
                { } path when path.StartsWith(AnnotationPath, StringComparison.Ordinal) => (string?)Annotations[path[AnnotationPath.Length..^2]] ?? "",
                _ => "a secret that cannot be guessed",
            };
            foreach (var (name, text) in known) value = value.Replace($"$({name})", text, StringComparison.Ordinal);
            known[(string)variable["name"]!] = value;
        }

        return known;
    }

    private static Dictionary<string, int> PortsOf(JsonObject owner)
    {
        var ports = new Dictionary<string, int>(StringComparer.Ordinal);
        foreach (var port in Manifests.List(owner["spec"]!["template"]!["spec"]!["containers"]).SelectMany(container => Manifests.List(container["ports"])))
        {
            var number = (int)port["containerPort"]!;
            ports[number.ToString(CultureInfo.InvariantCulture)] = number;
            if ((string?)port["name"] is { } name) ports[name] = number;
        }

        return ports;
    }
}
