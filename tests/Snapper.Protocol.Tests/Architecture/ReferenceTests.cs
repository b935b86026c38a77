namespace Snapper.Protocol.Tests.Architecture;

/// <summary>References point one way (DESIGN.md section 3).</summary>
public sealed class ReferenceTests
{
    private const string Apps = "Snapper.Apps.";

    /// <summary>
    /// What each project of src and verification refers to. A new project or reference is entered here when its place
    /// is decided.
    /// </summary>
    private static readonly Dictionary<string, string[]> Allowed = new()
    {
        ["Snapper.Protocol"] = [],
        ["Snapper.Actors"] = ["Snapper.Protocol"],
        ["Snapper.Storage"] = ["Snapper.Protocol"],
        ["Snapper.Sidecar"] = [],
        ["Snapper.Judging"] = [],
        ["Snapper.Generators"] = [],
        ["Snapper.Generators.CodeFixes"] = [],
        ["Snapper.Contracts"] = [],
        ["Snapper.Client"] = ["Snapper.Actors", "Snapper.Contracts"],
        ["Snapper.Runtime"] =
            ["Snapper.Contracts", "Snapper.Protocol", "Snapper.Actors", "Snapper.Storage"],
        ["Snapper.Cluster"] = ["Snapper.Runtime"],
        ["Snapper.Telemetry"] = ["Snapper.Runtime"],
        ["Snapper.Security"] = [],
        ["Snapper.Failures"] = [],
        ["Snapper.Terminal"] = ["Snapper.Failures"],
        ["Snapper.AspNetCore"] =
        [
            "Snapper.Runtime", "Snapper.Cluster", "Snapper.Telemetry", "Snapper.Security", "Snapper.Sidecar",
            "Snapper.Failures",
        ],
        ["Snapper.Testing"] = ["Snapper.Client", "Snapper.AspNetCore", "Snapper.Storage.Memory"],
        ["Snapper.DaprCompatibility"] = ["Snapper.AspNetCore"],
        ["Snapper.Templates"] = [],
        ["Snapper.Server"] = ["Snapper.AspNetCore", "Snapper.Terminal", Apps],
        ["Snapper.Cli"] = ["Snapper.Server", "Snapper.Client", "Snapper.Terminal"],
        [Apps] = ["Snapper.Actors"],
        ["Snapper.RuleModel"] = [],
        ["Snapper.Storage.Memory"] = ["Snapper.Storage"],
        ["Snapper.Mutations"] = [],
        ["Snapper.Simulation"] =
        [
            "Snapper.Runtime", "Snapper.Cluster", "Snapper.Storage", "Snapper.Storage.Memory", "Snapper.Protocol",
            "Snapper.Actors", "Snapper.Judging", Apps,
        ],
        ["Snapper.Live"] = ["Snapper.Judging", "Snapper.Terminal"],
        ["Snapper.Fuzzing"] = ["Snapper.Cli", "Snapper.Server", "Snapper.Simulation", "Snapper.Terminal"],
        ["Snapper.Verify"] =
            [
                "Snapper.Simulation", "Snapper.Judging", "Snapper.Fuzzing", "Snapper.Live", "Snapper.RuleModel",
                "Snapper.Terminal",
            ],
    };

    [Fact]
    public void Projects_refer_to_what_lies_below_them_and_nothing_else()
    {
        string[] projects = [.. SourceTree.Projects("src"), .. SourceTree.Projects("verification")];
        Assert.NotEmpty(projects);
        foreach (var project in projects)
        {
            var name = Path.GetFileNameWithoutExtension(project);
            var key = name.StartsWith(Apps, StringComparison.Ordinal) ? Apps : name;
            Assert.True(Allowed.TryGetValue(key, out var allowed), $"{name} has no place among the allowed references yet.");
            var references = SourceTree.References(project, "ProjectReference")
                .Select(reference => reference.StartsWith(Apps, StringComparison.Ordinal) ? Apps : reference);
            Assert.True(
                allowed!.Order().SequenceEqual(references.Distinct().Order()),
                $"{name} refers to {string.Join(", ", references)}; it should to {string.Join(", ", allowed!)}.");
        }
    }

    [Fact]
    public void The_protocol_refers_to_no_package()
    {
        var project = Path.Combine(SourceTree.Root, "src", "Snapper.Protocol", "Snapper.Protocol.csproj");
        foreach (var kind in new[] { "ProjectReference", "PackageReference", "FrameworkReference", "Reference" })
        {
            Assert.Empty(SourceTree.References(project, kind));
        }
    }

    [Fact]
    public void Only_the_storage_refers_to_the_redis_client()
    {
        var users = SourceTree.Projects("src")
            .Where(project => SourceTree.References(project, "PackageReference").Contains("StackExchange.Redis"))
            .Select(Path.GetFileNameWithoutExtension);
        Assert.Equal(["Snapper.Storage"], users);
    }

    [Fact]
    public void No_namespace_begins_with_the_name_of_the_library()
    {
        var sources = new[] { "src", "verification", "tests", "loadtest", "dashboard" }.SelectMany(SourceTree.Sources).ToArray();
        Assert.NotEmpty(sources);
        foreach (var source in sources)
        {
            foreach (var line in File.ReadLines(source))
            {
                string[] parts = [.. line.Split(' ', ';', '.').Where(static part => part != "Snapper").Take(2)];
                Assert.False(parts is ["namespace", "Dapr"], $"{Path.GetRelativePath(SourceTree.Root, source)}: '{line}' hides the library's names.");
            }
        }
    }
}
