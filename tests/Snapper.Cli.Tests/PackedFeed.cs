using System.Xml.Linq;
using Snapper.Cli.Supervision;
using Xunit;

namespace Snapper.Cli.Tests;

/// <summary>
/// A folder outside of this tree with the packages of this build, in which applications are built that have nothing of
/// the tree but these.
/// </summary>
public class PackedFeed : IAsyncLifetime
{
    /// <summary>The command line, as a tool.</summary>
    public const string Tool = "Snapper.Cli";

    private readonly TempFolder _temp = new();

    /// <summary>What applications refer to.</summary>
    protected virtual IEnumerable<string> Packages =>
        ["Snapper.AspNetCore", "Snapper.Testing", "Snapper.Simulation", "Snapper.Templates"];

    /// <summary>What has all of its files inside.</summary>
    protected virtual IEnumerable<string> Tools => [Tool];

    /// <summary>The folder; <c>feed</c> below it has the packages, <c>packages</c> what was restored.</summary>
    public string Folder => _temp.Path;

    /// <inheritdoc/>
    public async Task InitializeAsync()
    {
        await Pack(Repository.Find()!);
        var machine = Environment.GetEnvironmentVariable("NUGET_PACKAGES") is { Length: > 0 } named ? named
            : Path.Combine(Environment.GetFolderPath(Environment.SpecialFolder.UserProfile), ".nuget", "packages");
        await File.WriteAllTextAsync(
            Of("nuget.config"),
            // What others have made is on this machine already: no feed is asked.
            $"""
            <configuration>
              <packageSources><clear /><add key="feed" value="feed" /></packageSources>
              <fallbackPackageFolders><add key="machine" value="{machine}" /></fallbackPackageFolders>
              <config><add key="globalPackagesFolder" value="packages" /></config>
            </configuration>
            """);
    }

    /// <inheritdoc/>
    public Task DisposeAsync()
    {
        _temp.Dispose();
        return Task.CompletedTask;
    }

    /// <summary>The path of a file or a folder in it.</summary>
    public string Of(string name) => _temp.File(name);

    /// <summary>Runs dotnet in it, as a developer of another tree does.</summary>
    public Task Dotnet(params string[] arguments) => DotnetCommand.Run(Folder, Of("home"), arguments);

    /// <summary>The same of what must fail: what it says.</summary>
    public Task<string> Refused(params string[] arguments) => DotnetCommand.Refused(Folder, Of("home"), arguments);

    /// <summary>The packages that an application refers to, and all of ours that they need.</summary>
    private async Task Pack(string source)
    {
        var needed = Packages.ToList();
        for (var i = 0; i < needed.Count; i++)
        {
            var project = XDocument.Load(ProjectOf(source, needed[i]));
            needed.AddRange(project.Descendants("ProjectReference")
                .Where(static reference => (string?)reference.Attribute("ReferenceOutputAssembly") != "false")
                .Select(static reference => Path.GetFileNameWithoutExtension((string)reference.Attribute("Include")!))
                .Where(name => !needed.Contains(name)).Distinct().ToArray());
        }

        needed.AddRange(Tools);
        var projects = string.Join(';', needed.Select(name => ProjectOf(source, name)));
        await File.WriteAllTextAsync(
            _temp.File("pack.proj"),
            $"""
            <Project>
              <Target Name="Pack">
                <MSBuild Projects="{projects}" Targets="Pack"
                         Properties="Configuration=Release;NoBuild=true;PackageOutputPath={_temp.File("feed")}" />
              </Target>
            </Project>
            """);
        await Dotnet("msbuild", "pack.proj", "-t:Pack", "-nologo", "-v:q");
        var packed = Directory.GetFiles(_temp.File("feed"), "*.nupkg")
            .Select(static file => Path.GetFileName(file)[..^".0.1.0.nupkg".Length]);
        Assert.Equal(needed.Order(), packed.Order());
    }

    private static string ProjectOf(string source, string name) =>
        ((string[])["src", "verification"]).Select(folder =>
            Path.Combine(source, folder, name, name + ".csproj")).First(File.Exists);
}

/// <summary>Tests that share the packages.</summary>
[CollectionDefinition(nameof(PackedFeed))]
public sealed class OnPackedFeed : ICollectionFixture<PackedFeed>;
