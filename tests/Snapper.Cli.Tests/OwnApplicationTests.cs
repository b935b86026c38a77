using System.Diagnostics;
using System.Globalization;
using System.Net.Http.Json;
using System.Text.Json.Nodes;
using Snapper.AspNetCore.Processes;
using Snapper.Cli.Supervision;
using Xunit;

namespace Snapper.Cli.Tests;

/// <summary>
/// A web application of one's own: projects outside of this tree, made of the README of the package
/// <c>Snapper.AspNetCore</c> and of the template, which have nothing of this tree but its packages.
/// </summary>
[Collection(nameof(PackedFeed))]
public sealed class OwnApplicationTests(PackedFeed packed)
{
    private const string Package = "Snapper.AspNetCore";

    private const string Project = """
        <Project Sdk="Microsoft.NET.Sdk.Web">
          <PropertyGroup>
            <TargetFramework>net10.0</TargetFramework>
            <Nullable>enable</Nullable>
            <ImplicitUsings>enable</ImplicitUsings>
            <TreatWarningsAsErrors>true</TreatWarningsAsErrors>
          </PropertyGroup>
          <ItemGroup>
            <PackageReference Include="Snapper.AspNetCore" Version="0.1.0" />
          </ItemGroup>
        </Project>
        """;

    [Fact]
    public async Task The_application_of_the_package_s_README_is_built_from_packages_and_commits()
    {
        var source = Repository.Find()!;
        var readme = await File.ReadAllTextAsync(Path.Combine(source, "src", Package, "README.md"));
        var code = readme.Split("```csharp\n").Skip(1).Select(static text => text.Split("```")[0]).ToArray();
        Assert.InRange(code[0].Split('\n', StringSplitOptions.RemoveEmptyEntries).Length, 1, 15);
        Directory.CreateDirectory(packed.Of("Shop"));
        await File.WriteAllTextAsync(packed.Of("Shop/Shop.csproj"), Project);
        await File.WriteAllTextAsync(packed.Of("Shop/Program.cs"), code[0]);
        await File.WriteAllTextAsync(packed.Of("Shop/Counter.cs"), code[1]);
        await packed.Dotnet("build", "Shop", "-c", "Release", "--nologo");
        await TemplateIsTested();
        await ToolStartsAWorker();

        var ports = Ports.Free(2).Select(static port => port.ToString(CultureInfo.InvariantCulture)).ToArray();
        var start = new ProcessStartInfo(
            "dotnet",
            [
                packed.Of("Shop/bin/Release/net10.0/Shop.dll"), "--urls", $"http://127.0.0.1:{ports[0]}",
                "--Snapper:SidecarPort", ports[1], "--Snapper:Sidecar", "embedded",
                "--Logging:LogLevel:Default", "Warning",
            ])
        {
            WorkingDirectory = packed.Of("Shop"),
        };
        using var shop = Process.Start(start)!;
        try
        {
            using var http = new HttpClient { BaseAddress = new Uri($"http://127.0.0.1:{ports[0]}") };
            await Ready(http, shop);
            using var answer = await http.PostAsJsonAsync("/v1/transactions", new
            {
                actor = new { type = "Counter", id = "c" }, method = "Add", input = 5,
            });
            var envelope = await answer.Content.ReadFromJsonAsync<JsonNode>();
            Assert.True((int?)envelope!["result"] == 5, envelope.ToJsonString());
            Assert.Equal("hello", await http.GetStringAsync("/hello"));
            Assert.True(Posix.Send(shop.Id, Posix.Terminate));
            await shop.WaitForExitAsync().WaitAsync(TimeSpan.FromSeconds(30));
            Assert.Equal(0, shop.ExitCode);
            Assert.True(Directory.Exists(packed.Of("Shop/.snapper/workers/w1")));
        }
        finally
        {
            if (!shop.HasExited) shop.Kill();
        }
    }

    /// <summary>What <c>dotnet new snapper-app</c> makes is built without a warning, and its tests pass.</summary>
    private async Task TemplateIsTested()
    {
        await packed.Dotnet("new", "install", packed.Of("feed/Snapper.Templates.0.1.0.nupkg"));
        await packed.Dotnet("new", "snapper-app", "-n", "my-store");
        Assert.Contains("appID: my-store", await File.ReadAllTextAsync(packed.Of("my-store/dapr.yaml")),
            StringComparison.Ordinal);
        await packed.Dotnet("new", "snapper-actor", "-n", "Cart", "-o", "my-store/my-store");
        await ContractsAreCompared();
        await packed.Dotnet(
            "test", "my-store/my-store.Tests", "-c", "Release", "--nologo",
            "-p:TreatWarningsAsErrors=true");
    }

    /// <summary>The package compares contracts with their baseline, and writes what a build accepts.</summary>
    private async Task ContractsAreCompared()
    {
        const string Baseline = "my-store/my-store/snapper.contracts.txt";
        var before = await File.ReadAllTextAsync(packed.Of(Baseline));
        string[] build = ["build", "my-store/my-store", "-c", "Release", "--nologo"];
        var said = await packed.Refused(build);
        Assert.Contains("SNAP302: 'Cart' differs from snapper.contracts.txt", said, StringComparison.Ordinal);
        Assert.DoesNotContain("'Counter", said, StringComparison.Ordinal);
        await packed.Dotnet([.. build, "-p:SnapperAcceptContracts=true"]);
        var after = await File.ReadAllTextAsync(packed.Of(Baseline));
        Assert.Contains("\nactor Cart\n", after, StringComparison.Ordinal);
        var counter = before[before.IndexOf("actor Counter", StringComparison.Ordinal)..];
        Assert.Contains(counter.Split("\n\n")[0], after, StringComparison.Ordinal);
    }

    /// <summary>The command line as a tool brings the server, the dashboard and the component files along.</summary>
    private async Task ToolStartsAWorker()
    {
        await packed.Dotnet(
            "tool", "install", PackedFeed.Tool, "--tool-path", packed.Of("tools"), "--configfile",
            packed.Of("nuget.config"));
        Assert.StartsWith("0.1.0", await Output("--version"), StringComparison.Ordinal);
        var free = Ports.Free(3);
        var ports = new[] { free[0] - 1, free[1], free[2] }
            .Select(static port => port.ToString(CultureInfo.InvariantCulture)).ToArray();
        var start = new ProcessStartInfo(
            packed.Of("tools/snapper"),
            [
                "up", "--embedded", "--data", packed.Of("data"), "--base-port", ports[0], "--sidecar-port", ports[1],
                "--dashboard-port", ports[2], "--actors", packed.Of("Shop/bin/Release/net10.0/Shop.dll"),
            ])
        {
            WorkingDirectory = packed.Folder, RedirectStandardOutput = true,
        };
        using var up = Process.Start(start)!;
        try
        {
            string? line;
            while ((line = await up.StandardOutput.ReadLineAsync().WaitAsync(TimeSpan.FromSeconds(60))) is not null)
            {
                if (line.StartsWith("ready ", StringComparison.Ordinal)) break;
            }

            Assert.NotNull(line);
            using var http = new HttpClient();
            using var answer = await http.PostAsJsonAsync($"http://127.0.0.1:{free[0]}/v1/transactions", new
            {
                actor = new { type = "Counter", id = "c" }, method = "Add", input = 7,
            });
            var envelope = await answer.Content.ReadFromJsonAsync<JsonNode>();
            Assert.True((int?)envelope!["result"] == 7, envelope.ToJsonString());
            Assert.Contains("<html", await http.GetStringAsync($"http://127.0.0.1:{ports[2]}/"),
                StringComparison.Ordinal);
            Assert.Contains("/components", await Output("doctor"), StringComparison.Ordinal);
            Assert.True(Posix.Send(up.Id, Posix.Terminate));
            await up.WaitForExitAsync().WaitAsync(TimeSpan.FromSeconds(30));
            Assert.Equal(0, up.ExitCode);
        }
        finally
        {
            if (!up.HasExited) up.Kill(entireProcessTree: true);
        }
    }

    private async Task<string> Output(params string[] arguments)
    {
        var start = new ProcessStartInfo(packed.Of("tools/snapper"), arguments)
        {
            WorkingDirectory = packed.Folder, RedirectStandardOutput = true,
        };
        using var tool = Process.Start(start)!;
        var output = await tool.StandardOutput.ReadToEndAsync().WaitAsync(TimeSpan.FromSeconds(60));
        await tool.WaitForExitAsync().WaitAsync(TimeSpan.FromSeconds(60));
        return output;
    }

    private static async Task Ready(HttpClient http, Process shop)
    {
        using var limit = new CancellationTokenSource(TimeSpan.FromSeconds(60));
        while (true)
        {
            Assert.False(shop.HasExited);
            try
            {
                using var answer = await http.GetAsync("/healthz", limit.Token);
                if (answer.IsSuccessStatusCode) return;
            }
            catch (HttpRequestException)
            {
                // It does not listen yet.
            }

            await Task.Delay(50, limit.Token);
        }
    }
}
