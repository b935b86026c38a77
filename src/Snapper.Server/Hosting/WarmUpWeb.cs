using System.Net.Http.Headers;
using System.Net.Sockets;
using System.Text.Json;
using System.Text.Json.Serialization;
using Snapper.Cluster;
using Snapper.Runtime.Door;
using Snapper.Runtime.Hosting;
using Snapper.Server.Api;

namespace Snapper.Server.Hosting;

/// <summary>The HTTP API of a worker in memory, at a socket in a folder that this account alone can open, and who calls it.</summary>
internal sealed class WarmUpWeb : IAsyncDisposable
{
    private static readonly Uri s_transactions = new("http://warm-up/v1/transactions");
    private static readonly MediaTypeHeaderValue s_json = new("application/json");

    private static readonly JsonSerializerOptions s_withoutNulls =
        new() { DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull };

    private readonly DirectoryInfo _folder;
    private readonly WebApplication _app;
    private readonly HttpClient _client;

    private WarmUpWeb(DirectoryInfo folder, WebApplication app)
    {
        (_folder, _app) = (folder, app);
        _client = new HttpClient(new SocketsHttpHandler
        {
            UseProxy = false,
            ConnectCallback = async (_, cancellation) =>
            {
                var socket = new Socket(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);
                try
                {
                    await socket.ConnectAsync(new UnixDomainSocketEndPoint(PathIn(folder)), cancellation);
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

    /// <summary>Serves a worker.</summary>
    public static async Task<WarmUpWeb> Start(WorkerHost worker, CancellationToken cancellation)
    {
        var folder = Directory.CreateTempSubdirectory("snapper-warm-"); // 0700
        try
        {
            var options = new ApiOptions();
            var builder = WebApplication.CreateSlimBuilder();
            builder.Logging.ClearProviders();
            builder.WebHost.ConfigureKestrel(server =>
            {
                new ApiListener().ApplyLimits(server, options);
                server.Configure(); // in the place of the Kestrel section of the configuration, which could open addresses
                server.ListenUnixSocket(PathIn(folder));
            });
            var app = builder.Build();
            SnapperApi.Map(app, worker.Door, worker.Inspection, options, () => worker.Control);
            await app.StartAsync(cancellation);
            return new WarmUpWeb(folder, app);
        }
        catch
        {
            folder.Delete(recursive: true);
            throw;
        }
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

    /// <inheritdoc/>
    public async ValueTask DisposeAsync()
    {
        _client.Dispose();
        await _app.DisposeAsync();
        _folder.Delete(recursive: true);
    }

    private static string PathIn(DirectoryInfo folder) => Path.Combine(folder.FullName, "api");

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
