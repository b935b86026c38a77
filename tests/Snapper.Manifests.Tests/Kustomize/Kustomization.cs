using System.Text;
using System.Text.Json.Nodes;

namespace Snapper.Manifests.Tests.Kustomize;

/// <summary>
/// Renders a kustomization, enough of kustomize for the ones here: resources, components, namespace, labels, images, generators of configuration maps and
/// secrets, and patches (strategic merge and JSON).
/// </summary>
/// <remarks>
/// What it does not do: it appends no hash to generated names and so rewrites no references; it knows no vars, replacements, prefixes, Helm charts, remote resources,
/// env files, patches with target selectors but kind and name, or merge keys other than those in <see cref="StrategicMerge"/>. A field that it does not know is an error.
/// </remarks>
internal static class Kustomization
{
    private static readonly string[] s_known =
        ["apiVersion", "kind", "resources", "components", "namespace", "labels", "images", "configMapGenerator", "secretGenerator", "generatorOptions", "patches"];

    /// <summary>The objects of a folder's kustomization.</summary>
    /// <param name="folder">Where it is.</param>
    /// <param name="components">Components instead of those that it names; none: those that it names.</param>
    /// <exception cref="ManifestException">Something that it names is not there, or it says what is not known here.</exception>
    public static List<JsonObject> Render(string folder, params string[] components)
    {
        var objects = new List<JsonObject>();
        Add(folder, objects, "Kustomization", components);
        return objects;
    }

    private static void Add(string folder, List<JsonObject> objects, string kind, string[] componentsInstead)
    {
        var file = Path.Combine(folder, "kustomization.yaml");
        var text = File.Exists(file) ? File.ReadAllText(file) : throw new ManifestException($"{folder} has no kustomization.yaml");
        var me = YamlText.Documents(text, file).Single();
        if (me.FirstOrDefault(field => !s_known.Contains(field.Key)).Key is { } unknown) throw new ManifestException($"{file}: the field {unknown} is not known here");
        if ((string?)me["kind"] != kind) throw new ManifestException($"{file}: kind must be {kind}");

        foreach (var resource in Texts(me, "resources"))
        {
            var path = Path.Combine(folder, resource);
            if (Directory.Exists(path)) objects.AddRange(Render(path)); // what it changes is its own; a component changes all that is there
            else objects.AddRange(YamlText.Documents(Read(path, file), path));
        }

        // Like kustomize from 5.5 on: what is generated here comes before the components, and cannot change what they
        // generate. Earlier ones had it the other way.
        Generate(me, "configMapGenerator", "ConfigMap", folder, objects);
        Generate(me, "secretGenerator", "Secret", folder, objects);
        foreach (var component in componentsInstead.Length > 0 ? componentsInstead : Texts(me, "components"))
        {
            Add(Path.Combine(folder, component), objects, "Component", []);
        }

        foreach (var patch in List(me, "patches")) Patch(patch, folder, file, objects);
        foreach (var labels in List(me, "labels")) Label(labels, objects);
        if ((string?)me["namespace"] is { } space) Place(space, objects);
        foreach (var image in List(me, "images")) Images(image, file, objects);
    }

    private static void Generate(JsonObject me, string field, string kind, string folder, List<JsonObject> objects)
    {
        foreach (var generator in List(me, field))
        {
            var name = (string)generator["name"]!;
            var data = new JsonObject();
            foreach (var path in Texts(generator, "files")) data.Add(Path.GetFileName(path), Read(Path.Combine(folder, path), field));
            foreach (var literal in Texts(generator, "literals"))
            {
                var equals = literal.IndexOf('=', StringComparison.Ordinal);
                data.Add(literal[..equals], literal[(equals + 1)..]);
            }

            var old = objects.Find(one => IsNamed(one, kind, name));
            var values = kind == "Secret" ? "stringData" : "data";
            switch ((string?)generator["behavior"] ?? "create", old)
            {
                case ("create", null):
                    objects.Add(new JsonObject { ["apiVersion"] = "v1", ["kind"] = kind, ["metadata"] = new JsonObject { ["name"] = name }, [values] = data });
                    break;
                case ("replace", { }):
                    old[values] = data;
                    break;
                case ("merge", { }):
                    foreach (var (key, value) in data) old[values]![key] = value!.DeepClone();
                    break;
                default:
                    throw new ManifestException($"{field}: {name} is there already, or is not there to be changed");
            }
        }
    }

    private static void Patch(JsonObject entry, string folder, string file, List<JsonObject> objects)
    {
        var text = (string?)entry["path"] is { } path ? Read(Path.Combine(folder, path), file) : (string?)entry["patch"] ?? throw new ManifestException($"{file}: a patch without path or patch");
        if (entry["target"] is JsonObject target)
        {
            if (YamlText.Value(text, file) is not JsonArray operations) throw new ManifestException($"{file}: a patch with a target must be a list of operations here");
            JsonPatch.Apply(Find(objects, (string?)target["kind"], (string?)target["name"], file), operations);
            return;
        }

        foreach (var patch in YamlText.Documents(text, file))
        {
            var changed = Find(objects, (string?)patch["kind"], (string?)patch["metadata"]?["name"], file);
            if ((string?)changed["apiVersion"] != (string?)patch["apiVersion"]) throw new ManifestException($"{file}: a patch of {Name(changed)} has another apiVersion");
            var at = objects.IndexOf(changed);
            if (StrategicMerge.Apply((JsonObject)changed.DeepClone(), patch) is { } merged) objects[at] = merged;
            else objects.RemoveAt(at);
        }
    }

    private static void Label(JsonObject labels, List<JsonObject> objects)
    {
        if (labels["includeSelectors"] is not null) throw new ManifestException("labels that change selectors are not known here");
        foreach (var one in objects)
        {
            foreach (var (key, value) in labels["pairs"]!.AsObject())
            {
                Labels((JsonObject)one["metadata"]!)[key] = value!.DeepClone();
                if ((bool?)labels["includeTemplates"] != true) continue;
                if (one["spec"]?["template"] is not JsonObject template) continue;
                foreach (var made in (one["spec"]!["volumeClaimTemplates"] as JsonArray ?? []).Prepend(template))
                {
                    Labels((JsonObject)made!["metadata"]!)[key] = value.DeepClone();
                }
            }
        }
    }

    private static JsonObject Labels(JsonObject metadata)
    {
        if (metadata["labels"] is not JsonObject labels) metadata["labels"] = labels = [];
        return labels;
    }

    private static void Place(string space, List<JsonObject> objects)
    {
        foreach (var one in objects)
        {
            if ((string?)one["kind"] != "Namespace") one["metadata"]!["namespace"] = space;
        }
    }

    private static void Images(JsonObject image, string file, List<JsonObject> objects)
    {
        var found = false;
        foreach (var container in objects.SelectMany(one => one["spec"]?["template"]?["spec"]?["containers"]?.AsArray() ?? []))
        {
            var old = (string?)container!["image"] ?? "";
            var colon = old.LastIndexOf(':');
            if ((colon > old.LastIndexOf('/') ? old[..colon] : old) != (string?)image["name"]) continue;
            found = true;
            var name = (string?)image["newName"] ?? (string)image["name"]!;
            container["image"] = new StringBuilder(name).Append((string?)image["digest"] is { } digest ? "@" + digest : ":" + (string?)image["newTag"]).ToString();
        }

        if (!found) throw new ManifestException($"{file}: no container has the image {image["name"]}");
    }

    private static JsonObject Find(List<JsonObject> objects, string? kind, string? name, string file) =>
        objects.Find(one => IsNamed(one, kind, name)) ?? throw new ManifestException($"{file}: a patch is for {kind} {name}, which is not there");

    private static bool IsNamed(JsonObject one, string? kind, string? name) => (string?)one["kind"] == kind && (string?)one["metadata"]?["name"] == name;

    private static string Name(JsonObject one) => $"{one["kind"]} {one["metadata"]?["name"]}";

    private static string Read(string path, string by) => File.Exists(path) ? File.ReadAllText(path) : throw new ManifestException($"{by} names {path}, which is not there");

    private static IEnumerable<string> Texts(JsonObject me, string field) => (me[field] as JsonArray ?? []).Select(text => (string)text!);

    private static IEnumerable<JsonObject> List(JsonObject me, string field) => (me[field] as JsonArray ?? []).Cast<JsonObject>();
}
