using Snapper.Storage.Log;
using Snapper.Storage.Redis;
using Snapper.Storage.Remembering;
using Snapper.Storage.Tests.Support;
using Xunit;

namespace Snapper.Storage.Tests.Remembering;

/// <summary>A worker's memory of its log in a real Redis.</summary>
[NeedsRedis]
public sealed class RememberedRedisTests : IAsyncLifetime
{
    private readonly string _folder = Directory.CreateTempSubdirectory("snapper-memory-").FullName;
    private readonly List<IAsyncDisposable> _made = [];
    private RedisServer _server = null!;

    public async Task InitializeAsync() => _server = await RedisServer.Start();

    public async Task DisposeAsync()
    {
        foreach (var made in Enumerable.Reverse(_made))
        {
            await made.DisposeAsync();
        }

        await _server.DisposeAsync();
        Directory.Delete(_folder, recursive: true);
    }

    [ServerFact]
    public async Task A_restarted_server_with_its_data_is_the_same_log()
    {
        var first = await Remembered("w1");
        await WriteOne(first);
        await _server.Kill();
        await _server.Restart();
        var opening = await (await Remembered("w1")).Open(default);
        Assert.Equal((2, 2), (opening.Epoch, opening.NextSequence));
    }

    [ServerFact]
    public async Task A_server_that_was_emptied_is_refused_and_stays_empty()
    {
        await WriteOne(await Remembered("w1"));
        await _server.Command("FLUSHALL");
        var log = await Remembered("w1");
        for (var i = 0; i < 3; i++)
        {
            await Assert.ThrowsAsync<LostLogException>(() => log.Open(default));
        }

        Assert.Equal(":0\r\n", await _server.Command("DBSIZE"));
    }

    [ServerFact]
    public async Task A_log_made_anew_by_somebody_else_is_refused()
    {
        await WriteOne(await Remembered("w1"));
        await _server.Command("FLUSHALL");
        var other = new RedisTransactionLog(await Connect(), "w1");
        _made.Add(other);
        await other.Open(default);
        await Assert.ThrowsAsync<LostLogException>(async () => await (await Remembered("w1")).Open(default));
    }

    [ServerFact]
    public async Task Workers_of_one_server_have_memories_of_their_own()
    {
        await WriteOne(await Remembered("w1"));
        await WriteOne(await Remembered("w2"));
        await _server.Command("DEL", "snapper:{w2}:meta", "snapper:{w2}:log");
        await (await Remembered("w1")).Open(default);
        await Assert.ThrowsAsync<LostLogException>(async () => await (await Remembered("w2")).Open(default));
    }

    private static async Task WriteOne(DataLossGuard log)
    {
        var opening = await log.Open(default);
        var result = await log.Append(opening.Epoch, opening.NextSequence, 1, Some.Encode(Some.Batch(1, "a", 1)), default);
        Assert.Equal(AppendStatus.Appended, result.Status);
        log.Remember();
    }

    private async Task<RedisConnections> Connect()
    {
        var connections = await RedisConnections.Connect(new RedisOptions { Port = _server.Port });
        _made.Add(connections);
        return connections;
    }

    private async Task<DataLossGuard> Remembered(string worker)
    {
        var memory = new LogIdentityFile(Path.Combine(_folder, worker + ".json"), "redis");
        var log = new DataLossGuard(new RedisTransactionLog(await Connect(), worker), memory, "log of the test", () => TimeSpan.Zero, TimeProvider.System);
        _made.Add(log);
        return log;
    }
}
