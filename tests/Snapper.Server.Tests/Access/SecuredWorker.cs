using System.Net;
using System.Net.Sockets;
using System.Text;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting.Server;
using Microsoft.AspNetCore.Hosting.Server.Features;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Snapper.AspNetCore.Hosting;
using Snapper.Runtime.Door;
using Snapper.Security;
using Snapper.Server.Hosting;
using Snapper.Server.Tests.Api;
using Snapper.Server.Tests.Harness;

namespace Snapper.Server.Tests.Access;

/// <summary>The web application of a worker as the product puts it together, on a real Kestrel on a free loopback port, with a door that commits everything.</summary>
internal sealed class SecuredWorker : IAsyncDisposable
{
    public const string SidecarToken = "the-sidecars-token";

    private readonly TempFolder _data = new();
    private readonly Dictionary<Role, string> _tokens = [];

    public WebApplication App { get; private set; } = null!;

    public Uri Address { get; private set; } = null!;

    public HttpClient Client { get; private set; } = null!;

    public FakeTransactionService Door { get; } = new();

    public string AuditFile { get; private set; } = "";

    /// <summary>With a token for each role, named as the role, unless there shall be none.</summary>
    public static async Task<SecuredWorker> Start(
        bool tokens = true, string? appToken = SidecarToken, Dictionary<string, string?>? also = null,
        int metricsPort = 0)
    {
        var worker = new SecuredWorker();
        var settings = new WorkerSettings
        {
            Actors = ServerActors.Own,
            Name = "w1",
            ListenPort = 0,
            SidecarPort = 3500,
            SidecarKind = SidecarKind.Daprd,
            LogKind = LogKind.File,
            DataDirectory = worker._data.Path,
            Fsync = FsyncPolicy.Always,
            AppApiToken = appToken,
            MetricsPort = metricsPort,
        };
        worker.AuditFile = settings.AuditFile;
        var configuration = new Dictionary<string, string?>(also ?? []);
        for (var i = 0; tokens && i < Roles.OfTokens.Count; i++)
        {
            var token = worker._tokens[Roles.OfTokens[i]] = TokenHash.NewToken();
            configuration[$"Snapper:Security:Tokens:{i}:Name"] = Roles.OfTokens[i].Name();
            configuration[$"Snapper:Security:Tokens:{i}:Role"] = Roles.OfTokens[i].Name();
            configuration[$"Snapper:Security:Tokens:{i}:Sha256"] = TokenHash.Of(token);
        }

        var door = new AspNetCore.Api.LifecycleGate();
        door.Open(worker.Door);
        worker.App = WorkerWeb.Build(settings, door, new InspectionSwitch(settings), new MailboxEndpoint(null), builder => builder.AddInMemoryCollection(configuration));
        await worker.App.StartAsync();
        worker.Address = new Uri(worker.App.Services.GetRequiredService<IServer>().Features.Get<IServerAddressesFeature>()!.Addresses.First());
        worker.Client = new HttpClient(new SocketsHttpHandler { UseProxy = false, AllowAutoRedirect = false }) { BaseAddress = worker.Address, Timeout = TimeSpan.FromSeconds(60) };
        return worker;
    }

    public string TokenOf(Role role) => _tokens[role];

    /// <summary>Asks as a role. The answer's body may be endless: only its headers are waited for.</summary>
    public Task<HttpResponseMessage> Ask(Role role, string method, string path, string? body = null, params (string Name, string Value)[] headers)
    {
        var request = new HttpRequestMessage(new HttpMethod(method), new Uri(path, UriKind.Relative)) { Content = body is null ? null : new StringContent(body, Encoding.UTF8, "application/json") };
        if (role == Role.Sidecar) request.Headers.Add("dapr-api-token", SidecarToken);
        else if (role != Role.Nobody) request.Headers.TryAddWithoutValidation("Authorization", "Bearer " + _tokens[role]);
        foreach (var (name, value) in headers) request.Headers.TryAddWithoutValidation(name, value);
        return Client.SendAsync(request, HttpCompletionOption.ResponseHeadersRead);
    }

    public async Task<Answer> Read(Role role, string method, string path, string? body = null, params (string Name, string Value)[] headers)
    {
        using var response = await Ask(role, method, path, body, headers);
        return await Answer.Of(response);
    }

    /// <summary>Sends text as it is and reads the first line of the answer; empty: the connection was closed.</summary>
    public async Task<string> Raw(string text)
    {
        using var socket = new TcpClient();
        await socket.ConnectAsync(IPAddress.Loopback, Address.Port);
        var stream = socket.GetStream();
        try
        {
            await stream.WriteAsync(Encoding.Latin1.GetBytes(text));
        }
        catch (IOException)
        {
            // It has answered and closed before everything was sent.
        }

        using var reader = new StreamReader(stream, Encoding.Latin1);
        try
        {
            return await reader.ReadLineAsync().WaitAsync(TimeSpan.FromSeconds(60)) ?? "";
        }
        catch (IOException)
        {
            return "";
        }
    }

    public async ValueTask DisposeAsync()
    {
        Client.Dispose();
        await App.DisposeAsync();
        _data.Dispose();
    }
}
