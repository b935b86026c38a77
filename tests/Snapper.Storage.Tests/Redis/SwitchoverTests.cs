using System.Globalization;
using Snapper.TransactionLog.Redis;
using Snapper.TransactionLog.Tests.Support;
using Snapper.TransactionLog.Writing;
using Xunit;

namespace Snapper.TransactionLog.Tests.Redis;

/// <summary>A replica that has everything takes the place of the primary: nothing is lost, and connections to the old primary live on.</summary>
[NeedsRedis]
public sealed class SwitchoverTests : IAsyncLifetime
{
    private static readonly CancellationToken None = CancellationToken.None;
    private readonly Observer _observer = new();
    private readonly List<IAsyncDisposable> _made = [];
    private RedisServer _old = null!;
    private RedisServer _new = null!;

    public async Task InitializeAsync()
    {
        if (RedisServer.FindExecutable() is not null)
        {
            _old = await RedisServer.Start("--repl-diskless-sync-delay", "0");
            _new = await RedisServer.Start("--replicaof", "127.0.0.1", Text(_old.Port));
        }
    }

    public async Task DisposeAsync()
    {
        foreach (var made in Enumerable.Reverse(_made))
        {
            await made.DisposeAsync();
        }

        await (_new?.DisposeAsync() ?? default);
        await (_old?.DisposeAsync() ?? default);
    }

    /// <summary>A read is answered behind a check of the epoch alone: one that an old primary gives says nothing of what the new one took since.</summary>
    [ServerTheory]
    [InlineData("it became a replica that hears of nothing")]
    [InlineData("it knows that it has no replica any more")]
    public async Task An_old_primary_that_takes_no_writes_lets_no_read_pass(string why)
    {
        var (log, opening) = await Opened(_old.Port);
        await using var writer = new LogWriter(log, opening, _observer, new LogWriterOptions { RetryDelayMax = TimeSpan.FromMilliseconds(20) }, TimeProvider.System);
        writer.Enqueue(Some.Batch(1, "a", 1));
        await writer.Drain(None).WaitAsync(TimeSpan.FromSeconds(20));
        await Promote();
        if (why[3] == 'b')
        {
            await _old.Command("REPLICAOF", "127.0.0.1", "1");
        }
        else
        {
            await _old.Command("CONFIG", "SET", "min-replicas-to-write", "1");
        }

        var (next, nextOpening) = await Opened(_new.Port);
        Assert.Equal(AppendStatus.Appended, (await next.Append(nextOpening.Epoch, 2, 1, Some.Encode(Some.Batch(2, "a", 2)), None)).Status);

        writer.EnqueueBarrier();
        await Some.Until(() => _observer.Heard.Count > 1, "the barrier to be answered");

        Assert.Equal(["flushed 1", "unavailable"], _observer.Heard);
    }

    /// <summary>The address leads to the new primary, for whoever connects anew. What the old one lacks is no loss: it is a replica that lags.</summary>
    [ServerFact]
    public async Task Who_is_connected_to_the_old_primary_goes_on_at_the_new_one()
    {
        await using var road = new TcpProxy(_old.Port);
        var (log, opening) = await Opened(road.Port);
        var store = new RedisStateStore(log, TimeProvider.System, new StateStoreOptions());
        _made.Add(store);
        await using var writer = new LogWriter(log, opening, _observer, new LogWriterOptions { RetryDelayMax = TimeSpan.FromMilliseconds(100) }, TimeProvider.System);
        writer.Enqueue(Some.Batch(1, "a", 1));
        await writer.Drain(None).WaitAsync(TimeSpan.FromSeconds(20));
        Assert.Null(await store.Load(Some.Actor("a"), None));
        await Promote();
        await _old.Command("REPLICAOF", "127.0.0.1", "1");
        road.LeadTo(_new.Port);

        writer.Enqueue(Some.Batch(2, "a", 2));
        await writer.Drain(None).WaitAsync(TimeSpan.FromSeconds(30));
        Assert.Contains("2-0", await _new.Command("XREVRANGE", "snapper:{w1}:log", "+", "-", "COUNT", "1"), StringComparison.Ordinal);

        // What reads goes over another connection, and was refused nothing.
        Assert.Equal(2, await Soon(() => LastRead(log), static last => last == 2));
        var change = new StateCheckpoint(Some.Actor("a"), 0, 2, [new("state", Some.Bytes("2"))]);
        var checkpointed = await Soon(() => store.Checkpoint(opening.Epoch, [change], None), static result => result.Status == AppendStatus.Appended);
        Assert.Equal(new AppendResult(AppendStatus.Appended), checkpointed);
    }

    /// <summary>It connected before; what the new primary took since then, the old one has not.</summary>
    [ServerFact]
    public async Task Who_starts_on_connections_to_the_old_primary_finds_all_at_the_new_one()
    {
        await using var road = new TcpProxy(_old.Port);
        var (log, opening) = await Opened(road.Port);
        Assert.Equal(AppendStatus.Appended, (await log.Append(opening.Epoch, 1, 1, Some.Encode(Some.Batch(1, "a", 1)), None)).Status);
        await Promote();
        await _old.Command("REPLICAOF", "127.0.0.1", "1");
        var (other, otherOpening) = await Opened(_new.Port);
        Assert.Equal(AppendStatus.Appended, (await other.Append(otherOpening.Epoch, 2, 1, Some.Encode(Some.Batch(2, "a", 2)), None)).Status);
        road.LeadTo(_new.Port);

        var next = await Soon(() => log.Open(None), static _ => true);
        Assert.Equal((3, 3), (next.Epoch, next.NextSequence));
        Assert.Equal(2, await Soon(() => LastRead(log), static last => last == 2));
    }

    private static async Task<long> LastRead(RedisTransactionLog log)
    {
        var last = 0L;
        await foreach (var group in log.Read(1, None))
        {
            last = group.FirstSequence;
        }

        return last;
    }

    /// <summary>Asks until it is so, while the server is away as well.</summary>
    private static async Task<T> Soon<T>(Func<Task<T>> ask, Func<T, bool> isSo)
    {
        for (var attempt = 0; ; attempt++)
        {
            try
            {
                var answer = await ask();
                if (isSo(answer) || attempt == 100)
                {
                    return answer;
                }
            }
            catch (Exception passing) when (attempt < 100 && StorageFaults.IsPassing(passing))
            {
                // It connects anew.
            }

            await Task.Delay(100);
        }
    }

    private static string Text(int number) => number.ToString(CultureInfo.InvariantCulture);

    private async Task Promote()
    {
        await Some.Until(() => _new.Command("HGET", "snapper:{w1}:meta", "next").Result.EndsWith("\r\n2\r\n", StringComparison.Ordinal), "the replica to have everything");
        await _new.Command("REPLICAOF", "NO", "ONE");
    }

    private async Task<(RedisTransactionLog Log, LogOpening Opening)> Opened(int port)
    {
        var connections = await RedisConnections.Connect(new RedisOptions { Port = port, CommandTimeout = TimeSpan.FromSeconds(2) });
        _made.Add(connections);
        var log = new RedisTransactionLog(connections, "w1");
        _made.Add(log);
        return (log, await log.Open(None));
    }
}
