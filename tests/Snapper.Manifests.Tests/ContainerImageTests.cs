using System.Text.RegularExpressions;
using Xunit;

namespace Snapper.Manifests.Tests;

/// <summary>The Dockerfile, as far as it can be judged without building images.</summary>
public sealed partial class ContainerImageTests
{
    [Fact]
    public void Everything_that_is_copied_is_in_the_tree_and_not_ignored()
    {
        var ignored = Tree.Read(".dockerignore").Split('\n');
        var sources = Copied().ToArray();
        Assert.Contains("src", sources);
        Assert.Equal([], sources.Where(source => !ignored.Contains("!" + source)));

        // The dashboard's sources are there or not there as a whole.
        string[] missing = Directory.Exists(Tree.Path("dashboard", "Snapper.Dashboard")) ? [] : ["dashboard"];
        Assert.Equal(missing, sources.Where(source => !Path.Exists(Tree.Path(source))));
    }

    [Fact]
    public void Nothing_that_the_build_reads_is_left_out()
    {
        var sources = Copied().ToArray();
        foreach (var file in (string[])["Directory.Build.props", "Directory.Packages.props", "global.json", ".editorconfig"]) Assert.Contains(file, sources);
        foreach (var project in Directory.EnumerateFiles(Tree.Path("src"), "*.csproj", SearchOption.AllDirectories))
        {
            if (((string[])["/Snapper.Cli/", "/Snapper.Testing/", "/Snapper.Templates/"])
                .Any(inNoImage => project.Contains(inNoImage, StringComparison.Ordinal)))
            {
                continue;
            }

            var text = File.ReadAllText(project);
            foreach (var outside in Outside().Matches(text).Select(match => Path.GetFullPath(match.Groups[1].Value, Path.GetDirectoryName(project)!)))
            {
                Assert.True(outside.StartsWith(Tree.Path("src") + "/", StringComparison.Ordinal), $"{project} refers to {outside}, which is not in the image's build");
            }

            Assert.True(File.Exists(Path.Combine(Path.GetDirectoryName(project)!, "packages.lock.json")), $"{project} has no lock file, and the image restores in locked mode");
        }
    }

    [Theory]
    [InlineData("worker", "Snapper.Server")]
    [InlineData("dashboard", "Snapper.Dashboard")]
    public void A_target_runs_the_published_program_without_root_and_without_a_shell(string target, string program)
    {
        var stage = ContainerImage.Stage(target);
        Assert.Contains(("ENTRYPOINT", $"[\"dotnet\", \"{program}.dll\"]"), stage);
        Assert.Contains(("COPY", $"--from={target}-build /app ./"), stage);
        Assert.Contains(stage, one => one.Name == "USER");
        Assert.DoesNotContain(stage, one => one.Name == "RUN");
        Assert.True(ContainerImage.User is ( > 0, > 0));
        Assert.Contains(ContainerImage.Instructions, one => one.Name == "FROM" && one.Value == $"${{RUNTIME_IMAGE}} AS {target}");
        Assert.Contains(ContainerImage.Stage(target + "-build"), one => one.Name == "RUN" && one.Value.StartsWith("dotnet publish ", StringComparison.Ordinal) && one.Value.Contains($"/{program} ", StringComparison.Ordinal));
    }

    [Fact]
    public void Base_images_can_be_given_by_digest_and_have_tags_and_no_shell()
    {
        Assert.All(ContainerImage.Instructions.Where(one => one.Name == "FROM"), one => Assert.Matches("^(\\$\\{(SDK|RUNTIME)_IMAGE\\}|sources) AS ", one.Value));
        Assert.Matches(":10\\.0[-a-z0-9.]*$", ContainerImage.Instructions.Single(one => one.Value.StartsWith("SDK_IMAGE=", StringComparison.Ordinal)).Value);
        Assert.Matches(":10\\.0-[a-z]+-chiseled$", ContainerImage.Instructions.Single(one => one.Value.StartsWith("RUNTIME_IMAGE=", StringComparison.Ordinal)).Value);
    }

    [Fact]
    public void The_worker_target_is_the_last_one_which_is_built_when_none_is_named()
    {
        Assert.EndsWith(" AS worker", ContainerImage.Instructions.Last(one => one.Name == "FROM").Value, StringComparison.Ordinal);
        Assert.Contains(("CMD", "[\"worker\"]"), ContainerImage.Stage("worker"));
        Assert.Contains(("EXPOSE", "5101"), ContainerImage.Stage("worker"));
    }

    private static IEnumerable<string> Copied() => ContainerImage.Instructions.Where(one => one.Name == "COPY" && !one.Value.StartsWith("--from", StringComparison.Ordinal))
        .SelectMany(one => one.Value.Split(' ')[..^1]).Select(source => source.TrimEnd('/'));

    [GeneratedRegex("(?:Include|Project)=\"(\\.\\./[^\"*$]*)\"")]
    private static partial Regex Outside();
}
