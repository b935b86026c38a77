using System.Net;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.Extensions.Logging;
using Snapper.AspNetCore.Api;
using Snapper.AspNetCore.Hosting;
using Snapper.Cluster.Mailboxes;
using Snapper.Protocol.Identity;
using Snapper.Server.Tests.Api;
using Snapper.Sidecar.Client;
using Snapper.Sidecar.Hosting;
using Snapper.Sidecar.Tests;

namespace Snapper.Server.Tests.Cluster;

/// <summary>What two workers need of each other: the actor types behind a real sidecar, and mailboxes of one life after the other.</summary>
internal sealed class MailboxWorker : IAsyncDisposable, IMailboxTransport
{
    private const string ApiToken = "for-the-sidecar";
    private const string AppToken = "for-the-app";

    private readonly int _number;
    private readonly WebApplication _web;
    private readonly MailboxEndpoint _door;
    private readonly int _port;
    private DaprFixture _sidecar = null!;
    private DaprSidecarClient _client = null!;
    private volatile SidecarMailboxTransport _transport = null!;

    /// <summary>What the workers show each other, through daprd.</summary>
    public static MailboxSeal Seal { get; } = MailboxSeal.From("the secret of the workers")!;

    private MailboxWorker(int number, WebApplication web, MailboxEndpoint door)
    {
        _number = number;
        _web = web;
        _door = door;
        _port = new Uri(web.Urls.Single()).Port;
    }

    public MailboxHub Hub { get; private set; } = null!;

    public DaprFixture Sidecar => _sidecar;

    public DaprSidecarClient Client => _client;

    public Uri Address => new($"http://127.0.0.1:{_port}");

    public static async Task<MailboxWorker> Start(int number, DaprFixture? placement)
    {
        var builder = WebApplication.CreateSlimBuilder();
        builder.Logging.ClearProviders();
        builder.WebHost.ConfigureKestrel(server => server.Listen(IPAddress.Loopback, 0));
        var web = builder.Build();
        var door = new MailboxEndpoint(Seal);
        var host = new SidecarActorHost($"w{number}", ["Account"], new FakeTransactionService(), new ApiOptions(), door);
        web.MapDaprActorHost(host, new DaprHostOptions { AppApiToken = AppToken });
        await web.StartAsync();
        var worker = new MailboxWorker(number, web, door);
        await worker.StartSidecar(placement);
        return worker;
    }

    /// <summary>A new life with mailboxes of its own; the one before ends.</summary>
    public void Live(long epoch, IMailboxOwner owner, MailboxOptions options)
    {
        var before = Hub;
        Hub = new MailboxHub(new Incarnation(_number, epoch), this, owner, options, TimeProvider.System);
        _door.Open(Hub);
        before?.Dispose();
    }

    /// <summary>Another sidecar, after the one before was killed. It has other ports.</summary>
    public async Task StartSidecar(DaprFixture? placement)
    {
        var options = new DaprFixtureOptions { AppPort = _port, AppId = $"w{_number}", DaprApiToken = ApiToken, AppApiToken = AppToken, Placement = placement };
        _sidecar = await DaprFixture.Start(options);
        _client?.Dispose();
        _client = new DaprSidecarClient(_sidecar.Endpoint, ApiToken);
        _transport = new SidecarMailboxTransport(_client, Seal);
        await _sidecar.WaitForActors();
    }

    public Task<ReadOnlyMemory<byte>> Deliver(int worker, ReadOnlyMemory<byte> packet, CancellationToken cancellation) =>
        _transport.Deliver(worker, packet, cancellation);

    public async ValueTask DisposeAsync()
    {
        Hub?.Dispose();
        await _sidecar.DisposeAsync();
        _client.Dispose();
        await _web.DisposeAsync();
    }
}
