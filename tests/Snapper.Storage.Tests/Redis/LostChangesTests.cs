using Snapper.Protocol.Identity;
using Snapper.Storage.Log;
using Snapper.Storage.Log.Records;
using Snapper.Storage.Redis;
using Snapper.Storage.States;
using Snapper.Storage.Tests.Support;
using Xunit;

namespace Snapper.Storage.Tests.Redis;

/// <summary>A server that lost checkpoints, trims or saved outcomes and nothing else: its log ends where the worker knows it to end.</summary>
[NeedsRedis]
public sealed class LostChangesTests : IAsyncLifetime
{
    private static readonly CancellationToken None = CancellationToken.None;
    private RedisServer _server = null!;
    private RedisConnections _connections = null!;
    private RedisTransactionLog _log = null!;
    private RedisStateStore _states = null!;

    private static readonly ReadOnlyMemory<byte> Group = Some.Encode(Some.Batch(1, []));

    private FileInfo Aof => new(Directory.GetFiles(Path.Combine(_server.Folder, "appendonlydir"), "*.incr.aof").Single());

    public async Task InitializeAsync()
    {
        if (RedisServer.FindExecutable() is not null)
        {
            _server = await RedisServer.Start();
            _connections = await RedisConnections.Connect(new RedisOptions { Port = _server.Port });
            _log = new RedisTransactionLog(_connections, "w1");
            _states = new RedisStateStore(_log, TimeProvider.System, new StateStoreOptions());
        }
    }

    public async Task DisposeAsync()
    {
        if (_server is not null)
        {
            await _states.DisposeAsync();
            await _log.DisposeAsync();
            await _connections.DisposeAsync();
            await _server.DisposeAsync();
        }
    }

    [ServerTheory]
    [InlineData("checkpoint")]
    [InlineData("trim")]
    [InlineData("outcomes")]
    public async Task A_loss_of_it_alone_is_noticed_by_appends_and_probes_and_the_next_opening_goes_on(string what)
    {
        var opening = await _log.Open(None);
        Assert.Equal(AppendStatus.Appended, (await _log.Append(opening.Epoch, 1, 1, Group, None)).Status);
        Assert.Equal(AppendStatus.Appended, (await Change(opening.Epoch, what)).Status); // not the first: a count that is gone is not a count that never was
        var length = Aof.Length;
        Assert.Equal(AppendStatus.Appended, (await Change(opening.Epoch, what)).Status);
        await Lose(length);

        var append = await _log.Append(opening.Epoch, 2, 1, Group, None);
        Assert.Equal(AppendStatus.Gap, append.Status);
        Assert.Contains("checkpoints, trims or saved outcomes: it counts 1 of them, this writer was told of 2", append.Detail, StringComparison.Ordinal);
        Assert.Equal(AppendStatus.Gap, (await _log.CheckEpoch(opening.Epoch, None)).Status);
        Assert.Equal(AppendStatus.Gap, (await Change(opening.Epoch, what)).Status);

        var again = await _log.Open(None);
        Assert.Equal((2L, 1L), (again.NextSequence, again.Losses));
        Assert.Equal(AppendStatus.Appended, (await _log.Append(again.Epoch, 2, 1, Group, None)).Status);
        Assert.Equal(AppendStatus.Appended, (await Change(again.Epoch, what)).Status);
    }

    [ServerFact]
    public async Task What_the_last_version_left_has_no_count_and_is_taken_as_it_is()
    {
        var first = await _log.Open(None);
        await Change(first.Epoch, "checkpoint");
        await _server.Command("HDEL", "snapper:{w1}:meta", "changes", "instance");
        var opening = await _log.Open(None);
        Assert.Equal(AppendStatus.Appended, (await _log.CheckEpoch(opening.Epoch, None)).Status);
        Assert.Equal(AppendStatus.Appended, (await Change(opening.Epoch, "checkpoint")).Status);
        Assert.Equal("$1\r\n1\r\n", await _server.Command("HGET", "snapper:{w1}:meta", "changes"));
    }

    [ServerFact]
    public async Task A_worker_alone_goes_on_over_a_restart_of_the_server_that_lost_nothing()
    {
        var opening = await _log.Open(None);
        await Change(opening.Epoch, "checkpoint");
        Assert.Equal(AppendStatus.Appended, (await _log.Append(opening.Epoch, 1, 1, Group, None)).Status);
        await _server.Kill();
        await _server.Restart();
        await _connections.State.WhenConnected(() => _connections.State.Execute(None, "PING"), None);
        await _connections.Log.WhenConnected(() => _connections.Log.Execute(None, "PING"), None);
        Assert.Equal(AppendStatus.Appended, (await _log.Append(opening.Epoch, 2, 1, Group, None)).Status);
        Assert.Equal(opening.Epoch + 1, (await _log.Open(None)).Epoch);
    }

    private Task<AppendResult> Change(long epoch, string what) => what switch
    {
        "checkpoint" => _states.Checkpoint(epoch, [new StateCheckpoint(new ActorKey("Box", "a"), 0, 5, [new StateField("state", "{}"u8.ToArray())])], None),
        "trim" => _log.Trim(epoch, 1, default, None),
        _ => _states.SaveOutcomes(epoch, [Some.Outcome("id", DateTimeOffset.UtcNow.ToUnixTimeMilliseconds())], None),
    };

    private async Task Lose(long length)
    {
        var file = Aof;
        await _server.Kill();
        using (var stream = file.Open(FileMode.Open))
        {
            Assert.True(stream.Length > length);
            stream.SetLength(length);
        }

        await _server.Restart();
        await _connections.State.WhenConnected(() => _connections.State.Execute(None, "PING"), None);
        await _connections.Log.WhenConnected(() => _connections.Log.Execute(None, "PING"), None);
    }
}
