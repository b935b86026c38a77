using System.Net;
using System.Net.Http.Json;
using System.Net.Sockets;
using System.Text.Json.Nodes;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Hosting.Server;
using Microsoft.AspNetCore.Hosting.Server.Features;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Snapper.Actors.Generated;
using Snapper.AspNetCore.Hosting;

namespace Snapper.AspNetCore.Tests;

/// <summary>A web application on Kestrel at a free port of loopback, with a worker and its embedded sidecar.</summary>
internal sealed class WebApp : IAsyncDisposable
{
    private WebApp(WebApplication application, int sidecarPort)
    {
        Application = application;
        Sidecar = new HttpClient { BaseAddress = new Uri($"http://127.0.0.1:{sidecarPort}") };
    }

    public WebApplication Application { get; }

    public HttpClient Client { get; private set; } = null!;

    public HttpClient Sidecar { get; }

    /// <summary>Starts one, and waits until the worker serves.</summary>
    public static async Task<WebApp> Start(
        string data, IReadOnlyList<ActorTypeDescriptor> actors, Action<WebApplicationBuilder>? build = null,
        Action<WebApplication>? map = null, Dictionary<string, string?>? settings = null, string? appToken = null)
    {
        var app = Create(data, actors, build, map, settings, appToken);
        await app.Run();
        await app.Served();
        return app;
    }

    /// <summary>One that has not started.</summary>
    public static WebApp Create(
        string data, IReadOnlyList<ActorTypeDescriptor> actors, Action<WebApplicationBuilder>? build = null,
        Action<WebApplication>? map = null, Dictionary<string, string?>? settings = null, string? appToken = null)
    {
        var builder = WebApplication.CreateBuilder();
        var sidecarPort = FreePort();
        builder.Configuration.AddInMemoryCollection(new Dictionary<string, string?>
        {
            ["Snapper:SidecarPort"] = $"{sidecarPort}",
            ["Snapper:DataDirectory"] = data,
            ["Snapper:Sidecar"] = "embedded",
        });
        builder.Configuration.AddInMemoryCollection(settings ?? []);
        builder.WebHost.UseUrls("http://127.0.0.1:0");
        builder.Logging.ClearProviders();
        builder.Services.AddSnapper(
            options => options.AddActors(actors), name => name == "APP_API_TOKEN" ? appToken : null);
        build?.Invoke(builder);
        var application = builder.Build();
        map ??= static app => app.MapSnapper();
        map(application);
        return new WebApp(application, sidecarPort);
    }

    public async Task Run()
    {
        await Application.StartAsync();
        var addresses = Application.Services.GetRequiredService<IServer>().Features.Get<IServerAddressesFeature>()!;
        Client = new HttpClient { BaseAddress = new Uri(addresses.Addresses.First()) };
    }

    /// <summary>Waits until the worker lets requests through.</summary>
    public async Task Served()
    {
        using var limit = new CancellationTokenSource(TimeSpan.FromSeconds(30));
        var parts = Application.Services.GetRequiredService<WorkerParts>();
        while (parts.Door.ClosedBecause is not null)
        {
            await Task.Delay(10, limit.Token);
        }
    }

    public async Task<JsonNode> Commit(string type, string id, string method, object? input)
    {
        using var answer = await Client.PostAsJsonAsync(
            "/v1/transactions", new { actor = new { type, id }, method, input });
        var envelope = (await answer.Content.ReadFromJsonAsync<JsonNode>())!;
        Assert.True((string?)envelope["outcome"] == "committed", envelope.ToJsonString());
        return envelope["result"]!;
    }

    public async ValueTask DisposeAsync()
    {
        await Application.StopAsync();
        await Application.DisposeAsync();
        Client?.Dispose();
        Sidecar.Dispose();
    }

    private static int FreePort()
    {
        using var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        return ((IPEndPoint)listener.LocalEndpoint).Port;
    }
}
