using System.Net.Http.Headers;
using System.Net.Sockets;
using System.Text.Json;
using Snapper.Runtime.Cluster;
using Snapper.Runtime.Door;
using Snapper.Runtime.Hosting;
using Snapper.Server.Api;

namespace Snapper.Server.Hosting;

/// <summary>The HTTP API of a worker in memory, at a socket in a folder that this account alone can open, and who calls it.</summary>
internal sealed class WarmUpWeb : IAsyncDisposable
{
    private static readonly Uri s_transactions = new("http://warm-up/v1/transactions");
    private static readonly MediaTypeHeaderValue s_json = new("application/json");

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

    private static byte[] Body(TransactionRequest request)
    {
        using var body = new MemoryStream();
        using (var json = new Utf8JsonWriter(body))
        {
            json.WriteStartObject();
            json.WriteStartObject("actor"u8);
            json.WriteString("type"u8, request.Actor.Type);
            json.WriteString("id"u8, request.Actor.Id);
            json.WriteEndObject();
            json.WriteString("method"u8, request.Method);
            json.WritePropertyName("input"u8);
            json.WriteRawValue(request.Input.Span);
            if (request.Access is { } access)
            {
                json.WriteStartObject("access"u8);
                json.WriteStartObject(request.Actor.Type); // all are of one type
                foreach (var declared in access)
                {
                    json.WriteNumber(declared.Actor.Id, declared.Calls);
                }

                json.WriteEndObject();
                json.WriteEndObject();
            }

            json.WriteEndObject();
        }

        return body.ToArray();
    }
}
