using System.Security.Cryptography;
using System.Text;
using System.Text.Json.Nodes;
using Snapper.Manifests.Tests.Kustomize;
using Snapper.Manifests.Tests.Rules;
using Xunit;

namespace Snapper.Manifests.Tests;

/// <summary>What is in the tree renders, and no rule has anything to say about it.</summary>
public sealed class OverlayTests
{
    /// <summary>Each overlay as it is, and with the components that can be chosen.</summary>
    public static TheoryData<string, string[]> All => new()
    {
        { "dev", [] }, { "production", [] },
        { "production", ["redis", Component("service-monitor")] },
        { "production", ["redis", Component("redis-tls")] },
        { "production", ["redis", Component("direct-links")] },
        { "production", [Component("external-redis")] },
        { "production", [Component("service-monitor"), Component("external-redis")] },
        { "production", ["redis", Component("service-monitor"), Component("redis-tls"), Component("direct-links")] },
    };

    [Theory]
    [MemberData(nameof(All))]
    public void No_rule_finds_anything(string overlay, string[] components) => Assert.Empty(Rendered.Of(overlay, components).Problems());

    [Fact]
    public void Every_folder_of_overlays_and_components_is_among_them()
    {
        Assert.Equal(Folders("overlays"), All.Select(row => (string)row[0]).Distinct().Order());
        Assert.Equal(Folders("components").Except(["redis"]), All.SelectMany(row => (string[])row[1]).Distinct().Except(["redis"]).Select(path => path.Split('/')[^1]).Order());
    }

    [Theory]
    [InlineData("dev")]
    [InlineData("production")]
    public void Commands_that_are_run_in_a_worker_show_an_operators_token_and_without_it_the_worker_starts_all_the_same(string overlay)
    {
        var all = Rendered.Of(overlay);
        var containers = all.Find("StatefulSet", "snapper-worker")!["spec"]!["template"]!["spec"]!["containers"];
        var shown = Rules.Manifests.List(Rules.Manifests.List(containers).Single()["env"]).Single(one => (string?)one["name"] == "SNAPPER_TOKEN")["valueFrom"]!["secretKeyRef"]!;
        Assert.True((bool)shown["optional"]!);
        Assert.Contains((string)shown["key"]!, all.KeysOf((string)shown["name"]!)!);
        if (all.Find("Secret", (string)shown["name"]!) is not { } secret) return;

        // Where the tokens are in the tree, this one must be among them, with the right that drain needs.
        var hash = Convert.ToHexStringLower(SHA256.HashData(Encoding.UTF8.GetBytes(Value(secret, "token"))));
        var line = Value(all.Find("Secret", "snapper-tokens")!, "tokens").Split('\n').Single(one => one.Contains(hash, StringComparison.Ordinal));
        Assert.Equal("operator", (string?)JsonNode.Parse(line)!["role"]);
    }

    private static string Value(JsonObject secret, string key) =>
        (string?)secret["stringData"]?[key] ?? Encoding.UTF8.GetString(Convert.FromBase64String((string)secret["data"]![key]!));

    [Fact]
    public void Every_file_is_used()
    {
        var chart = Tree.Path("k8s", "helm"); // which takes all that is in its folders
        var unused = Directory.EnumerateFiles(Tree.Path("k8s"), "*", SearchOption.AllDirectories)
            .Where(file => Path.GetFileName(file) != "kustomization.yaml")
            .Where(file => !file.StartsWith(chart, StringComparison.Ordinal))
            .Where(file => !Directory.EnumerateFiles(Tree.Path("k8s"), "kustomization.yaml", SearchOption.AllDirectories)
                .Any(by => file.StartsWith(Path.GetDirectoryName(by)! + "/", StringComparison.Ordinal) && File.ReadAllText(by).Contains(Path.GetRelativePath(Path.GetDirectoryName(by)!, file), StringComparison.Ordinal)));
        Assert.Empty(unused);
    }

    [Fact]
    public void An_external_Redis_leaves_nothing_of_the_other_one()
    {
        var objects = Rendered.Of("production", Component("external-redis")).Objects;
        Assert.DoesNotContain(objects, one => NameOf(one) == "StatefulSet/snapper-redis" || NameOf(one) == "Service/snapper-redis");
        Assert.Contains("redis.example.internal:6379", string.Concat(objects.Select(one => one.ToJsonString())), StringComparison.Ordinal);
    }

    private static string Component(string name) => "../../components/" + name;

    private static string NameOf(JsonObject one) => Rules.Manifests.Where(one);

    private static IEnumerable<string> Folders(string name) => Directory.EnumerateDirectories(Tree.Path("k8s", name)).Select(folder => Path.GetFileName(folder)).Order();
}

/// <summary>Overlays as they are rendered.</summary>
internal static class Rendered
{
    /// <summary>What production has from outside; that the documents make exactly these is a test of its own.</summary>
    public static IReadOnlyDictionary<string, string[]> Secrets { get; } = new Dictionary<string, string[]>(StringComparer.Ordinal)
    {
        ["snapper-redis"] = ["password"],
        ["snapper-redis-tls"] = ["tls.crt", "tls.key", "ca.crt"],
        ["snapper-links"] = ["tls.crt", "tls.key", "ca.crt"],
        ["snapper-tokens"] = ["tokens"],
        ["snapper-dashboard-token"] = ["token"],
        ["snapper-app-token"] = ["token"],
        ["snapper-mailbox"] = ["secret"],
        ["snapper-operator-token"] = ["token"],
    };

    public static Rules.Manifests Of(string overlay, params string[] components) => new(
        Kustomization.Render(Tree.Path("k8s", "overlays", overlay), components),
        overlay == "production" ? Secrets : new Dictionary<string, string[]>());
}
