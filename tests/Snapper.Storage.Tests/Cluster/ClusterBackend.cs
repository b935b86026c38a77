using System.Globalization;
using Snapper.Protocol.Identity;
using Snapper.Storage.Log;
using Snapper.Storage.Membership;
using Snapper.Storage.Memory;
using Snapper.Storage.Redis;
using Snapper.Storage.States;
using Snapper.Storage.Tests.Support;

namespace Snapper.Storage.Tests.Cluster;

/// <summary>A cluster's storage: where logs, states and the store of the cluster are, and its clock.</summary>
internal interface IClusterBackend : IAsyncDisposable
{
    ClusterOptions Options { get; }

    ITransactionLog NewLog(int worker);

    IStateStore NewStates(ITransactionLog log, int worker);

    IClusterStore NewStore(ITransactionLog log, Incarnation self);

    /// <summary>Lets time pass on the server.</summary>
    Task Pass(TimeSpan time);
}

internal sealed class MemoryBackend : IClusterBackend
{
    private readonly ManualTime _time = new();
    private readonly MemoryCluster _cluster;

    public MemoryBackend(ClusterOptions options)
    {
        Options = options;
        _cluster = new MemoryCluster(_time, options);
    }

    public ClusterOptions Options { get; }

    public ITransactionLog NewLog(int worker) => new MemoryTransactionLog(_cluster.Log(worker));

    public IStateStore NewStates(ITransactionLog log, int worker) => new MemoryStateStore(_cluster.Log(worker), _time, new StateStoreOptions());

    public IClusterStore NewStore(ITransactionLog log, Incarnation self) => _cluster.Open(self, new StateStoreOptions());

    public Task Pass(TimeSpan time)
    {
        _time.Advance(time);
        return Task.CompletedTask;
    }

    public ValueTask DisposeAsync() => ValueTask.CompletedTask;
}

internal sealed class RedisBackend(RedisServer server, RedisConnections connections, ClusterOptions options) : IClusterBackend
{
    // Everything that the server wrote down of its clock becomes older: the same as a clock that goes on, without the wait.
    private const string Age = """
        local C, by = ARGV[1] .. '{cluster}:', tonumber(ARGV[2])
        for _, w in ipairs(redis.call('ZRANGE', C .. 'leases', 0, -1)) do
          redis.call('ZINCRBY', C .. 'leases', -by, w)
        end
        for _, w in ipairs(redis.call('SMEMBERS', C .. 'members')) do
          redis.call('HINCRBY', C .. 'member:' .. w, 'since', -by)
        end
        local ends = tonumber(redis.call('HGET', C .. 'master', 'until') or '0')
        if ends > 0 then
          redis.call('HINCRBY', C .. 'master', 'until', -by)
        end
        return 'OK'
        """;

    public ClusterOptions Options => options;

    public string Prefix => connections.Options.KeyPrefix;

    public RedisServer Server => server;

    public static async Task<RedisBackend> Connect(RedisServer server, ClusterOptions options, RedisOptions? redis = null) =>
        new(server, await RedisConnections.Connect(redis ?? new RedisOptions { Port = server.Port, KeyPrefix = $"t{Guid.NewGuid():N}:" }), options);

    public ITransactionLog NewLog(int worker) => new RedisTransactionLog(connections, string.Create(CultureInfo.InvariantCulture, $"w{worker}"));

    public IStateStore NewStates(ITransactionLog log, int worker) => new RedisStateStore((RedisTransactionLog)log, TimeProvider.System, new StateStoreOptions());

    public IClusterStore NewStore(ITransactionLog log, Incarnation self) =>
        new RedisClusterStore((RedisTransactionLog)log, self, options, new StateStoreOptions(), TimeProvider.System);

    public async Task Pass(TimeSpan time)
    {
        var answer = await server.Command("EVAL", Age, "0", Prefix, time.TotalMilliseconds.ToString("0", CultureInfo.InvariantCulture));
        if (!answer.StartsWith("$2\r\nOK", StringComparison.Ordinal))
        {
            throw new InvalidOperationException($"The server's notes of time could not be changed: {answer}");
        }
    }

    public ValueTask DisposeAsync() => connections.DisposeAsync();
}
