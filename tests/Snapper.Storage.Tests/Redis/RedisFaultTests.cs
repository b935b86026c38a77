using System.Globalization;
using Snapper.Protocol.Identity;
using Snapper.Storage.Log;
using Snapper.Storage.Log.Records;
using Snapper.Storage.Log.Writing;
using Snapper.Storage.Recovery;
using Snapper.Storage.Redis;
using Snapper.Storage.States;
using Snapper.Storage.Tests.Support;
using Xunit;

namespace Snapper.Storage.Tests.Redis;

/// <summary>A server of its own for each test, because each of them breaks it.</summary>
[NeedsRedis]
public sealed class RedisFaultTests : IAsyncLifetime
{
    private static readonly CancellationToken None = CancellationToken.None;
    private readonly Observer _observer = new();
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
    }

    [ServerFact]
    public async Task A_server_killed_under_load_and_started_again_has_everything_acknowledged()
    {
        var (log, opening) = await Opened();
        var writer = Writer(log, opening);
        long acknowledged = 0;
        for (var round = 0; round < 3; round++)
        {
            var flushed = _observer.LastFlushed;
            var enqueued = 0;
            while (_observer.LastFlushed < flushed + 200 || enqueued < 400)
            {
                writer.Enqueue(Some.Batch(writer.LastSequence + 1, "a", writer.LastSequence + 1));
                if (++enqueued % 10 == 0)
                {
                    await Task.Yield();
                }

                Assert.True(enqueued < 5_000_000, "no progress");
            }

            acknowledged = writer.DurableSequence;
            await _server.Kill();
            for (var i = 0; i < 50; i++)
            {
                writer.Enqueue(Some.Batch(writer.LastSequence + 1, "a", writer.LastSequence + 1));
            }

            await Some.Until(() => _observer.Heard[^1] == "unavailable", "the writer to hear of the outage");
            await _server.Restart();
            await writer.Drain(None).WaitAsync(TimeSpan.FromSeconds(30));
        }

        Assert.True(writer.DurableSequence >= acknowledged);
        Assert.Null(_observer.LostStatus);
        Assert.Equal(Enumerable.Range(1, (int)writer.LastSequence).Select(i => (long)i), (await Records(log)).Select(r => r.Sequence));
    }

    [ServerFact]
    public async Task An_append_whose_answer_was_lost_is_there_once()
    {
        await using var proxy = new TcpProxy(_server.Port);
        var (log, opening) = await Opened(proxy.Port);
        var writer = Writer(log, opening);
        writer.Enqueue(Some.Batch(1, "a", 1));
        await writer.Drain(None).WaitAsync(TimeSpan.FromSeconds(20));

        proxy.SwallowAnswers();
        writer.Enqueue(Some.Batch(2, "a", 2));
        writer.Enqueue(Some.Batch(3, "a", 3));
        await Some.Until(() => _observer.Heard.Contains("unavailable"), "the append to time out");
        Assert.Contains("2-0", await _server.Command("XREVRANGE", "snapper:{w1}:log", "+", "-", "COUNT", "1"), StringComparison.Ordinal);
        Assert.Equal(1, writer.DurableSequence);
        proxy.Heal();
        await writer.Drain(None).WaitAsync(TimeSpan.FromSeconds(30));

        Assert.Equal([1, 2, 3], (await Records(log)).Select(r => r.Sequence));
        Assert.Equal(["flushed 1", "unavailable", "available"], _observer.Heard.Take(3));
        Assert.Equal(3, _observer.LastFlushed);
    }

    [ServerFact]
    public async Task A_cut_connection_holds_appends_up_and_loses_none()
    {
        await using var proxy = new TcpProxy(_server.Port);
        var (log, opening) = await Opened(proxy.Port);
        var writer = Writer(log, opening);
        for (var round = 1; round <= 3; round++)
        {
            proxy.Cut();
            for (var i = 0; i < 100; i++)
            {
                writer.Enqueue(Some.Batch(writer.LastSequence + 1, "a", writer.LastSequence + 1));
            }

            await Some.Until(() => _observer.Heard.Count(h => h == "unavailable") == round, "the writer to hear of the cut");
            proxy.Heal();
            await writer.Drain(None).WaitAsync(TimeSpan.FromSeconds(30));
        }

        Assert.Equal(Enumerable.Range(1, 300).Select(i => (long)i), (await Records(log)).Select(r => r.Sequence));
        Assert.Equal(3, _observer.Heard.Count(h => h == "available"));
    }

    [ServerFact]
    public async Task A_stopped_server_gets_the_same_append_many_times_and_keeps_one()
    {
        var (log, opening) = await Opened();
        var counting = new FaultyLog(log);
        var writer = Writer(counting, opening);
        writer.Enqueue(Some.Batch(1, "a", 1));
        await writer.Drain(None).WaitAsync(TimeSpan.FromSeconds(20));
        _server.Pause();
        writer.Enqueue(Some.Batch(2, "a", 2));
        writer.Enqueue(Some.Batch(3, "a", 3));

        // Several tries are in the client's and the server's buffers then, and will all be executed.
        await Some.Until(() => counting.Appends.Count >= 4, "the append to be sent three times");
        _server.Continue();
        await writer.Drain(None).WaitAsync(TimeSpan.FromSeconds(30));

        Assert.Equal([1, 2, 3], (await Records(log)).Select(r => r.Sequence));
        Assert.Null(_observer.LostStatus);
    }

    [ServerFact]
    public async Task An_old_append_that_arrives_late_changes_nothing()
    {
        var (log, opening) = await Opened();
        await Append(log, opening, 1);
        await Append(log, opening, 2);

        Assert.Equal(AppendStatus.AlreadyThere, (await Append(log, opening, 1)).Status);
        await log.Trim(opening.Epoch, 3, default, None);
        Assert.Equal(AppendStatus.AlreadyThere, (await Append(log, opening, 2)).Status);
        Assert.Empty(await Entries(log));
        var (again, reopening) = await Opened();
        Assert.Equal(AppendStatus.Fenced, (await Append(log, opening, 3)).Status);
        Assert.Equal(3, reopening.NextSequence);
        Assert.Empty(await Entries(again));
    }

    [ServerFact]
    public async Task Scripts_that_the_server_forgot_are_sent_again()
    {
        var (log, opening) = await Opened();
        await Append(log, opening, 1);
        await _server.Command("SCRIPT", "FLUSH");

        Assert.Equal(AppendStatus.Appended, (await Append(log, opening, 2)).Status);
    }

    [ServerFact]
    public async Task A_server_without_memory_refuses_appends_until_it_has_some()
    {
        var (log, opening) = await Opened();
        var store = Store(log);
        await Append(log, opening, 1);
        await _server.Command("CONFIG", "SET", "maxmemory", "1");

        var refused = await Append(log, opening, 2);
        Assert.Equal(AppendStatus.Refused, refused.Status);
        Assert.Contains("OOM", refused.Detail, StringComparison.Ordinal);
        Assert.Single(await Entries(log));

        // What was done is not denied, and what frees memory works.
        Assert.Equal(AppendStatus.AlreadyThere, (await Append(log, opening, 1)).Status);
        Assert.Equal(AppendStatus.Appended, (await log.CheckEpoch(opening.Epoch, None)).Status);
        Assert.Equal(AppendStatus.Appended, (await store.Checkpoint(opening.Epoch, [new StateCheckpoint(Some.Actor("a"), 0, 1, [new("state", Some.Bytes("1"))])], None)).Status);
        Assert.Equal(AppendStatus.Appended, (await store.SaveOutcomes(opening.Epoch, [Some.Outcome("k", DateTimeOffset.UtcNow.ToUnixTimeMilliseconds())], None)).Status);
        Assert.Equal(AppendStatus.Appended, (await log.Trim(opening.Epoch, 2, new LogWatermarks(1, 1), None)).Status);
        var (again, reopening) = await Opened();
        Assert.Equal((2, 2, new LogWatermarks(1, 1)), (reopening.FirstSequence, reopening.NextSequence, reopening.Watermarks));

        var writer = Writer(again, reopening);
        for (var i = 2; i <= 20; i++)
        {
            writer.Enqueue(Some.Batch(i, "a", i));
        }

        await Some.Until(() => _observer.Heard.Contains("unavailable"), "the writer to be refused");
        Assert.Equal(1, writer.DurableSequence);
        await _server.Command("CONFIG", "SET", "maxmemory", "0");
        await writer.Drain(None).WaitAsync(TimeSpan.FromSeconds(20));

        Assert.Equal(Enumerable.Range(2, 19).Select(i => (long)i), (await Records(again, 2)).Select(r => r.Sequence));
        Assert.Equal(["unavailable", "available"], _observer.Heard.Where(h => !h.StartsWith("flushed", StringComparison.Ordinal)));
    }

    [ServerFact]
    public async Task A_server_that_became_a_replica_refuses_until_it_is_a_master_again()
    {
        var (log, opening) = await Opened();
        await Append(log, opening, 1);
        await _server.Command("REPLICAOF", "127.0.0.1", "1");
        var writer = Writer(log, opening with { NextSequence = 2 });
        writer.Enqueue(Some.Batch(2, "a", 2));
        await Some.Until(() => _observer.Heard.Contains("unavailable"), "the writer to be refused");

        await _server.Command("REPLICAOF", "NO", "ONE");
        await writer.Drain(None).WaitAsync(TimeSpan.FromSeconds(30));

        Assert.Equal([1, 2], (await Entries(log)).Select(g => g.FirstSequence));
    }

    [ServerFact]
    public async Task A_server_that_came_back_empty_has_lost_acknowledged_records()
    {
        var (log, opening) = await Opened();
        var writer = Writer(log, opening);
        writer.Enqueue(Some.Batch(1, "a", 1));
        await writer.Drain(None).WaitAsync(TimeSpan.FromSeconds(20));
        await _server.Kill();
        _server.Wipe();
        await _server.Restart();
        writer.Enqueue(Some.Batch(2, "a", 2));

        await Some.Until(() => _observer.LostStatus is not null, "the writer to hear of the loss");

        Assert.Equal(AppendStatus.Gap, _observer.LostStatus);
        Assert.Contains("the log lost acknowledged records", _observer.LostDetail, StringComparison.Ordinal);
        var (again, reopening) = await Opened();
        Assert.Equal((1, 1L), (reopening.NextSequence, again.Generation));
    }

    [ServerFact]
    public async Task A_barrier_alone_finds_that_records_were_lost()
    {
        var (log, opening) = await Opened();
        var writer = Writer(log, opening);
        writer.Enqueue(Some.Batch(1, "a", 1));
        await writer.Drain(None).WaitAsync(TimeSpan.FromSeconds(20));
        var copy = await Copy();
        writer.Enqueue(Some.Batch(2, "a", 2));
        await writer.Drain(None).WaitAsync(TimeSpan.FromSeconds(20));
        await _server.Kill();
        Restore(copy);
        await _server.Restart();

        writer.EnqueueBarrier();

        await Some.Until(() => _observer.LostStatus is not null, "the writer to hear of the loss");
        Assert.Equal(AppendStatus.Gap, _observer.LostStatus);
        Assert.Contains("the log lost acknowledged records", _observer.LostDetail, StringComparison.Ordinal);
        Assert.Contains("the next record is 2", _observer.LostDetail, StringComparison.Ordinal);
    }

    [ServerFact]
    public async Task Two_openings_with_the_same_epoch_after_a_loss_are_told_apart()
    {
        var (log, opening) = await Opened();
        await _server.Kill();
        _server.Wipe();
        await _server.Restart();
        var (other, otherOpening) = await OpenedSoon();
        Assert.Equal(opening.Epoch, otherOpening.Epoch);

        Assert.Equal(AppendStatus.Appended, (await Append(other, otherOpening, 1)).Status);
        var result = await Soon(() => Append(log, opening, 1));

        Assert.Equal(AppendStatus.Fenced, result.Status);
        Assert.Equal(AppendStatus.Fenced, (await Soon(() => Store(log).Checkpoint(opening.Epoch, [], None))).Status);
    }

    [ServerFact]
    public async Task A_stream_that_does_not_fit_its_hash_is_corrupt()
    {
        var (log, opening) = await Opened();
        await Append(log, opening, 1);
        await Append(log, opening, 2);
        await _server.Command("XDEL", "snapper:{w1}:log", "2-0");

        var error = await Assert.ThrowsAsync<CorruptLogException>(() => log.Open(None));

        Assert.Contains("ends before record 2, but its hash says that record 3 is next", error.Message, StringComparison.Ordinal);
    }

    [ServerFact]
    public async Task A_missing_entry_in_the_middle_is_told_by_recovery()
    {
        var (log, opening) = await Opened();
        await Append(log, opening, 1);
        await Append(log, opening, 2);
        await Append(log, opening, 3);
        await _server.Command("XDEL", "snapper:{w1}:log", "2-0");
        var (again, reopening) = await Opened();

        var error = await Assert.ThrowsAsync<CorruptLogException>(() => LogRecovery.Run(again, Store(again), reopening, new NoSink(), TimeProvider.System, None));

        Assert.Contains("record 3 where record 2 should follow", error.Message, StringComparison.Ordinal);
    }

    [ServerFact]
    public async Task A_state_can_be_read_with_redis_cli()
    {
        var (log, opening) = await Opened();
        await Store(log).Checkpoint(opening.Epoch, [new StateCheckpoint(new ActorKey("Acc/ount", "al/ice"), 0, 3, [new("state", Some.Bytes("""{"balance":10}"""))])], None);

        Assert.Contains("""{"balance":10}""", await _server.Command("HGET", "snapper:{state}:Acc%2Fount/al/ice", "state"), StringComparison.Ordinal);
        Assert.Equal("$1\r\n3\r\n", await _server.Command("HGET", "snapper:{state}:Acc%2Fount/al/ice", "version"));
    }

    [ServerFact]
    public async Task Few_wait_for_a_list_of_actors_and_more_are_refused()
    {
        var (log, opening) = await Opened();
        var store = Store(log);
        await store.Checkpoint(opening.Epoch, [new StateCheckpoint(new ActorKey("T", "a"), 0, 3, [new("state", Some.Bytes("1"))])], None);
        using var begun = new SemaphoreSlim(0);
        using var goOn = new ManualResetEventSlim();
        var held = Task.Run(() => store.List(new ActorListQuery("T", null, "", 10, _ =>
        {
            begun.Release();
            goOn.Wait();
            return true;
        }), None));
        await begun.WaitAsync();
        try
        {
            var waiting = Enumerable.Range(0, RedisActorListing.WaitingMax).Select(_ => store.List(new ActorListQuery("T", null, "", 10), None)).ToArray();
            var busy = await Assert.ThrowsAsync<ListingBusyException>(() => store.List(new ActorListQuery("T", null, "", 10), None));
            Assert.Contains("8 others wait", busy.Message, StringComparison.Ordinal);
            goOn.Set();
            foreach (var page in waiting) Assert.Equal("a", Assert.Single(await page).Id);
            Assert.Single(await held);
        }
        finally
        {
            goOn.Set();
        }

        Assert.Single(await store.List(new ActorListQuery("T", null, "", 10), None));
    }

    /// <summary>A clock of the server that is put forward drops nothing; what is dropped leaves no key behind but the count.</summary>
    [ServerFact]
    public async Task Copied_outcomes_have_no_expiry_and_are_gone_when_they_are_dropped()
    {
        var (log, opening) = await Opened();
        var time = new ManualTime();
        await using var store = new RedisStateStore(log, time, new StateStoreOptions());
        await store.SaveOutcomes(opening.Epoch, [Some.Outcome("k", 0)], None);
        Assert.Equal(":-1", (await _server.Command("PTTL", "snapper:{w1}:copied:0")).Trim());

        time.Advance(TimeSpan.FromMinutes(17));
        Assert.Equal(AppendStatus.Appended, (await store.DropOutcomes(opening.Epoch, None)).Status);
        Assert.Equal(":0", (await _server.Command("EXISTS", "snapper:{w1}:copied:0")).Trim());
        Assert.Equal(":1", (await _server.Command("HLEN", "snapper:{w1}:copied")).Trim());
    }

    /// <summary>Earlier versions had a hash per minute of the requests' wall clock, which expires.</summary>
    [ServerFact]
    public async Task Outcomes_that_an_earlier_version_has_copied_are_found()
    {
        var (log, opening) = await Opened();
        var now = DateTimeOffset.UtcNow.ToUnixTimeMilliseconds();
        await Store(log).SaveOutcomes(opening.Epoch, [Some.Outcome("k", now)], None);
        await _server.Command("RENAME", "snapper:{w1}:copied:0", string.Create(CultureInfo.InvariantCulture, $"snapper:{{w1}}:outcomes:{(now / 60_000) - 9}"));
        await _server.Command("DEL", "snapper:{w1}:copied");

        Assert.NotNull(await Store(log).FindOutcome("k", None));
        Assert.True((await Store(log).Look(None)).HoldsAny); // a rescuer of that version may have copied it at any time
    }

    [ServerFact]
    public async Task The_server_says_how_durable_it_is()
    {
        var connections = await Connect();
        var always = await RedisDurability.Read(connections, None);
        Assert.Equal((RedisFlushPolicy.Always, true), (always.Policy, always.IsPolicyCertain));
        Assert.Equal((40, true, true), (always.RunId.Length, always.ProcessId > 0, always.UsedMemoryBytes > 0));
        Assert.True(always.SystemMemoryBytes > always.UsedMemoryBytes, $"{always.SystemMemoryBytes} bytes");
        Assert.Equal((0L, "noeviction"), (always.MaxMemoryBytes, always.MaxMemoryPolicy));

        await _server.Command("CONFIG", "SET", "no-appendfsync-on-rewrite", "yes");
        var pausing = await RedisDurability.Read(connections, None);
        Assert.Equal((RedisFlushPolicy.None, true), (pausing.Policy, pausing.IsPausedByRewrite));
        await _server.Command("CONFIG", "SET", "no-appendfsync-on-rewrite", "no");

        await _server.Command("CONFIG", "SET", "appendfsync", "everysec", "maxmemory", "100mb");
        var everySecond = await RedisDurability.Read(connections, None);
        Assert.Equal((RedisFlushPolicy.EverySecond, 100L * 1024 * 1024), (everySecond.Policy, everySecond.MaxMemoryBytes));
        await _server.Command("CONFIG", "SET", "appendfsync", "no");
        Assert.Equal(RedisFlushPolicy.None, (await RedisDurability.Read(connections, None)).Policy);
        await _server.Command("ACL", "SETUSER", "default", "-config");
        var hidden = await RedisDurability.Read(connections, None);
        Assert.Equal((RedisFlushPolicy.EverySecond, false), (hidden.Policy, hidden.IsPolicyCertain));
    }

    [ServerFact]
    public async Task A_server_that_is_away_at_the_start_is_waited_for()
    {
        await _server.Kill();
        var log = new RedisTransactionLog(await Connect(), "w1");
        await Assert.ThrowsAnyAsync<Exception>(() => log.Open(None));
        await _server.Restart();

        Assert.Equal(1, (await Soon(() => log.Open(None))).NextSequence);
    }

    [ServerFact]
    public async Task A_password_is_sent_and_never_shown()
    {
        await _server.Command("CONFIG", "SET", "requirepass", "s3cret");
        var options = new RedisOptions { Port = _server.Port, Password = "s3cret" };
        await using var connections = await RedisConnections.Connect(options);

        Assert.Equal(1, (await new RedisTransactionLog(connections, "w1").Open(None)).NextSequence);
        Assert.DoesNotContain("s3cret", options.ToString(), StringComparison.Ordinal);
    }

    [ServerFact]
    public async Task Appends_sign_in_and_without_a_password_nothing_is_done()
    {
        await _server.Command("CONFIG", "SET", "requirepass", "s3cret");
        await using var connections = await RedisConnections.Connect(new RedisOptions { Port = _server.Port, Password = "s3cret" });
        await using var log = new RedisTransactionLog(connections, "w1");
        var opening = await log.Open(None);

        Assert.Equal(AppendStatus.Appended, (await Append(log, opening, 1)).Status);
        Assert.Equal(AppendStatus.Appended, (await log.CheckEpoch(opening.Epoch, None)).Status);

        await using var strangers = await RedisConnections.Connect(new RedisOptions { Port = _server.Port });
        await using var stranger = new RedisTransactionLog(strangers, "w1");
        var refused = await stranger.CheckEpoch(opening.Epoch, None);
        Assert.Equal(AppendStatus.Refused, refused.Status);
        Assert.Contains("NOAUTH", refused.Detail, StringComparison.Ordinal);

        // A longer command is cut off before it is read; what that means is for the next try to find out.
        var unknown = await Assert.ThrowsAsync<InvalidOperationException>(() => Append(stranger, opening, 2));
        Assert.Contains("unauthenticated", unknown.Message, StringComparison.Ordinal);
    }

    [ServerFact]
    public async Task The_first_append_after_a_restart_while_idle_is_done_at_once()
    {
        var (log, opening) = await Opened();
        await Append(log, opening, 1);
        await _server.Kill();
        await _server.Restart();

        Assert.Equal(AppendStatus.Appended, (await Append(log, opening, 2)).Status);
    }

    /// <summary>A command that waited in this process could run after its caller has gone on without it.</summary>
    [ServerFact]
    public async Task A_command_that_meets_an_outage_fails_at_once_and_is_not_run_afterwards()
    {
        await using var proxy = new TcpProxy(_server.Port);
        var (log, opening) = await Opened(proxy.Port);
        var store = Store(log);
        var change = new StateCheckpoint(Some.Actor("a"), 0, 1, [new("state", Some.Bytes("1"))]);
        Task<AppendResult> Checkpoint() => store.Checkpoint(opening.Epoch, [change], None);
        Assert.Null(await store.Load(Some.Actor("a"), None));

        proxy.Cut();
        var watch = System.Diagnostics.Stopwatch.StartNew();
        for (var i = 0; i < 5; i++)
        {
            var away = await Assert.ThrowsAnyAsync<Exception>(Checkpoint);
            Assert.True(StorageFaults.IsPassing(away), away.ToString());
        }

        Assert.True(watch.Elapsed < TimeSpan.FromSeconds(1), "commands waited for the server");
        proxy.Heal();
        watch.Restart();
        Assert.Null(await Soon(() => store.Load(Some.Actor("a"), None)));
        Assert.True(watch.Elapsed < TimeSpan.FromSeconds(4), "the server was looked for too seldom");
        Assert.Equal("$-1", (await _server.Command("HGET", "snapper:{w1}:meta", "changes")).Trim());
        Assert.Equal(AppendStatus.Appended, (await Checkpoint()).Status);
    }

    [ServerFact]
    public async Task States_are_refused_by_a_replica_and_written_when_it_is_a_master_again()
    {
        var (log, opening) = await Opened();
        var store = Store(log);
        var change = new StateCheckpoint(Some.Actor("a"), 0, 1, [new("state", Some.Bytes("1"))]);
        Task<AppendResult> Checkpoint() => store.Checkpoint(opening.Epoch, [change], None);
        await _server.Command("REPLICAOF", "127.0.0.1", "1");
        Assert.Equal(AppendStatus.Refused, (await Checkpoint()).Status);

        // The client library takes note of the role when it connects.
        await _server.Command("CLIENT", "KILL", "TYPE", "normal");
        Assert.Equal(AppendStatus.Refused, (await Soon(Checkpoint)).Status);

        await _server.Command("REPLICAOF", "NO", "ONE");
        Assert.Equal(AppendStatus.Appended, (await Checkpoint()).Status);
    }

    private async Task<RedisConnections> Connect(int? port = null)
    {
        var connections = await RedisConnections.Connect(new RedisOptions { Port = port ?? _server.Port, CommandTimeout = TimeSpan.FromMilliseconds(1500) });
        _made.Add(connections);
        return connections;
    }

    private async Task<(RedisTransactionLog Log, LogOpening Opening)> Opened(int? port = null)
    {
        var log = new RedisTransactionLog(await Connect(port), "w1");
        return (log, await log.Open(None));
    }

    private async Task<(RedisTransactionLog Log, LogOpening Opening)> OpenedSoon()
    {
        var log = new RedisTransactionLog(await Connect(), "w1");
        return (log, await Soon(() => log.Open(None)));
    }

    private LogWriter Writer(ITransactionLog log, LogOpening opening)
    {
        var writer = new LogWriter(log, opening, _observer, new LogWriterOptions(), TimeProvider.System);
        _made.Add(writer);
        return writer;
    }

    private static RedisStateStore Store(RedisTransactionLog log) => new(log, TimeProvider.System, new StateStoreOptions());

    /// <summary>Tries until the client has connected again.</summary>
    private static async Task<T> Soon<T>(Func<Task<T>> call)
    {
        var deadline = System.Diagnostics.Stopwatch.StartNew();
        while (true)
        {
            try
            {
                return await call();
            }
            catch (Exception error) when (error is not Xunit.Sdk.XunitException && deadline.Elapsed < TimeSpan.FromSeconds(20))
            {
                await Task.Delay(50);
            }
        }
    }

    private static Task<AppendResult> Append(ITransactionLog log, LogOpening opening, long first) =>
        log.Append(opening.Epoch, first, 1, Some.Encode(Some.Batch(first, "a", first)), None);

    /// <summary>Reads until it succeeds: appends are back at once, the client library within a second.</summary>
    private static async Task<List<LogGroup>> Entries(ITransactionLog log, long from = 1)
    {
        var limit = DateTime.UtcNow + TimeSpan.FromSeconds(20);
        while (true)
        {
            List<LogGroup> groups = [];
            try
            {
                await foreach (var group in log.Read(from, None))
                {
                    groups.Add(group);
                }

                return groups;
            }
            catch (Exception away) when (StorageFaults.IsPassing(away) && DateTime.UtcNow < limit)
            {
                await Task.Delay(50);
            }
        }
    }

    private static async Task<List<(long Sequence, LogRecord Record)>> Records(ITransactionLog log, long from = 1) =>
        [.. (await Entries(log, from)).SelectMany(Some.Decode)];

    private async Task<Dictionary<string, byte[]>> Copy()
    {
        var files = new Dictionary<string, byte[]>();
        foreach (var file in Directory.GetFiles(_server.Folder, "*", SearchOption.AllDirectories))
        {
            files[file] = await File.ReadAllBytesAsync(file);
        }

        return files;
    }

    private void Restore(Dictionary<string, byte[]> files)
    {
        _server.Wipe();
        foreach (var (path, bytes) in files)
        {
            Directory.CreateDirectory(Path.GetDirectoryName(path)!);
            File.WriteAllBytes(path, bytes);
        }
    }
}
