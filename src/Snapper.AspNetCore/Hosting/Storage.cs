using Snapper.AspNetCore.Processes;
using Snapper.Contracts;
using Snapper.Protocol.Identity;
using Snapper.Storage;
using Snapper.Storage.Files;
using Snapper.Storage.Log;
using Snapper.Storage.Membership;
using Snapper.Storage.Redis;
using Snapper.Storage.Remembering;
using Snapper.Storage.States;
using StackExchange.Redis;

namespace Snapper.AspNetCore.Hosting;

/// <summary>The worker's log and state store: Redis, or files in its own folder; and what the worker remembers of the log outside of both.</summary>
internal sealed class Storage : IAsyncDisposable
{
    private static readonly TimeSpan RememberEvery = TimeSpan.FromSeconds(5);

    // Redis writes every second and stops taking commands when the disk is more than two behind; the rest is margin.
    private static readonly TimeSpan OnDiskWithin = TimeSpan.FromSeconds(10);

    private readonly DataLossGuard _log;
    private readonly RedisConnections? _redis;
    private readonly StateStoreOptions _states;
    private readonly RedisTransactionLog? _redisLog;
    private readonly List<(RedisTransactionLog Log, RedisStateStore Store)> _archives = [];
    private readonly ILogger _logger;
    private readonly CancellationTokenSource _stop = new();
    private FolderLock? _alone;
    private Task _remembering = Task.CompletedTask;
    private RedisFlushPolicy? _policy;
    private RedisDurability? _facts;
    private volatile string _durability;
    private bool _memoryFails;
    private bool _hasTooFewReplicas;

    private Storage(
        IIdentifiedLog log, Func<IStateStore> store, RedisConnections? redis, StateStoreOptions states, WorkerSettings settings, string place, string describes, ILogger logger)
    {
        _states = states;
        _redisLog = log as RedisTransactionLog;
        Place = describes;
        Store = store();
        _log = new DataLossGuard(
            log, new LogIdentityFile(settings.MemoryFile, place), describes, DurableAfter, TimeProvider.System,
            MemoryFailed) { Opened = () => LogOpened?.Invoke() };
        _redis = redis;
        _logger = logger;
        _durability = redis is null || settings.Fsync == FsyncPolicy.Always ? "always" : "everysec";
    }

    /// <summary>Which log this is, for messages: a folder, or a stream in a Redis.</summary>
    public string Place { get; }

    public ITransactionLog Log => _log;

    public IStateStore Store { get; }

    /// <summary>Hears that the log is open, before it is read.</summary>
    public Action? LogOpened { get; set; }

    /// <summary><c>always</c>, <c>everysec</c> or <c>none</c>, as the server itself says; read every 5 s.</summary>
    public string Durability => _durability;

    /// <summary>Prepares the storage; a Redis that does not answer yet is no error here.</summary>
    public static async Task<Storage> Open(
        WorkerSettings settings, LogReplicas replicas, TimeSpan idempotencyWindow, ILogger logger,
        CancellationToken cancellation)
    {
        cancellation.ThrowIfCancellationRequested();
        var options = new StateStoreOptions { OutcomeWindow = idempotencyWindow };
        if (settings.LogKind == LogKind.File)
        {
            var alone = await FolderLock.Take(
                settings.WorkerDirectory, pid => ServerLog.WaitsForFolder(logger, settings.WorkerDirectory, pid),
                cancellation);
            var files = new FileTransactionLog(settings.WorkerDirectory);
            return new Storage(
                files, () => new FileStateStore(files, TimeProvider.System, options), null, options, settings,
                settings.LogPlace ?? RememberedPlace.Files, $"log in folder {settings.WorkerDirectory}", logger)
            {
                _alone = alone,
            };
        }

        if (!HostAndPort.TryParse(settings.RedisAddress!, out var address))
        {
            throw new ArgumentException($"'{settings.RedisAddress}' is no HOST:PORT.");
        }

        var redisOptions = RedisLogin.At(address, settings.RedisLogin) with
        {
            Replicas = replicas.Replicas,
            ReplicaTimeout = replicas.ReplicaTimeout,
        };
        var redis = await RedisConnections.Connect(redisOptions);
        var log = new RedisTransactionLog(redis, settings.Name);
        return new Storage(
            log, () => new RedisStateStore(log, TimeProvider.System, options), redis, options, settings,
            RememberedPlace.OfRedis(settings.LogPlace ?? RememberedPlace.Named(address), redisOptions), $"log {log.StreamName} in Redis at {address}", logger);
    }

    /// <summary>Learns what the log's opening must know: how durable the server is, and that it does not delete the log.</summary>
    /// <exception cref="UsageException">It deletes keys without expiry when memory runs out.</exception>
    /// <exception cref="RedisException">It cannot be reached; also <see cref="TimeoutException"/>.</exception>
    public async Task Prepare(CancellationToken cancellation)
    {
        try
        {
            await ReadPolicy(cancellation);
        }
        catch (RedisServerException refusal)
        {
            // It does not tell (rights), or not yet (it loads): then it counts as one that writes every second.
            if (!refusal.Message.StartsWith("LOADING", StringComparison.Ordinal))
            {
                ServerLog.EvictionUnknown(_logger, Place, refusal.Message);
            }

            return;
        }

        if (_facts is { DeletesLastingKeys: true })
        {
            throw new UsageException(
                $"The {Place} has maxmemory-policy {_facts.MaxMemoryPolicy}: it would delete the log and states when memory runs out. Set 'maxmemory-policy noeviction' there.");
        }

        if (_facts is { DeletesLastingKeys: null })
        {
            ServerLog.EvictionUnknown(_logger, Place, "neither INFO nor CONFIG GET shows it");
        }
    }

    /// <summary>Memory of the Redis, as of the last look; null: the log is a file, or Redis does not tell.</summary>
    public RedisMemoryView? Memory => _facts is { UsedMemoryBytes: > 0 } facts ? new RedisMemoryView(facts.UsedMemoryBytes, Math.Max(0, facts.MaxMemoryBytes), Math.Max(0, facts.SystemMemoryBytes)) : null;

    /// <summary>Asks that Redis how full it is; null: the log is a file.</summary>
    public Func<CancellationToken, Task<StoreMemory>>? ReadMemory =>
        _redis is { } redis ? cancellation => RedisMemory.Read(redis, cancellation) : null;

    /// <summary>The worker is one of several: said before the log is opened.</summary>
    /// <exception cref="InvalidOperationException">The log is a file.</exception>
    public void JoinsOthers() => Shared().IsOneOfSeveral = true;

    /// <summary>Several workers have divided these actors among them: whoever runs on them is one of several.</summary>
    public Task<bool> IsDivided(CancellationToken cancellation) => _redis is null ? Task.FromResult(false) : RedisClusterStore.IsDivided(_redis, cancellation);

    /// <summary>Whether others own all actors, and live: nobody waits for this worker. Never with a file.</summary>
    public Task<bool> IsNeededByNobody(int worker, CancellationToken cancellation) => _redis is null ? Task.FromResult(false) : RedisClusterStore.IsNeededByNobody(_redis, worker, cancellation);

    /// <summary>What all workers share, for the life that opening the log has begun.</summary>
    /// <exception cref="InvalidOperationException">The log is a file.</exception>
    public IClusterStore OpenCluster(Incarnation self, ClusterOptions options) => new RedisClusterStore(Shared(), self, options, _states, TimeProvider.System);

    /// <summary>The states and outcomes of another worker, to look for outcomes in.</summary>
    public IStateStore ArchiveOf(int worker)
    {
        var log = new RedisTransactionLog(_redis ?? throw new InvalidOperationException("Several workers share a Redis; this log is a file."), Incarnation.NameOf(worker));
        var store = new RedisStateStore(log, TimeProvider.System, _states);
        _archives.Add((log, store));
        return store;
    }

    private RedisTransactionLog Shared() => _redisLog ?? throw new InvalidOperationException("Several workers share a Redis; this log is a file.");

    /// <summary>The log is open: from now on the worker remembers how far it went.</summary>
    public void StartRemembering() => _remembering = Task.Run(RememberAgainAndAgain);

    /// <summary>Writes down, by what is known of the server's durability, how far the log went. After a failure, and at the end.</summary>
    public void Remember()
    {
        try
        {
            _log.Remember();
            _memoryFails = false;
        }
        catch (Exception problem) when (problem is IOException or LostLogException)
        {
            MemoryFailed(problem);
        }
    }

    public async ValueTask DisposeAsync()
    {
        await _stop.CancelAsync();
        await _remembering;
        foreach (var (log, store) in _archives)
        {
            await store.DisposeAsync();
            await log.DisposeAsync();
        }

        await Store.DisposeAsync();
        await _log.DisposeAsync();
        _alone?.Dispose();
        if (_redis is not null)
        {
            await _redis.DisposeAsync();
        }

        _stop.Dispose();
    }

    private void MemoryFailed(Exception problem)
    {
        // A full disk must neither end the worker nor keep it from starting; what the file says is less than it could be, and true.
        if (!_memoryFails)
        {
            ServerLog.MemoryNotWritten(_logger, problem.Message);
        }

        _memoryFails = true;
    }

    private TimeSpan? DurableAfter() => _redis is null ? TimeSpan.Zero : _policy switch
    {
        RedisFlushPolicy.Always => TimeSpan.Zero,
        RedisFlushPolicy.None => null,
        _ => OnDiskWithin,
    };

    private async Task RememberAgainAndAgain()
    {
        using var timer = new PeriodicTimer(RememberEvery);
        try
        {
            while (await timer.WaitForNextTickAsync(_stop.Token))
            {
                try
                {
                    await ReadPolicy(_stop.Token);
                }
                catch (Exception exception) when (StorageFaults.IsPassing(exception))
                {
                    // The last answer stands; the log's own health check tells that the server is away.
                }

                Remember();
            }
        }
        catch (OperationCanceledException)
        {
            // The worker ends.
        }
    }

    /// <summary>Appends say the same, if there are any; this line has the number of those that are there.</summary>
    private void TellReplicas(int wanted, int found)
    {
        if (found < wanted)
        {
            if (!_hasTooFewReplicas) ServerLog.TooFewReplicas(_logger, wanted, Place, found);
            _hasTooFewReplicas = true;
        }
        else if (_hasTooFewReplicas)
        {
            ServerLog.EnoughReplicas(_logger, Place, found);
            _hasTooFewReplicas = false;
        }
    }

    private async Task ReadPolicy(CancellationToken cancellation)
    {
        if (_redis is null)
        {
            return;
        }

        _facts = await RedisDurability.Read(_redis, cancellation);
        TellReplicas(_redis.Options.Replicas, _facts.ConnectedReplicas);
        _policy = _facts.Policy;
        _durability = _policy switch
        {
            RedisFlushPolicy.Always => "always",
            RedisFlushPolicy.EverySecond => "everysec",
            _ => "none",
        };
    }
}
