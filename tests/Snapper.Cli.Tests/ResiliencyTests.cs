using System.Net;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Logging;
using Snapper.AspNetCore.Hosting;
using Snapper.Cli.Supervision;
using Snapper.Server.Hosting;
using Snapper.Sidecar.Tests;
using Xunit;

namespace Snapper.Cli.Tests;

/// <summary>The sidecars of <c>up</c> repeat no call to any of its workers.</summary>
public sealed class ResiliencyTests : IDisposable
{
    private readonly TempFolder _temp = new();

    public void Dispose() => _temp.Dispose();

    [Fact]
    public void It_names_the_app_and_every_type_that_the_workers_register()
    {
        var yaml = Resiliency.Yaml("shop", 3, ServerActors.Own.Types);
        Assert.Contains("\"shop\":", yaml, StringComparison.Ordinal);
        foreach (var worker in (string[])["w1", "w2", "w3"])
        {
            foreach (var type in SidecarActorHost.TypesOf(worker, ServerActors.Own.Types))
            {
                Assert.Equal(2, yaml.Split($"      \"{type}\":\n        retry: never\n").Length);
            }
        }

        Assert.DoesNotContain("@w4", yaml, StringComparison.Ordinal);
    }

    [NeedsServersFact]
    public async Task Up_gives_it_to_its_sidecars_for_all_workers_that_may_join()
    {
        var ports = Ports.Free(4);
        await using var up = UpProcess.Start("up", _temp.Path, ports[0] - 1, ports[1], ["--workers", "2", "--app-id", "shop"]);
        var sidecar = (await up.Ready()).Workers[0].SidecarPid;
        var arguments = (await File.ReadAllTextAsync($"/proc/{sidecar}/cmdline")).Split('\0');
        var folder = arguments[Array.IndexOf(arguments, "--resources-path") + 1];
        var rule = await File.ReadAllTextAsync(Path.Combine(folder, Resiliency.FileName));
        Assert.Equal(Resiliency.Yaml("shop", 64, ServerActors.Own.Types), rule);
    }

    [DaprFact]
    public async Task A_sidecar_that_has_it_sends_a_call_to_a_worker_that_is_away_once()
    {
        var builder = WebApplication.CreateSlimBuilder();
        builder.Logging.ClearProviders();
        builder.WebHost.ConfigureKestrel(server => server.Listen(IPAddress.Loopback, 0));
        await using var web = builder.Build();
        web.MapGet("/dapr/config", context => context.Response.WriteAsync("""{"entities":["Account"]}"""));
        web.MapGet("/dapr/subscribe", context => context.Response.WriteAsync("[]"));
        await web.StartAsync();
        Directory.CreateDirectory(_temp.Path);
        var rule = Resiliency.Yaml(WorkerSettings.DefaultAppId, 7, ServerActors.Own.Types);
        await File.WriteAllTextAsync(_temp.File(Resiliency.FileName), rule);
        File.Copy(Path.Combine(Repository.Components()!, "statestore.yaml"), _temp.File("statestore.yaml"));
        await using var sidecar = await DaprFixture.Start(new DaprFixtureOptions { AppPort = new Uri(web.Urls.Single()).Port, Resources = _temp.Path });
        await sidecar.WaitForActors();
        using var http = new HttpClient { BaseAddress = sidecar.Endpoint };
        Task<HttpResponseMessage> Call(string type) => http.PutAsync(new Uri($"/v1.0/actors/{type}/a/method/m", UriKind.Relative), new StringContent("{}"));

        // Both are hosted nowhere. What is not named is tried for seconds.
        var unnamed = Call("Account@w8");
        var named = Call("Account@w7");
        Assert.Same(named, await Task.WhenAny(named, unnamed));
        Assert.Equal(HttpStatusCode.InternalServerError, (await named).StatusCode);
        await unnamed;
    }
}
