using System.Net;
using System.Net.Sockets;
using System.Text;
using System.Text.Json;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Hosting.Server;
using Microsoft.AspNetCore.Hosting.Server.Features;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Snapper.AspNetCore.Api;
using Snapper.AspNetCore.Hosting;
using Snapper.Cluster.Control;
using Snapper.Runtime.Door;

namespace Snapper.Server.Tests.Api;

/// <summary>The HTTP surface on a real Kestrel, on a free loopback port, before fakes.</summary>
internal sealed class ApiHost : IAsyncDisposable
{
    private readonly WebApplication _app;

    private ApiHost(WebApplication app, Uri address, Uri? http2Address)
    {
        _app = app;
        Address = address;
        Http2Address = http2Address;
        Client = new HttpClient { BaseAddress = address, Timeout = TimeSpan.FromSeconds(30) };
    }

    public HttpClient Client { get; }

    public Uri Address { get; }

    public Uri? Http2Address { get; }

    public static async Task<ApiHost> Start(
        ITransactionService door, FakeInspection? inspection = null, ApiOptions? options = null, ApiListener? listener = null, bool http2 = false, IClusterControl? control = null)
    {
        options ??= new ApiOptions();
        var builder = WebApplication.CreateSlimBuilder();
        builder.Logging.ClearProviders();
        builder.WebHost.ConfigureKestrel(server =>
        {
            (listener ?? new ApiListener()).ApplyLimits(server, options);
            ApiListener.Listen(server, IPAddress.Loopback, 0);
            if (http2)
            {
                server.Listen(IPAddress.Loopback, 0, listen => listen.Protocols = HttpProtocols.Http2);
            }
        });
        var app = builder.Build();
        SnapperApi.Map(app, door, inspection ?? new FakeInspection(), options, () => control);
        await app.StartAsync();
        var addresses = app.Services.GetRequiredService<IServer>().Features.Get<IServerAddressesFeature>()!.Addresses.ToArray();
        return new ApiHost(app, new Uri(addresses[0]), http2 ? new Uri(addresses[1]) : null);
    }

    public Task<Answer> Post(string body) => Post(Encoding.UTF8.GetBytes(body));

    public async Task<Answer> Post(byte[] body)
    {
        using var content = new ByteArrayContent(body);
        content.Headers.ContentType = new("application/json");
        using var response = await Client.PostAsync(new Uri("/v1/transactions", UriKind.Relative), content);
        return await Answer.Of(response);
    }

    public async Task<Answer> Get(string path)
    {
        using var response = await Client.GetAsync(new Uri(path, UriKind.Relative));
        return await Answer.Of(response);
    }

    /// <summary>Sends bytes as they are and reads until the server closes.</summary>
    public async Task<string> Raw(params byte[][] pieces)
    {
        using var socket = new TcpClient();
        await socket.ConnectAsync(IPAddress.Loopback, Address.Port);
        var stream = socket.GetStream();
        var reading = new StreamReader(stream, Encoding.UTF8).ReadToEndAsync();
        try
        {
            foreach (var piece in pieces)
            {
                await stream.WriteAsync(piece);
            }
        }
        catch (IOException)
        {
            // The server may answer and close before it was sent everything; the answer is what counts.
        }

        return await reading.WaitAsync(TimeSpan.FromSeconds(30));
    }

    /// <summary>Stops as a worker does that is told to.</summary>
    public Task Stop() => _app.StopAsync();

    public async ValueTask DisposeAsync()
    {
        Client.Dispose();
        await _app.DisposeAsync();
    }
}

/// <summary>An answer with its body read.</summary>
internal sealed record Answer(int Status, string? MediaType, string? RetryAfter, string Text)
{
    public JsonElement Json => JsonDocument.Parse(Text).RootElement;

    public static async Task<Answer> Of(HttpResponseMessage response) => new(
        (int)response.StatusCode,
        response.Content.Headers.ContentType?.MediaType,
        response.Headers.RetryAfter?.ToString(),
        await response.Content.ReadAsStringAsync());

    public string String(string field) => Json.GetProperty(field).GetString()!;
}
