using System.Text.Json.Nodes;
using System.Text.RegularExpressions;
using Snapper.Manifests.Tests.Kustomize;
using Xunit;

namespace Snapper.Manifests.Tests.Helm;

/// <summary>
/// <c>k8s/helm/snapper</c>, rendered by the real helm: it makes what kustomize makes for the same settings, the rules
/// have nothing to say about what it makes for others, and wrong settings are refused in words.
/// </summary>
public sealed partial class HelmChartTests
{
    private static readonly string s_chart = Tree.Path("k8s", "helm", "snapper");

    /// <summary>The same settings in both: an overlay with components, and values.</summary>
    public static TheoryData<string, string[], string[]> Same => new()
    {
        { "production", [], [] },
        { "dev", [], ["-f", Path.Combine(s_chart, "values-dev.yaml")] },
        { "production", ["redis", "../../components/service-monitor"], ["--set", "serviceMonitor.enabled=true"] },
        { "production", ["redis", "../../components/redis-tls"], ["--set", "redis.tls=true"] },
        { "production", ["redis", "../../components/direct-links"], ["--set", "links.direct=true"] },
        {
            "production", ["../../components/external-redis"],
            ["--set", "redis.address=redis.example.internal:6379"]
        },
        {
            "production", ["../../components/service-monitor", "../../components/external-redis"],
            ["--set", "serviceMonitor.enabled=true", "--set", "redis.address=redis.example.internal:6379"]
        },
        {
            "production",
            [
                "redis", "../../components/service-monitor", "../../components/redis-tls",
                "../../components/direct-links",
            ],
            ["--set", "serviceMonitor.enabled=true,redis.tls=true,links.direct=true"]
        },
    };

    /// <summary>Settings that no overlay has, as they are written on the command line.</summary>
    public static TheoryData<string> Others =>
    [
        "worker.replicas=1", "worker.replicas=20", "appId=bank", "callers=null", "worker.replicas=5,links.direct=true",
        "worker.env.SNAPPER_FSYNC=everysec,actorTypes={Account,ListAppend,Wallet}",
        "redis.address=redis.example.internal:6400,redis.user=", "worker.image=worker@sha256:" + Digest,
    ];

    private const string Digest = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";

    [NeedsHelmTheory]
    [MemberData(nameof(Same))]
    public async Task It_makes_what_kustomize_makes_for_the_same_settings(
        string overlay, string[] components, string[] values)
    {
        // Namespaces and secrets are not the chart's.
        var expected = Kustomization.Render(Tree.Path("k8s", "overlays", overlay), components)
            .Where(static one => (string?)one["kind"] is not ("Namespace" or "Secret"));
        var space = overlay == "dev" ? "snapper-dev" : "snapper";
        var (theirs, ours) = (Texts(expected), Texts(await Render(["-n", space, .. values])));
        Assert.Equal(theirs.Keys, ours.Keys);
        Assert.All(theirs, one => Assert.Equal(one.Value, ours[one.Key]));
    }

    [Fact]
    public void Every_overlay_and_component_is_compared() => Assert.Equal(
        OverlayTests.All.Select(static row => Settings((string)row[0], (string[])row[1])).Order(),
        Same.Select(static row => Settings((string)row[0], (string[])row[1])).Order());

    [NeedsHelmTheory]
    [MemberData(nameof(Others))]
    public async Task No_rule_finds_anything_in_what_it_makes(string set)
    {
        // The namespace is made outside, like the secrets; the overlay's has the labels that the documents tell.
        var space = YamlText.Documents(Tree.Read("k8s", "overlays", "production", "namespace.yaml"), "namespace");
        var made = await Render(["-n", "snapper", "--set", set]);
        Assert.Empty(new Rules.Manifests([.. space, .. made], Rendered.Secrets).Problems());
    }

    [NeedsHelmFact]
    public async Task Names_actor_types_and_callers_are_those_of_the_values()
    {
        var all = new Rules.Manifests(
            await Render(
                [
                    "-n", "bank", "--set", "worker.replicas=18,actorTypes={Wallet},appId=bank",
                    "--set", "callers[0].appId=till,callers[1].appId=web,callers[1].namespace=front",
                ]),
            Rendered.Secrets);

        var targets = all.Find("Resiliency", "snapper")!["spec"]!["targets"]!;
        Assert.Equal(["bank"], Rules.Manifests.Keys(targets["apps"]));
        var types = Enumerable.Range(1, 18).SelectMany(static w => new[] { $"Wallet@w{w}", $"Mailbox@w{w}" });
        Assert.Equal(types.Prepend("Wallet"), Rules.Manifests.Keys(targets["actors"]));
        Assert.Equal(["bank"], Rules.Manifests.Texts(all.Find("Component", "actorstate")!["scopes"]));

        var worker = all.Pods.Single(static pods => pods.Where == "StatefulSet/snapper-worker");
        var hosts = worker.Environment(worker.Containers[0], "snapper-worker-1")["Snapper__Http__AllowedHosts"];
        var names = Enumerable.Range(1, 18).Select(static w => $"snapper-worker-{w}.snapper-workers");
        Assert.Equal(names, hosts.Split(';'));

        var policies = Rules.Manifests.List(
            all.Find("Configuration", "snapper")!["spec"]!["accessControl"]!["policies"]);
        Assert.Equal(
            ["till in bank", "web in front"],
            policies.Select(static policy => $"{policy["appId"]} in {policy["namespace"]}"));
        var inward = all.Find("NetworkPolicy", "snapper-worker")!["spec"]!["ingress"]!;
        Assert.Equal(
            ["front"],
            inward.AsArray().SelectMany(static rule => Rules.Manifests.List(rule!["from"]))
                .Select(static from => from["namespaceSelector"]?["matchLabels"]!["kubernetes.io/metadata.name"])
                .OfType<JsonNode>().Select(static space => (string)space!));
    }

    [NeedsHelmTheory]
    [InlineData("worker.replica=3", "'/worker': additional properties 'replica' not allowed")]
    [InlineData("worker.replicas=0", "'/worker/replicas': minimum: got 0, want 1")]
    [InlineData("worker.replicas=three", "'/worker/replicas': got string, want integer")]
    [InlineData("worker.image=worker", "'/worker/image': 'worker' does not match pattern")]
    [InlineData("worker.resources.limits.memory=1GB", "'/worker/resources/limits/memory': '1GB' does not match")]
    [InlineData("worker.env.A=5", "'/worker/env/A': got number, want string")]
    [InlineData("worker.env.SNAPPER_LOG=file", "worker.env: the chart itself sets SNAPPER_LOG")]
    [InlineData("worker.spread=Never", "'/worker/spread': value must be one of 'DoNotSchedule', 'ScheduleAnyway'")]
    [InlineData("actorTypes={Account,Account}", "'/actorTypes': items at 0 and 1 are equal")]
    [InlineData("actorTypes={9x}", "'/actorTypes/0': '9x' does not match pattern")]
    [InlineData("actorTypes=null", "missing property 'actorTypes'")]
    [InlineData("appId=Bank", "'/appId': 'Bank' does not match pattern")]
    [InlineData("callers[0].namespace=x", "'/callers/0': missing property 'appId'")]
    [InlineData("redis.address=host", "'/redis/address': 'host' does not match pattern")]
    [InlineData("redis.maxmemory=6Gi", "'/redis/maxmemory': '6Gi' does not match pattern")]
    [InlineData("links.direct=yes", "'/links/direct': got string, want boolean")]
    [InlineData("links.port=5104", "'/links': additional properties 'port' not allowed")]
    [InlineData("worker.env.Snapper__Cluster__Links=x", "worker.env: the chart itself sets Snapper__Cluster__Links")]
    [InlineData("redis.address=host:1,redis.tls=true", "redis.tls is of the Redis that the chart makes")]
    public async Task Wrong_values_are_refused_in_words(string set, string message)
    {
        var (code, output) = await HelmProgram.Try("template", "snapper", s_chart, "--set", set);
        Assert.NotEqual(0, code);
        Assert.Contains(message, output, StringComparison.Ordinal);
    }

    /// <summary>A variable that is set twice would count once, and not the one that was meant.</summary>
    [NeedsHelmTheory]
    [InlineData("redis.tls=false")]
    [InlineData("redis.tls=true,links.direct=true")]
    public async Task No_variable_of_the_chart_can_be_repeated(string set)
    {
        var all = new Rules.Manifests(await Render(["--set", set]), Rendered.Secrets);
        var worker = all.Pods.Single(static pods => pods.Where == "StatefulSet/snapper-worker").Containers[0];
        var names = Rules.Manifests.List(worker["env"]).Select(static one => (string)one["name"]!).ToArray();
        var helpers = File.ReadAllText(Path.Combine(s_chart, "templates", "_helpers.tpl"));
        var listed = ListOfVariables().Match(helpers).Value;
        Assert.Equal(
            names.Order(StringComparer.Ordinal),
            names.Where(name => listed.Contains($"\"{name}\"", StringComparison.Ordinal))
                .Order(StringComparer.Ordinal));
    }

    [NeedsHelmFact]
    public async Task Lint_has_nothing_to_say() => await HelmProgram.Run("lint", "--strict", s_chart);

    /// <summary>What is printed after an installation names the secrets without which nothing starts.</summary>
    [NeedsHelmFact]
    public async Task The_notes_name_every_secret_and_caller()
    {
        var printed = await HelmProgram.Run(
            "install", "snapper", s_chart, "-n", "bank", "--dry-run=client", "--set",
            "redis.tls=true,links.direct=true");
        var notes = printed[printed.IndexOf("\nNOTES:", StringComparison.Ordinal)..];
        Assert.All(Rendered.Secrets, secret => Assert.Contains(
            $"{secret.Key} ({string.Join(", ", secret.Value)})", notes, StringComparison.Ordinal));
        Assert.Contains("shop in bank", notes, StringComparison.Ordinal);
    }

    [Fact]
    public void Its_version_is_that_of_the_packages()
    {
        var chart = File.ReadAllText(Path.Combine(s_chart, "Chart.yaml"));
        var version = PackageVersion().Match(Tree.Read("Directory.Build.props")).Groups[1].Value;
        Assert.Contains($"\nversion: {version}\nappVersion: {version}\n", chart, StringComparison.Ordinal);
    }

    private static async Task<IReadOnlyList<JsonObject>> Render(string[] arguments) =>
        YamlText.Documents(await HelmProgram.Run(["template", "snapper", s_chart, .. arguments]), "helm");

    private static string Settings(string overlay, string[] components) => $"{overlay} {string.Join(' ', components)}";

    /// <summary>In one spelling and order, by kind and name.</summary>
    private static SortedDictionary<string, string> Texts(IEnumerable<JsonObject> objects) => new(
        objects.ToDictionary(Rules.Manifests.Where, static one => Sorted(one, "")!.ToJsonString()),
        StringComparer.Ordinal);

    private static JsonNode? Sorted(JsonNode? node, string field)
    {
        switch (node)
        {
            case JsonArray list:
                var all = list.Select(static one => Sorted(one, ""));

                // Their order means nothing; kustomize puts first what a patch names.
                return new JsonArray([.. field is "env" or "volumes" or "volumeMounts"
                    ? all.OrderBy(static one => one!.ToJsonString(), StringComparer.Ordinal) : all]);
            case JsonObject one:
                var sorted = new JsonObject();
                foreach (var (key, value) in one.OrderBy(static pair => pair.Key, StringComparer.Ordinal))
                {
                    // By this Redis starts again when its configuration changes; kustomize gives the map another name.
                    if (field == "annotations" && key == "checksum/configuration") continue;
                    var copy = Sorted(value, key);
                    if (copy is not JsonObject { Count: 0 } || key != "annotations") sorted[key] = copy;
                }

                return sorted;
            case JsonValue number when number.TryGetValue<double>(out var value):
                return JsonValue.Create(value);
            default:
                return node?.DeepClone();
        }
    }

    [GeneratedRegex("define \"snapper.ownVariables\"[^$]+?end -")]
    private static partial Regex ListOfVariables();

    [GeneratedRegex("<(?:Version|VersionPrefix)>([0-9.]+)<")]
    private static partial Regex PackageVersion();
}
