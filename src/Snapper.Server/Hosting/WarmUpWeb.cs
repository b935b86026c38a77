using System.Net.Http.Headers;
using System.Net.Sockets;
using System.Text.Json;
using System.Text.Json.Serialization;
using Snapper.AspNetCore.Api;
using Snapper.AspNetCore.Hosting;
using Snapper.Runtime.Door;
using Snapper.Runtime.Hosting;

namespace Snapper.Server.Hosting;

/// <summary>The HTTP API of a worker at a socket in the file system, and its caller.</summary>
internal sealed class WarmUpWeb : IAsyncDisposable
{
    private static readonly Uri s_transactions = new("http://warm-up/v1/transactions");
    private static readonly MediaTypeHeaderValue s_json = new("application/json");

    private static readonly JsonSerializerOptions s_withoutNulls =
        new() { DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull };

    private readonly WebApplication _app;
    private readonly HttpClient _client;

    private WarmUpWeb(string socketPath, WebApplication app)
    {
        _app = app;
        _client = new HttpClient(new SocketsHttpHandler
        {
            UseProxy = false,
            ConnectCallback = async (_, cancellation) =>
            {
                var socket = new Socket(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);
                try
                {
                    await socket.ConnectAsync(new UnixDomainSocketEndPoint(socketPath), cancellation);
                    return new NetworkStream(socket, ownsSocket: true);
                }
                catch
                {
                    socket.Dispose();
                    throw;
                }
            },
        });
    }

    public static async Task<WarmUpWeb> Start(WorkerHost worker, string socketPath, CancellationToken cancellation)
    {
        var options = new ApiOptions();
        var builder = WebApplication.CreateSlimBuilder();
        builder.Logging.ClearProviders();
        builder.WebHost.ConfigureKestrel(server =>
        {
            new ApiListener().ApplyLimits(server, options);
            server.Configure(); // in the place of the Kestrel section of the configuration, which could open addresses
            server.ListenUnixSocket(socketPath);
        });
        var app = builder.Build();
        SnapperApi.Map(app, worker.Door, worker.Inspection, options, static () => null);
        await app.StartAsync(cancellation);
        return new WarmUpWeb(socketPath, app);
    }

    /// <summary>Sends a transaction as a request of its own.</summary>
    /// <returns>Whether it committed.</returns>
    public async Task<bool> Send(TransactionRequest request, CancellationToken cancellation)
    {
        using var content = new ByteArrayContent(Body(request)) { Headers = { ContentType = s_json } };
        using var answer = await _client.PostAsync(s_transactions, content, cancellation);
        await answer.Content.CopyToAsync(Stream.Null, cancellation);
        return answer.IsSuccessStatusCode;
    }

    public async ValueTask DisposeAsync()
    {
        _client.Dispose();
        await _app.DisposeAsync();
    }

    /// <summary>All actors of a request are of one type.</summary>
    private static byte[] Body(TransactionRequest request) => JsonSerializer.SerializeToUtf8Bytes(
        new
        {
            actor = new { type = request.Actor.Type, id = request.Actor.Id },
            method = request.Method,
            input = JsonSerializer.Deserialize<JsonElement>(request.Input.Span),
            access = request.Access?.GroupBy(one => one.Actor.Type)
                .ToDictionary(ofType => ofType.Key, ofType => ofType.ToDictionary(one => one.Actor.Id, one => one.Calls)),
        },
        s_withoutNulls);
}
