using System.Collections.Concurrent;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Snapper.Apps.SmallBank;
using Snapper.AspNetCore.Api;
using Snapper.AspNetCore.Hosting;
using Snapper.Cluster;
using Snapper.Cluster.Mailboxes;
using Snapper.Runtime.Execution;
using Snapper.Runtime.Hosting;
using Snapper.Storage.Membership;
using Snapper.Storage.Memory;
using Snapper.Storage.States;

namespace Snapper.Server.Tests.Cluster;

/// <summary>Real workers in this process, on memory logs, each behind its own HTTP API on a free loopback port.</summary>
internal sealed class WorkersOverHttp : IAsyncDisposable
{
    private static readonly ClusterOptions s_options = new() { Lease = TimeSpan.FromSeconds(1) };

    private readonly MemoryCluster _shared = new(TimeProvider.System, s_options);
    private readonly ConcurrentDictionary<int, MailboxHub> _hubs = new();
    private readonly Dictionary<int, (WorkerHost Worker, WebApplication Web)> _running = [];
    private readonly ConcurrentDictionary<int, int> _posts = new();

    public List<Uri> Addresses { get; } = [];

    public static async Task<WorkersOverHttp> Start(int workers)
    {
        var all = new WorkersOverHttp();
        var hosts = await Task.WhenAll(Enumerable.Range(1, workers).Select(number => all.StartWorker(number, workers))).WaitAsync(TimeSpan.FromSeconds(30));
        for (var number = 1; number <= workers; number++)
        {
            await all.Serve(number, hosts[number - 1]);
        }

        return all;
    }

    /// <summary>Requests with transactions that a worker's own address took.</summary>
    public int Posts(int worker) => _posts.GetValueOrDefault(worker);

    /// <summary>Number of the worker that owns an account, as one of them knows it.</summary>
    public int OwnerOf(string account) => int.Parse(
        _running.Values.First().Worker.Control!.OwnerOf(new Protocol.Identity.ActorKey("Account", account))![1..], System.Globalization.CultureInfo.InvariantCulture);

    /// <summary>A worker goes: nobody listens at its address any more.</summary>
    public async Task Stop(int worker)
    {
        if (_running.Remove(worker, out var parts))
        {
            _hubs.TryRemove(worker, out _);
            await parts.Web.DisposeAsync();
            await parts.Worker.DisposeAsync();
        }
    }

    public async ValueTask DisposeAsync()
    {
        foreach (var worker in _running.Keys.ToArray())
        {
            await Stop(worker);
        }
    }

    private Task<WorkerHost> StartWorker(int number, int all)
    {
        var storage = _shared.Log(number);
        return WorkerHost.Start(
            new WorkerSetup
            {
                Options = new WorkerOptions { Name = $"w{number}", Number = number, Executors = 1, DrainTimeout = TimeSpan.FromMilliseconds(200) },
                ActorTypes = SnapperAppsSmallBankActors.All,
                Log = new MemoryTransactionLog(storage),
                Store = new MemoryStateStore(storage, TimeProvider.System, new StateStoreOptions()),
                Cluster = new ClusterSetup
                {
                    OpenStore = self => _shared.Open(self, new StateStoreOptions()),
                    ArchiveOf = other => new MemoryStateStore(_shared.Log(other), TimeProvider.System, new StateStoreOptions()),
                    Transport = new Road(this),
                    Opened = hub => _hubs[number] = hub,
                    Address = new MemberAddress($"w{number}", "", Environment.ProcessId, "test"),
                    Options = s_options,
                    FirstWorkers = all,
                },
            },
            CancellationToken.None);
    }

    private async Task Serve(int number, WorkerHost worker)
    {
        var options = new ApiOptions();
        var builder = WebApplication.CreateSlimBuilder();
        builder.Logging.ClearProviders();
        builder.Services.Configure<Microsoft.Extensions.Hosting.HostOptions>(host => host.ShutdownTimeout = TimeSpan.FromMilliseconds(100));
        builder.WebHost.ConfigureKestrel(server => ApiListener.Listen(server, System.Net.IPAddress.Loopback, 0));
        var web = builder.Build();
        web.Use(async (context, next) =>
        {
            if (context.Request.Method == "POST" && context.Request.Path == "/v1/transactions")
            {
                _posts.AddOrUpdate(number, 1, static (_, posts) => posts + 1);
            }

            await next(context);
        });
        SnapperApi.Map(web, worker.Door, worker.Inspection, options, () => worker.Control);
        await web.StartAsync();
        _running.Add(number, (worker, web));
        Addresses.Add(new Uri(web.Urls.Single()));
    }

    private sealed class Road(WorkersOverHttp all) : IMailboxTransport
    {
        public async Task<ReadOnlyMemory<byte>> Deliver(int worker, ReadOnlyMemory<byte> packet, CancellationToken cancellation)
        {
            await Task.Yield();
            return all._hubs.TryGetValue(worker, out var hub) ? hub.Deliver(packet.ToArray()) : MailboxHub.NotReady;
        }
    }
}
