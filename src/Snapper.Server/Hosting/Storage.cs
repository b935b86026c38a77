using Snapper.Server.Supervision;
using Snapper.TransactionLog;
using Snapper.TransactionLog.Files;
using Snapper.TransactionLog.Redis;

namespace Snapper.Server.Hosting;

/// <summary>The worker's log and state store: Redis, or files in its own folder.</summary>
internal sealed class Storage : IAsyncDisposable
{
    private readonly RedisConnections? _redis;
    private readonly Timer? _watch;
    private volatile string _durability;

    private Storage(ITransactionLog log, IStateStore store, RedisConnections? redis, string durability, string place)
    {
        Place = place;
        Log = log;
        Store = store;
        _redis = redis;
        _durability = durability;
        if (redis is not null)
        {
            _watch = new Timer(_ => _ = ReadDurability(), null, TimeSpan.Zero, TimeSpan.FromSeconds(30));
        }
    }

    /// <summary>Which log this is, for messages: a folder, or a stream in a Redis.</summary>
    public string Place { get; }

    public ITransactionLog Log { get; }

    public IStateStore Store { get; }

    /// <summary><c>always</c>, <c>everysec</c> or <c>none</c>, as the server itself says; read every 30 s.</summary>
    public string Durability => _durability;

    /// <summary>Prepares the storage; a Redis that does not answer yet is no error here.</summary>
    public static async Task<Storage> Open(WorkerSettings settings, TimeSpan idempotencyWindow, CancellationToken cancellation)
    {
        cancellation.ThrowIfCancellationRequested();
        var options = new StateStoreOptions { OutcomeWindow = idempotencyWindow };
        if (settings.LogKind == LogKind.File)
        {
            var files = new FileTransactionLog(settings.WorkerDirectory);
            return new Storage(files, new FileStateStore(files, TimeProvider.System, options), null, "always", $"log in folder {settings.WorkerDirectory}");
        }

        if (!HostAndPort.TryParse(settings.RedisAddress!, out var address))
        {
            throw new ArgumentException($"'{settings.RedisAddress}' is no HOST:PORT.");
        }

        var redis = await RedisConnections.Connect(new RedisOptions
        {
            Host = address.Host,
            Port = address.Port,
            User = Environment.GetEnvironmentVariable("SNAPPER_REDIS_USER"),
            Password = Environment.GetEnvironmentVariable("SNAPPER_REDIS_PASSWORD"),
        });
        var log = new RedisTransactionLog(redis, settings.Name);
        return new Storage(
            log, new RedisStateStore(log, TimeProvider.System, options), redis, settings.Fsync == FsyncPolicy.Always ? "always" : "everysec",
            $"log {log.StreamName} in Redis at {address}");
    }

    public async ValueTask DisposeAsync()
    {
        if (_watch is not null)
        {
            await _watch.DisposeAsync();
        }

        await Store.DisposeAsync();
        await Log.DisposeAsync();
        if (_redis is not null)
        {
            await _redis.DisposeAsync();
        }
    }

    private async Task ReadDurability()
    {
        try
        {
            _durability = (await RedisDurability.Read(_redis!, CancellationToken.None)).Policy switch
            {
                RedisFlushPolicy.Always => "always",
                RedisFlushPolicy.EverySecond => "everysec",
                _ => "none",
            };
        }
        catch (Exception exception) when (StorageFaults.IsPassing(exception))
        {
            // The last answer stands; the log's own health check tells that the server is away.
        }
    }
}
