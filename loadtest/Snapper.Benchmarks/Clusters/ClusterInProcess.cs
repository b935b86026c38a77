using System.Globalization;
using Snapper.Benchmarks.InProcess;
using Snapper.Benchmarks.Measurement;
using Snapper.Benchmarks.Systems;
using Snapper.Cluster;
using Snapper.Cluster.Mailboxes;
using Snapper.Protocol.Identity;
using Snapper.Runtime.Door;

namespace Snapper.Benchmarks.Clusters;

/// <summary>
/// Several real workers in this process on one real Redis, each with connections, log, lease and mailboxes of its own. Packets between them are handed over within the process:
/// the road through the sidecars is measured elsewhere.
/// </summary>
public sealed class ClusterInProcess : IAsyncDisposable
{
    private const int WorkersMax = 64;
    private static readonly TimeSpan StartDeadline = TimeSpan.FromSeconds(30);

    private readonly ClusterWorker?[] _workers = new ClusterWorker?[WorkersMax + 1];
    private readonly ActorKey[] _keys;
    private readonly int[] _owners;
    private readonly string _folder;
    private readonly Road _road;
    private RedisServer? _redis;
    private int _first;

    private ClusterInProcess(int accounts)
    {
        _keys = TransferRequests.Keys(accounts);
        _owners = new int[accounts];
        _folder = Directory.CreateTempSubdirectory("snapper-bench-").FullName;
        _road = new Road(_workers);
    }

    /// <summary>Watches that nobody is taken for dead.</summary>
    public ClusterMonitor Vigil { get; } = new();

    /// <summary>Redis; its CPU time counts besides this process's.</summary>
    public IReadOnlyList<MeasuredProcess> Processes => [new MeasuredProcess("redis", _redis!.Id)];

    /// <summary>Workers that run.</summary>
    public int Workers { get; private set; }

    /// <summary>The actors by number.</summary>
    public IReadOnlyList<ActorKey> Keys => _keys;

    /// <summary>The worker that owned an account when <see cref="LearnOwners"/> looked, or when <see cref="RunAsync"/> learned it last, 1 for <c>w1</c>.</summary>
    public int OwnerOf(int account) => Volatile.Read(ref _owners[account]);

    /// <summary>One of the workers, 1 for <c>w1</c>.</summary>
    public ClusterWorker this[int worker] =>
        _workers[worker] ?? throw new InvalidOperationException($"w{worker} does not run.");

    /// <summary>Settings that numbers depend on.</summary>
    public IReadOnlyDictionary<string, string> Facts => new Dictionary<string, string>
    {
        ["redis"] = RedisServer.Durability,
        ["between workers"] = "mailboxes, packets handed over in process",
    };

    /// <summary>Starts workers that divide all actors among them.</summary>
    public static async Task<ClusterInProcess> StartAsync(int workers, int accounts)
    {
        var cluster = new ClusterInProcess(accounts) { _first = workers };
        try
        {
            cluster._redis = await RedisServer.StartAsync(cluster._folder);
            await cluster.AddAsync(workers);
            cluster.LearnOwners();
            return cluster;
        }
        catch
        {
            await cluster.DisposeAsync();
            throw;
        }
    }

    /// <summary>Starts further workers, which own nothing at first.</summary>
    public async Task AddAsync(int more)
    {
        var starts = Enumerable.Range(Workers + 1, more)
            .Select(number => ClusterWorker.StartAsync(number, _first, _redis!, _road, Vigil, worker => _workers[number] = worker))
            .ToArray();
        await Task.WhenAll(starts).WaitAsync(StartDeadline);
        Workers += more;
    }

    /// <summary>Looks who owns what, as a client does that remembers where answers came from.</summary>
    /// <exception cref="InvalidOperationException">An account has no owner.</exception>
    public void LearnOwners()
    {
        var control = this[1].Control;
        for (var i = 0; i < _keys.Length; i++)
        {
            var owner = control.OwnerOf(_keys[i]) ?? throw new InvalidOperationException($"{_keys[i]} has no owner.");
            Volatile.Write(ref _owners[i], NumberOf(owner));
        }
    }

    /// <summary>Runs one transaction to its end, at the worker that owned its root; remembers which worker answered, as the client does.</summary>
    public async Task<TransactionEnd> RunAsync(TransactionKind kind, Transfer transfer)
    {
        var known = OwnerOf(transfer.Root);
        var envelope = await SubmitAsync(known, kind, transfer);
        if (envelope.Worker is { } owner && owner != this[known].Name)
        {
            Volatile.Write(ref _owners[transfer.Root], NumberOf(owner));
        }

        return TransferRequests.EndOf(envelope);
    }

    /// <summary>Runs one transaction to its end; the worker finds the way.</summary>
    public async Task<TransactionEnd> RunAtAsync(int worker, TransactionKind kind, Transfer transfer) => TransferRequests.EndOf(await SubmitAsync(worker, kind, transfer));

    /// <inheritdoc />
    public async ValueTask DisposeAsync()
    {
        await Task.WhenAll(_workers.Select(static worker => worker?.DisposeAsync().AsTask() ?? Task.CompletedTask));
        if (_redis is not null)
        {
            await _redis.DisposeAsync();
        }

        Directory.Delete(_folder, recursive: true);
    }

    private static int NumberOf(string worker) => int.Parse(worker.AsSpan(1), NumberStyles.None, CultureInfo.InvariantCulture);

    private Task<TransactionEnvelope> SubmitAsync(int worker, TransactionKind kind, Transfer transfer) =>
        this[worker].Door.Submit(TransferRequests.Of(_keys, kind, transfer), CancellationToken.None);

    private sealed class Road(ClusterWorker?[] workers) : IMailboxTransport
    {
        // Off the caller's thread, as every real road is; the packet is valid until the answer is there.
        public async Task<ReadOnlyMemory<byte>> Deliver(int worker, ReadOnlyMemory<byte> packet, CancellationToken cancellation)
        {
            await Task.Yield();
            return Volatile.Read(ref workers[worker])?.Hub?.Deliver(packet) ?? MailboxHub.NotReady;
        }
    }
}
