using System.Net.Http.Json;
using System.Text.Json.Nodes;
using Microsoft.Extensions.DependencyInjection;
using Snapper.AspNetCore.Processes;
using Snapper.Cli.Supervision;
using Snapper.Server.Hosting;
using Xunit;

namespace Snapper.Cli.Tests;

/// <summary>
/// An actor type of one's own: a project outside of this tree, which has nothing but the package <c>Snapper.Actors</c>,
/// and a server that hosts what it was not built with.
/// </summary>
public sealed class OwnActorsTests(OwnActorsTests.Shop shop) : IClassFixture<OwnActorsTests.Shop>, IDisposable
{
    private readonly TempFolder _temp = new();

    public void Dispose() => _temp.Dispose();

    [Fact]
    public async Task An_actor_of_the_package_s_README_is_built_hosted_and_called()
    {
        var ports = Ports.Free(2);
        await using var up = UpProcess.Start(
            "up", _temp.Path, ports[0] - 1, ports[1], "--embedded", "--actors", shop.Assembly, "--apps", "none");
        var ready = await up.Ready();
        using var http = new HttpClient { BaseAddress = new Uri(ready.Workers[0].Url) };
        Assert.Equal(5, await Add(http, 5));
        Assert.Equal(7, await Add(http, 2));
        var moved = await (await http.PostAsJsonAsync("/v1/transactions", new
        {
            actor = new { type = "Counter", id = "c" }, method = "Move", input = new { to = "d", amount = 0 },
        })).Content.ReadFromJsonAsync<JsonNode>();
        Assert.True((string?)moved!["mode"] == "pact" && (int?)moved["result"] == 7, moved.ToJsonString());
        var types = await http.GetFromJsonAsync<JsonNode>("/v1/actor-types");
        Assert.Equal(["Counter"], types!["types"]!.AsArray().Select(type => (string)type!["type"]!));

        // A restart finds its state, as that of any actor.
        up.Signal(Posix.Terminate);
        Assert.Equal(0, await up.Exit());
        await using var again = UpProcess.Start(
            "up", _temp.Path, ports[0] - 1, ports[1], [ "--embedded", "--apps", "smallbank" ],
            new Dictionary<string, string?> { ["SNAPPER_ACTORS"] = shop.Assembly });
        await again.Ready();
        Assert.Equal(8, await Add(http, 1));
        types = await http.GetFromJsonAsync<JsonNode>("/v1/actor-types");
        Assert.Equal(["Account", "Counter"], types!["types"]!.AsArray().Select(type => (string)type!["type"]!).Order());
    }

    [Fact]
    public void What_cannot_be_hosted_is_refused_by_its_name()
    {
        Assert.Equal($"--actors: {_temp.File("none.dll")} is not there.", Refused(null, _temp.File("none.dll")));
        Assert.Equal($"--actors: {_temp.Path} is a folder.", Refused(null, _temp.Path));
        File.WriteAllText(_temp.File("text.dll"), "no assembly");
        Assert.Equal($"--actors: {_temp.File("text.dll")} is no .NET assembly.", Refused(null, _temp.File("text.dll")));
        var without = typeof(Snapper.Protocol.Identity.ActorKey).Assembly.Location;
        Assert.StartsWith($"--actors: {without} has no actor types", Refused(null, without), StringComparison.Ordinal);
        Assert.Equal(
            $"The actor types of {shop.Assembly} are added twice; add them once.",
            Refused(null, shop.Assembly, shop.Assembly));
        Assert.StartsWith("--apps none needs --actors", Refused([]), StringComparison.Ordinal);
        var wrong = Assert.Throws<UsageException>(() => Commands.UpCommand.Parse("--apps", "bank"));
        Assert.Contains("must be of smallbank, listappend, or none", wrong.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_constructor_that_asks_for_what_is_not_there_is_named_at_the_start()
    {
        var hosted = ServerActors.Of([], [shop.NeedsClock]);
        await using var none = new ServiceCollection().BuildServiceProvider();
        var wrong = await Assert.ThrowsAsync<UsageException>(() => hosted.Check(none));
        const string why = "An actor of the type Alarm cannot be made: InvalidOperationException: ";
        Assert.StartsWith(why, wrong.Message, StringComparison.Ordinal);
        Assert.Contains("IClock", wrong.Message, StringComparison.Ordinal);
    }

    /// <summary>As <c>cp</c> does it, where <c>dotnet build</c> makes a new file.</summary>
    [Fact]
    public async Task A_file_that_is_overwritten_in_place_is_the_next_start_s()
    {
        var file = _temp.File("Shop.dll");
        File.Copy(shop.Assembly, file);
        var ports = Ports.Free(2);
        await using var up = UpProcess.Start(
            "up", _temp.File("data"), ports[0] - 1, ports[1], "--embedded", "--actors", file, "--apps", "none");
        using var http = new HttpClient { BaseAddress = new Uri((await up.Ready()).Workers[0].Url) };
        await using (var open = new FileStream(file, FileMode.Open, FileAccess.Write))
        {
            open.SetLength(0);
        }

        Assert.Equal(5, await Add(http, 5));
        Assert.False(up.HasExited);
    }

    [Fact]
    public void What_an_assembly_needs_and_is_not_there_is_named_at_the_start()
    {
        var copied = _temp.File("Alarms.dll");
        File.Copy(shop.NeedsClock, copied);
        var refused = Refused(null, copied);
        Assert.Contains("Clocks, Version=1.0.0.0", refused, StringComparison.Ordinal);
        Assert.Contains("EnableDynamicLoading", refused, StringComparison.Ordinal);
        File.Copy(Path.Combine(Path.GetDirectoryName(shop.NeedsClock)!, "Clocks.dll"), _temp.File("Clocks.dll"));
        Assert.Equal(["Alarm"], ServerActors.Of([], [copied]).Types);
    }

    private static string Refused(string[]? apps, params string[] assemblies) =>
        Assert.Throws<UsageException>(() => ServerActors.Of(apps, assemblies)).Message;

    private static async Task<int> Add(HttpClient http, int amount)
    {
        var answer = await http.PostAsJsonAsync("/v1/transactions", new
        {
            actor = new { type = "Counter", id = "c" }, method = "Add", input = amount,
        });
        var envelope = await answer.Content.ReadFromJsonAsync<JsonNode>();
        Assert.True((string?)envelope!["outcome"] == "committed", envelope.ToJsonString());
        return (int)envelope["result"]!;
    }

    /// <summary>The packages, and two projects that have nothing else; built once.</summary>
    public sealed class Shop : IAsyncLifetime
    {
        private const string Project = """
            <Project Sdk="Microsoft.NET.Sdk">
              <PropertyGroup>
                <TargetFramework>net10.0</TargetFramework>
                <Nullable>enable</Nullable>
                <ImplicitUsings>enable</ImplicitUsings>
                <TreatWarningsAsErrors>true</TreatWarningsAsErrors>
                <RestorePackagesPath>../packages</RestorePackagesPath>
              </PropertyGroup>
              <ItemGroup>
                <PackageReference Include="Snapper.Actors" Version="0.1.0" />
              </ItemGroup>
            </Project>
            """;

        private const string Clock = """
            namespace Clocks;

            public interface IClock
            {
                DateTimeOffset Now { get; }
            }
            """;

        private const string Alarm = """
            using Clocks;
            using Snapper.Actors;

            namespace Alarms;

            public interface IAlarm : ITransactionalActor
            {
                Task Ring();
            }

            public sealed record Rung(int Times);

            [TransactionalActor("Alarm")]
            public sealed class Alarm(IClock clock) : TransactionalActor<Rung>, IAlarm
            {
                protected override Rung InitialState() => new(clock.Now.Year);

                public async Task Ring() => State.Set(new Rung((await State.ForUpdate()).Times + 1));
            }
            """;

        private readonly TempFolder _temp = new();

        /// <summary>Built from the README of <c>Snapper.Actors</c>.</summary>
        public string Assembly => _temp.File("Shop/bin/Release/net10.0/Shop.dll");

        /// <summary>Its actor asks for a service.</summary>
        public string NeedsClock => _temp.File("Alarms/bin/Release/net10.0/Alarms.dll");

        public async Task InitializeAsync()
        {
            var source = Repository.Find()!;
            foreach (var package in (string[])["Snapper.Protocol", "Snapper.Actors"])
            {
                await Dotnet(source, "pack", $"src/{package}", "-c", "Release", "--no-build", "-o", _temp.File("feed"));
            }

            await File.WriteAllTextAsync(
                _temp.File("nuget.config"),
                """
                <configuration><packageSources><clear /><add key="feed" value="feed" /></packageSources></configuration>
                """);
            var readme = await File.ReadAllTextAsync(Path.Combine(source, "src/Snapper.Actors/README.md"));
            await Build("Shop", readme.Split("```csharp\n")[1].Split("```")[0]);
            await Write("Clocks", Clock, Project);
            const string reference = """<ProjectReference Include="../Clocks/Clocks.csproj" /></ItemGroup>""";
            await Write("Alarms", Alarm, Project.Replace("</ItemGroup>", reference, StringComparison.Ordinal));
            await Dotnet(_temp.Path, "build", "Alarms", "-c", "Release", "--nologo");
        }

        public Task DisposeAsync()
        {
            _temp.Dispose();
            return Task.CompletedTask;
        }

        private async Task Build(string name, string code)
        {
            await Write(name, code, Project);
            await Dotnet(_temp.Path, "build", name, "-c", "Release", "--nologo");
        }

        private async Task Write(string name, string code, string project)
        {
            Directory.CreateDirectory(_temp.File(name));
            await File.WriteAllTextAsync(_temp.File($"{name}/{name}.csproj"), project);
            await File.WriteAllTextAsync(_temp.File($"{name}/Code.cs"), code);
        }

        private static Task Dotnet(string folder, params string[] arguments) =>
            DotnetCommand.Run(folder, home: null, arguments);
    }
}
