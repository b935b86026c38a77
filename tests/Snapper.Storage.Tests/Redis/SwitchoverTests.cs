using System.Globalization;
using System.Net.Sockets;
using System.Text.RegularExpressions;
using Snapper.Storage.Log;
using Snapper.Storage.Log.Writing;
using Snapper.Storage.States;
using Snapper.Storage.Redis;
using Snapper.Storage.Tests.Support;
using Xunit;

namespace Snapper.Storage.Tests.Redis;

/// <summary>
/// A replica that has everything takes the primary's place: nothing is lost, and connections to the old one live on.
/// </summary>
[NeedsRedis]
public sealed class SwitchoverTests : IAsyncLifetime
{
    private static readonly CancellationToken None = CancellationToken.None;
    private static readonly LogWriterOptions s_writing = new() { RetryDelayMax = TimeSpan.FromMilliseconds(100) };
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

    /// <summary>
    /// A read is answered behind a check of the epoch alone: one that an old primary gives says nothing of what the new
    /// one took since.
    /// </summary>
    [ServerTheory]
    [InlineData("it became a replica that hears of nothing")]
    [InlineData("it knows that it has no replica any more")]
    public async Task An_old_primary_that_takes_no_writes_lets_no_read_pass(string why)
    {
        var (log, opening) = await Opened(_old.Port);
        await using var writer = new LogWriter(log, opening, _observer, s_writing, TimeProvider.System);
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
        await Append(next, nextOpening, 2);

        writer.EnqueueBarrier();
        await Some.Until(() => _observer.Heard.Count > 1, "the barrier to be answered");

        Assert.Equal(["flushed 1", "unavailable"], _observer.Heard);
    }

    /// <summary>
    /// The address leads new connections to the new primary. What the old one lacks is no loss: it is a replica now.
    /// </summary>
    [ServerFact]
    public async Task Who_is_connected_to_the_old_primary_goes_on_at_the_new_one()
    {
        await using var road = new TcpProxy(_old.Port);
        var (log, opening) = await Opened(road.Port);
        var store = new RedisStateStore(log, TimeProvider.System, new StateStoreOptions());
        _made.Add(store);
        await using var writer = new LogWriter(log, opening, _observer, s_writing, TimeProvider.System);
        writer.Enqueue(Some.Batch(1, "a", 1));
        await writer.Drain(None).WaitAsync(TimeSpan.FromSeconds(20));
        Assert.Null(await store.Load(Some.Actor("a"), None));
        await Promote();
        await _old.Command("REPLICAOF", "127.0.0.1", "1");
        road.LeadTo(_new.Port);

        writer.Enqueue(Some.Batch(2, "a", 2));
        await writer.Drain(None).WaitAsync(TimeSpan.FromSeconds(30));
        var newest = await _new.Command("XREVRANGE", "snapper:{w1}:log", "+", "-", "COUNT", "1");
        Assert.Contains("2-0", newest, StringComparison.Ordinal);

        // What reads goes over another connection, and was refused nothing.
        Assert.Equal(2, await Soon(() => LastRead(log), static last => last == 2));
        var change = new StateCheckpoint(Some.Actor("a"), 0, 2, [new("state", Some.Bytes("2"))]);
        var checkpointed = await Soon(
            () => store.Checkpoint(opening.Epoch, [change], None),
            static result => result.Status == AppendStatus.Appended);
        Assert.Equal(new AppendResult(AppendStatus.Appended), checkpointed);
    }

    /// <summary>It connected before; what the new primary took since then, the old one has not.</summary>
    [ServerFact]
    public async Task Who_starts_on_connections_to_the_old_primary_finds_all_at_the_new_one()
    {
        await using var road = new TcpProxy(_old.Port);
        var (log, opening) = await Opened(road.Port);
        await Append(log, opening, 1);
        await Promote();
        await _old.Command("REPLICAOF", "127.0.0.1", "1");
        var (other, otherOpening) = await Opened(_new.Port);
        await Append(other, otherOpening, 2);
        road.LeadTo(_new.Port);

        var next = await Soon(() => log.Open(None), static _ => true);
        Assert.Equal((3, 3), (next.Epoch, next.NextSequence));
        Assert.Equal(2, await Soon(() => LastRead(log), static last => last == 2));
    }

    /// <summary>
    /// Appends have a connection of their own, which lives on at the new primary, while the one for reads is made anew
    /// when the address leads to the old one: what that does not have is no answer.
    /// </summary>
    [ServerFact]
    public async Task What_the_old_primary_lacks_is_not_read_from_it_by_who_appends_to_the_new_one()
    {
        await using var road = new TcpProxy(_old.Port);
        var (log, opening) = await Opened(road.Port);
        var store = new RedisStateStore(log, TimeProvider.System, new StateStoreOptions());
        _made.Add(store);
        await Append(log, opening, 1);
        await Promote();
        road.LeadTo(_new.Port);
        await _old.Command("CLIENT", "KILL", "TYPE", "normal");
        var group = Some.Encode(Some.Batch(2, "a", 2));
        var added = await Soon(() => log.Append(opening.Epoch, 2, 1, group, None), static _ => true);
        Assert.Equal(AppendStatus.Appended, added.Status);
        var change = new StateCheckpoint(Some.Actor("a"), 0, 2, [new("state", Some.Bytes("2"))]);
        var checkpointed = await Soon(() => store.Checkpoint(opening.Epoch, [change], None), static _ => true);
        Assert.Equal(AppendStatus.Appended, checkpointed.Status);
        var saved = await store.SaveOutcomes(opening.Epoch, [Some.Outcome("x")], None);
        Assert.Equal(AppendStatus.Appended, saved.Status);

        road.LeadTo(_old.Port);
        var reads = Regex.Match(await _new.Command("CLIENT", "LIST"), "id=([0-9]+) .* name=snapper-state ");
        await _new.Command("CLIENT", "KILL", "ID", reads.Groups[1].Value);
        await Some.Until(
            () => _old.Command("CLIENT", "LIST").Result.Contains(" name=snapper-state ", StringComparison.Ordinal),
            "the connection for reads to be made anew");
        await Assert.ThrowsAnyAsync<IOException>(() => store.Load(Some.Actor("a"), None));
        await Assert.ThrowsAnyAsync<IOException>(() => store.FindOutcome("x", None));
        await Assert.ThrowsAnyAsync<IOException>(() => LastRead(log));
        await Assert.ThrowsAnyAsync<IOException>(() => store.List(new ActorListQuery("Account", null, "", 10), None));
        await Append(log, opening, 3); // over the connection that has not been touched

        road.LeadTo(_new.Port);
        Assert.Equal(2, (await Soon(() => store.Load(Some.Actor("a"), None), static _ => true))!.Version);
        Assert.NotNull(await store.FindOutcome("x", None));
        Assert.Equal(3, await LastRead(log));
    }

    /// <summary>The connection may be made anew between any two of its commands.</summary>
    [ServerFact]
    public async Task Nothing_is_read_without_a_look_at_what_the_server_has()
    {
        var (log, opening) = await Opened(_old.Port);
        var store = new RedisStateStore(log, TimeProvider.System, new StateStoreOptions());
        _made.Add(store);
        await Append(log, opening, 1);
        var change = new StateCheckpoint(Some.Actor("a"), 0, 1, [new("state", Some.Bytes("1"))]);
        Assert.Equal(AppendStatus.Appended, (await store.Checkpoint(opening.Epoch, [change], None)).Status);

        using var monitor = new TcpClient("127.0.0.1", _old.Port);
        await monitor.GetStream().WriteAsync("MONITOR\r\n"u8.ToArray());
        using var seen = new StreamReader(monitor.GetStream());
        Assert.Equal("+OK", await seen.ReadLineAsync());
        Assert.Equal(1, await LastRead(log));
        Assert.NotNull(await store.Load(Some.Actor("a"), None));
        Assert.Null(await store.FindOutcome("x", None));
        var listed = await store.List(new ActorListQuery("Account", null, "", 10), None);
        Assert.Equal(new StoredActor("a", 1, true), Assert.Single(listed));
        await _old.Command("ECHO", "over");

        List<string> sent = [];
        while (await seen.ReadLineAsync() is { } line && !line.Contains("over", StringComparison.Ordinal))
        {
            if (!line.Contains(" lua]", StringComparison.Ordinal))
            {
                sent.Add(line);
            }
        }

        const string Allowed = "\"(EVAL|EVALSHA|PING|INFO|CLIENT|SELECT|CONFIG|CLUSTER|SENTINEL)\"";
        Assert.All(sent, line => Assert.Matches(Allowed, line.ToUpperInvariant()));
        Assert.Contains(sent, line => line.Contains("EVAL", StringComparison.OrdinalIgnoreCase));
    }

    private static async Task Append(RedisTransactionLog log, LogOpening opening, long sequence)
    {
        var group = Some.Encode(Some.Batch(sequence, "a", sequence));
        Assert.Equal(AppendStatus.Appended, (await log.Append(opening.Epoch, sequence, 1, group, None)).Status);
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
        string[] next = ["HGET", "snapper:{w1}:meta", "next"];
        await Some.Until(
            () => _new.Command(next).Result.EndsWith("\r\n2\r\n", StringComparison.Ordinal),
            "the replica to have everything");
        await _new.Command("REPLICAOF", "NO", "ONE");
    }

    private async Task<(RedisTransactionLog Log, LogOpening Opening)> Opened(int port)
    {
        var options = new RedisOptions { Port = port, CommandTimeout = TimeSpan.FromSeconds(2) };
        var connections = await RedisConnections.Connect(options);
        _made.Add(connections);
        var log = new RedisTransactionLog(connections, "w1");
        _made.Add(log);
        return (log, await log.Open(None));
    }
}
