using System.Text.Json.Nodes;
using Snapper.Manifests.Tests.Kustomize;
using Xunit;

namespace Snapper.Manifests.Tests;

/// <summary>The small renderer does what kustomize does, as far as it does it, and refuses the rest.</summary>
public sealed class KustomizationTests : IDisposable
{
    private const string Deployment = """
        apiVersion: apps/v1
        kind: Deployment
        metadata: {name: d}
        spec:
          replicas: 1
          template:
            metadata: {labels: {a: b}}
            spec:
              containers:
                - name: one
                  image: i
                  env:
                    - {name: A, value: "1"}
                    - {name: B, value: "2"}
                  command: [c, d]
        """;

    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("snapper-kustomize-");

    public void Dispose() => _folder.Delete(recursive: true);

    [Fact]
    public void A_strategic_merge_changes_lists_by_their_keys_and_replaces_those_without()
    {
        var patch = """
            apiVersion: apps/v1
            kind: Deployment
            metadata: {name: d}
            spec:
              replicas: null
              template:
                spec:
                  containers:
                    - name: one
                      env: [{name: B, value: "3"}, {name: C, value: "4"}, {name: A, $patch: delete}]
                      command: [z]
                    - {name: two, image: j}
            """;
        var one = Rendered("patches: [{path: p.yaml}]", ("p.yaml", patch)).Single();
        Assert.Null(one["spec"]!["replicas"]);
        Assert.Equal(
            """[{"name":"one","image":"i","env":[{"name":"B","value":"3"},{"name":"C","value":"4"}],"command":["z"]},{"name":"two","image":"j"}]""",
            one["spec"]!["template"]!["spec"]!["containers"]!.ToJsonString());
    }

    [Fact]
    public void A_patch_can_delete_an_object() =>
        Assert.Empty(Rendered("patches: [{path: p.yaml}]", ("p.yaml", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\n$patch: delete")));

    [Fact]
    public void A_list_of_operations_is_applied_in_order()
    {
        var patch = """
            patches:
              - target: {kind: Deployment, name: d}
                patch: |-
                  - {op: test, path: /spec/replicas, value: 1}
                  - {op: replace, path: /spec/replicas, value: 5}
                  - {op: add, path: /spec/template/spec/containers/0/env/-, value: {name: C, value: "3"}}
                  - {op: remove, path: /spec/template/spec/containers/0/env/0}
                  - {op: add, path: /metadata/annotations, value: {a~b/c: x}}
                  - {op: replace, path: /metadata/annotations/a~0b~1c, value: z}
            """;
        var one = Rendered(patch).Single();
        Assert.Equal(5, (int)one["spec"]!["replicas"]!);
        Assert.Equal("BC", string.Concat(one["spec"]!["template"]!["spec"]!["containers"]![0]!["env"]!.AsArray().Select(variable => (string)variable!["name"]!)));
        Assert.Equal("z", (string?)one["metadata"]!["annotations"]!["a~b/c"]);
    }

    [Fact]
    public void Namespace_labels_images_and_generators_are_applied()
    {
        var text = """
            namespace: space
            labels: [{pairs: {part: p}, includeTemplates: true}]
            images: [{name: i, newName: r/i, newTag: "2"}]
            configMapGenerator: [{name: c, files: [f.txt], literals: [k=v=w]}]
            secretGenerator: [{name: s, literals: [a=b]}]
            """;
        var all = Rendered(text, ("f.txt", "content"));
        Assert.All(all, one => Assert.Equal("space", (string?)one["metadata"]!["namespace"]));
        Assert.All(all, one => Assert.Equal("p", (string?)one["metadata"]!["labels"]!["part"]));
        var template = all[0]["spec"]!["template"]!;
        Assert.Equal("""{"a":"b","part":"p"}""", template["metadata"]!["labels"]!.ToJsonString());
        Assert.Equal("r/i:2", (string?)template["spec"]!["containers"]![0]!["image"]);
        Assert.Equal("""{"f.txt":"content","k":"v=w"}""", all[1]["data"]!.ToJsonString());
        Assert.Equal("""{"a":"b"}""", all[2]["stringData"]!.ToJsonString());
    }

    [Theory]
    [InlineData("vars: []", "the field vars is not known here")]
    [InlineData("resources: [gone.yaml]", "gone.yaml, which is not there")]
    [InlineData("components: [gone]", "has no kustomization.yaml")]
    [InlineData("patches: [{path: gone.yaml}]", "gone.yaml, which is not there")]
    [InlineData("patches: [{target: {kind: Deployment, name: e}, patch: '[]'}]", "a patch is for Deployment e, which is not there")]
    [InlineData("patches: [{target: {kind: Deployment, name: d}, patch: '[{op: replace, path: /spec/replica, value: 1}]'}]", "names /spec/replica, which is not there")]
    [InlineData("patches: [{target: {kind: Deployment, name: d}, patch: '[{op: remove, path: /spec/template/spec/containers/1}]'}]", "which is not there")]
    [InlineData("patches: [{target: {kind: Deployment, name: d}, patch: '[{op: test, path: /spec/replicas, value: 2}]'}]", "a patch expects 2")]
    [InlineData("patches: [{target: {kind: Deployment, name: d}, patch: '[{op: move, path: /spec/replicas}]'}]", "the operation move is not known here")]
    [InlineData("patches: [{path: other.yaml}]", "has another apiVersion")]
    [InlineData("images: [{name: x, newTag: '1'}]", "no container has the image x")]
    [InlineData("configMapGenerator: [{name: c, behavior: merge, literals: [a=b]}]", "is not there to be changed")]
    [InlineData("labels: [{pairs: {a: b}, includeSelectors: true}]", "labels that change selectors are not known here")]
    [InlineData("namespace: a\nnamespace: b", "Duplicate key")]
    [InlineData("namespace: on", "'on' needs quotes")]
    [InlineData("namespace: 0440", "0440 is octal")]
    public void What_is_wrong_or_not_known_is_refused(string text, string message)
    {
        var wrong = Assert.Throws<ManifestException>(() => Rendered(text, ("other.yaml", "apiVersion: apps/v1beta1\nkind: Deployment\nmetadata: {name: d}")));
        Assert.Contains(message, wrong.Message, StringComparison.Ordinal);
    }

    private List<JsonObject> Rendered(string text, params (string Name, string Text)[] files)
    {
        var resources = text.Contains("resources:", StringComparison.Ordinal) ? "" : "resources: [d.yaml]\n";
        foreach (var (name, content) in files.Append(("d.yaml", Deployment)).Append(("kustomization.yaml", $"kind: Kustomization\n{resources}{text}")))
        {
            File.WriteAllText(Path.Combine(_folder.FullName, name), content);
        }

        return Kustomization.Render(_folder.FullName);
    }
}
