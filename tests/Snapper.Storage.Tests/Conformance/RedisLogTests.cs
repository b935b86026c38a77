using Snapper.Storage.Log;
using Snapper.Storage.Redis;
using Snapper.Storage.States;
using Snapper.Storage.Tests.Support;
using Xunit;

namespace Snapper.Storage.Tests.Conformance;

/// <summary>One server for a class; tests keep apart by worker name and key prefix.</summary>
public sealed class RedisServerFixture : IAsyncLifetime
{
    public RedisServer Server { get; private set; } = null!;

    public async Task InitializeAsync()
    {
        if (RedisServer.FindExecutable() is not null || Environment.GetEnvironmentVariable("CI") == "true")
        {
            Server = await RedisServer.Start();
        }
    }

    public Task DisposeAsync() => Server is null ? Task.CompletedTask : Server.DisposeAsync().AsTask();
}

[NeedsRedis]
public sealed class RedisLogTests(RedisServerFixture fixture) : LogConformance, IClassFixture<RedisServerFixture>
{
    private readonly string _prefix = $"t{Guid.NewGuid():N}:";
    private RedisConnections _connections = null!;

    public override async Task InitializeAsync() =>
        _connections = await RedisConnections.Connect(new RedisOptions { Port = fixture.Server.Port, KeyPrefix = _prefix });

    public override async Task DisposeAsync() => await _connections.DisposeAsync();

    private protected override ITransactionLog NewLog() => new RedisTransactionLog(_connections, "w1");

    private protected override IStateStore NewStore(ITransactionLog log) => new RedisStateStore((RedisTransactionLog)log, Time, StoreOptions);
}
