using System.Diagnostics;
using System.Text;
using System.Text.Json.Nodes;
using Snapper.Cli.Supervision;
using Snapper.Manifests.Tests.Kustomize;
using Xunit;

namespace Snapper.Manifests.Tests;

/// <summary>What the small renderer makes is what kustomize itself makes, which is what a cluster gets.</summary>
public sealed class RealKustomizeTests : IDisposable
{
    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("snapper-real-kustomize-");

    public void Dispose() => _folder.Delete(recursive: true);

    [NeedsKustomizeTheory]
    [MemberData(nameof(OverlayTests.All), MemberType = typeof(OverlayTests))]
    public async Task Kustomize_makes_the_same_objects(string overlay, string[] components)
    {
        Copy(new DirectoryInfo(Tree.Path("k8s")), _folder.CreateSubdirectory("k8s"));
        var folder = Path.Combine(_folder.FullName, "k8s", "overlays", overlay);
        if (components.Length > 0) Choose(Path.Combine(folder, "kustomization.yaml"), components);
        var theirs = YamlText.Documents(await Run(folder), "kustomize");
        var ours = Kustomization.Render(Tree.Path("k8s", "overlays", overlay), components);
        var (made, expected) = (Texts(ours, theirs), Texts(theirs, theirs));
        Assert.Equal(expected.Length, made.Length);
        Assert.All(expected.Zip(made), pair => Assert.Equal(pair.First, pair.Second));
    }

    /// <summary>Writes the components into the overlay, as its owner does who chooses others.</summary>
    private static void Choose(string file, string[] components)
    {
        var lines = File.ReadAllLines(file).ToList();
        var at = lines.IndexOf("components:") + 1;
        while (lines[at].StartsWith("  - ", StringComparison.Ordinal)) lines.RemoveAt(at);
        lines.InsertRange(at, components.Select(component => "  - " + component));
        File.WriteAllLines(file, lines);
    }

    /// <summary>In one spelling: kustomize sorts keys, encodes secrets, and adds a hash to names.</summary>
    private static string[] Texts(IEnumerable<JsonObject> objects, IEnumerable<JsonObject> named)
    {
        var hashed = named.Where(one => (string?)one["kind"] == "ConfigMap")
            .Select(Rules.Manifests.NameOf).ToDictionary(name => name[..name.LastIndexOf('-')]);
        var sorted = objects.Select(one => (JsonObject)Sorted(one, hashed)!);
        return [.. sorted.OrderBy(Rules.Manifests.Where, StringComparer.Ordinal).Select(one => one.ToJsonString())];
    }

    private static JsonNode? Sorted(JsonNode? node, Dictionary<string, string> hashed)
    {
        switch (node)
        {
            case JsonArray list:
                return new JsonArray([.. list.Select(one => Sorted(one, hashed))]);
            case JsonObject { } one:
                var sorted = new JsonObject();
                var fields = one.Select(pair => (Key: pair.Key == "stringData" ? "data" : pair.Key, pair.Value));
                foreach (var (key, value) in fields.OrderBy(pair => pair.Key, StringComparer.Ordinal))
                {
                    sorted[key] = Sorted(value, hashed);
                }

                if ((string?)sorted["kind"] == "Secret")
                {
                    sorted.Remove("type");
                    foreach (var (key, value) in one["data"]?.AsObject() ?? [])
                    {
                        var bytes = Convert.FromBase64String((string)value!);
                        sorted["data"]![key] = Encoding.UTF8.GetString(bytes);
                    }
                }

                if ((string?)sorted["kind"] == "ConfigMap")
                {
                    sorted["metadata"]!["name"] = Hashed(one["metadata"]!["name"], hashed);
                }

                if (one["configMap"]?["name"] is { } map) sorted["configMap"]!["name"] = Hashed(map, hashed);
                return sorted;
            case JsonValue number when number.TryGetValue<double>(out var value):
                return JsonValue.Create(value);
            default:
                return node?.DeepClone();
        }
    }

    private static string Hashed(JsonNode? name, Dictionary<string, string> hashed) =>
        hashed.GetValueOrDefault((string)name!, (string)name!);

    private static async Task<string> Run(string folder)
    {
        var (program, arguments) = NeedsKustomizeTheoryAttribute.Program!.Value;
        var start = new ProcessStartInfo(program, [.. arguments, folder])
        {
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };
        using var process = Process.Start(start)!;
        var errors = process.StandardError.ReadToEndAsync();
        var text = await process.StandardOutput.ReadToEndAsync();
        await process.WaitForExitAsync();
        Assert.True(process.ExitCode == 0, await errors);
        return text;
    }

    private static void Copy(DirectoryInfo from, DirectoryInfo to)
    {
        foreach (var file in from.EnumerateFiles()) file.CopyTo(Path.Combine(to.FullName, file.Name));
        foreach (var folder in from.EnumerateDirectories()) Copy(folder, to.CreateSubdirectory(folder.Name));
    }
}

/// <summary>Shown as not run where there is neither kustomize nor kubectl.</summary>
[AttributeUsage(AttributeTargets.Method)]
public sealed class NeedsKustomizeTheoryAttribute : TheoryAttribute
{
    public NeedsKustomizeTheoryAttribute()
    {
        if (Program is null) Skip = "no kustomize and no kubectl on PATH";
    }

    /// <summary>The program and what comes before the folder; null: there is none.</summary>
    public static (string Path, string[] Arguments)? Program { get; } =
        Find("kustomize") is { } itself ? (itself, ["build"])
        : Find("kubectl") is { } inside ? (inside, ["kustomize"]) : null;

    private static string? Find(string name) =>
        ExecutableFinder.System.Find(name, "SNAPPER_TESTS_" + name.ToUpperInvariant()).FirstOrDefault();
}
