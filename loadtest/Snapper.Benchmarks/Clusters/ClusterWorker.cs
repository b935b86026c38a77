using System.Globalization;
using Snapper.Apps.SmallBank;
using Snapper.Benchmarks.Systems;
using Snapper.Cluster;
using Snapper.Cluster.Control;
using Snapper.Cluster.Mailboxes;
using Snapper.Runtime.Door;
using Snapper.Runtime.Execution;
using Snapper.Runtime.Hosting;
using Snapper.Storage.Membership;
using Snapper.Storage.Redis;
using Snapper.Storage.States;

namespace Snapper.Benchmarks.Clusters;

/// <summary>One worker of several in this process, with connections, log and lease of its own, as in a process of its own.</summary>
public sealed class ClusterWorker : IAsyncDisposable
{
    private readonly RedisConnections _connections;
    private readonly RedisTransactionLog _log;
    private readonly RedisStateStore _store;
    private readonly List<(RedisTransactionLog Log, RedisStateStore Store)> _archives = [];
    private WorkerHost? _host;

    private ClusterWorker(int number, RedisConnections connections)
    {
        Number = number;
        _connections = connections;
        _log = new RedisTransactionLog(connections, Name);
        _store = new RedisStateStore(_log, TimeProvider.System, new StateStoreOptions());
    }

    /// <summary>1 for <c>w1</c>.</summary>
    public int Number { get; }

    /// <summary>As the directory calls it.</summary>
    public string Name => string.Create(CultureInfo.InvariantCulture, $"w{Number}");

    /// <summary>Takes any request.</summary>
    public ITransactionService Door => _host!.Door;

    /// <summary>Placement and migrations.</summary>
    public IClusterControl Control => _host!.Control!;

    /// <summary>Its mailboxes, from early in its start.</summary>
    public MailboxHub? Hub { get; private set; }

    /// <summary>Starts it.</summary>
    /// <param name="number">1 for <c>w1</c>.</param>
    /// <param name="first">How many divide an empty directory among them.</param>
    /// <param name="redis">For the logs and what all share.</param>
    /// <param name="road">To the others.</param>
    /// <param name="vigil">Hears when it is taken for dead.</param>
    /// <param name="known">Is given the worker before it starts, so that others can speak to it while they all start.</param>
    public static async Task<ClusterWorker> StartAsync(
        int number, int first, RedisServer redis, IMailboxTransport road, ClusterMonitor vigil, Action<ClusterWorker> known)
    {
        var worker = new ClusterWorker(number, await redis.ConnectAsync());
        known(worker);
        var options = new ClusterOptions();
        worker._host = await WorkerHost.Start(
            new WorkerSetup
            {
                Options = new WorkerOptions { Name = worker.Name, Number = number },
                ActorTypes = SnapperAppsSmallBankActors.All,
                Log = worker._log,
                Store = worker._store,
                Logger = vigil.LoggerOf(worker.Name),
                Failed = failure => vigil.Failed(worker.Name, failure),
                Cluster = new ClusterSetup
                {
                    OpenStore = self => new RedisClusterStore(worker._log, self, options, new StateStoreOptions(), TimeProvider.System),
                    ArchiveOf = worker.ArchiveOf,
                    Transport = road,
                    Opened = hub => worker.Hub = hub,
                    Address = new MemberAddress("bench", "", Environment.ProcessId, "bench"),
                    Options = options,
                    FirstWorkers = first,
                },
            },
            CancellationToken.None);
        return worker;
    }

    /// <inheritdoc />
    public async ValueTask DisposeAsync()
    {
        if (_host is not null)
        {
            await _host.DisposeAsync();
        }

        foreach (var (log, store) in _archives)
        {
            await store.DisposeAsync();
            await log.DisposeAsync();
        }

        await _store.DisposeAsync();
        await _log.DisposeAsync();
        await _connections.DisposeAsync();
    }

    private RedisStateStore ArchiveOf(int worker)
    {
        var log = new RedisTransactionLog(_connections, string.Create(CultureInfo.InvariantCulture, $"w{worker}"));
        var store = new RedisStateStore(log, TimeProvider.System, new StateStoreOptions());
        _archives.Add((log, store));
        return store;
    }
}
