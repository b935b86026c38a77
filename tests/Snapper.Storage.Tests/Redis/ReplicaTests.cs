using System.Globalization;
using System.Text.RegularExpressions;
using Snapper.Storage.Log;
using Snapper.Storage.Log.Writing;
using Snapper.Storage.Redis;
using Snapper.Storage.States;
using Snapper.Storage.Tests.Support;
using Xunit;

namespace Snapper.Storage.Tests.Redis;

/// <summary>What counts only when a replica has it: a primary and one replica, real ones.</summary>
[NeedsRedis]
public sealed class ReplicaTests : IAsyncLifetime
{
    private static readonly CancellationToken None = CancellationToken.None;
    private static readonly LogWriterOptions s_writing = new() { RetryDelayMax = TimeSpan.FromMilliseconds(100) };
    private readonly Observer _observer = new();
    private readonly List<IAsyncDisposable> _made = [];
    private RedisServer _primary = null!;
    private RedisServer _replica = null!;

    public async Task InitializeAsync()
    {
        if (RedisServer.FindExecutable() is not null)
        {
            _primary = await RedisServer.Start("--repl-diskless-sync-delay", "0");
            _replica = await RedisServer.Start("--replicaof", "127.0.0.1", Text(_primary.Port));
            await Some.Until(
                () => _primary.Command("WAIT", "1", "1000").Result == ":1\r\n", "the replica to follow the primary");
        }
    }

    public async Task DisposeAsync()
    {
        foreach (var made in Enumerable.Reverse(_made))
        {
            await made.DisposeAsync();
        }

        await (_replica?.DisposeAsync() ?? default);
        await (_primary?.DisposeAsync() ?? default);
    }

    /// <summary>
    /// The second try is answered by what is there already, over a new connection that has written nothing: it must
    /// wait for the replica all the same.
    /// </summary>
    [ServerFact]
    public async Task An_append_is_acknowledged_when_the_replica_has_it_and_not_before()
    {
        var (log, opening) = await Opened(1);
        await using var writer = new LogWriter(log, opening, _observer, s_writing, TimeProvider.System);
        writer.Enqueue(Some.Batch(1, "a", 1));
        await writer.Drain(None).WaitAsync(TimeSpan.FromSeconds(20));
        var before = _observer.Heard.Count;
        var calls = Calls("eval");

        _replica.Pause();
        writer.Enqueue(Some.Batch(2, "a", 2));
        await Some.Until(() => _observer.Heard.Count > before, "the append to be in doubt");
        Assert.StartsWith(
            "Snapper:Log:Replicas is 1, and 0 replicas had the write", _observer.UnavailableDetail,
            StringComparison.Ordinal);
        var next = await _primary.Command("HGET", "snapper:{w1}:meta", "next");
        Assert.EndsWith("\r\n3\r\n", next, StringComparison.Ordinal);
        await Some.Until(() => Calls("eval") >= calls + 3, "the append to be tried again and again");
        Assert.Equal(["unavailable"], _observer.Heard.Skip(before));

        _replica.Continue();
        await writer.Drain(None).WaitAsync(TimeSpan.FromSeconds(20));
        Assert.Equal(["unavailable", "available", "flushed 2"], _observer.Heard.Skip(before));
        var groups = new List<long>();
        await foreach (var group in log.Read(1, None))
        {
            groups.Add(group.FirstSequence);
        }

        Assert.Equal([1, 2], groups);
        Assert.Equal(await Log(_primary), await Log(_replica));
    }

    /// <summary>
    /// Nothing has been written since the replica had everything, and it may have been promoted meanwhile: that it had
    /// everything a moment ago is no answer.
    /// </summary>
    [ServerFact]
    public async Task A_check_of_the_epoch_asks_the_replica_now()
    {
        var (log, opening) = await Opened(1);
        await Acknowledged(() => log.CheckEpoch(opening.Epoch, None));
        await Some.Until(HasToldAll, "the replica to tell that it has everything");

        _replica.Pause();
        await Assert.ThrowsAsync<TooFewReplicasException>(() => log.CheckEpoch(opening.Epoch, None));

        _replica.Continue();
        await Acknowledged(() => log.CheckEpoch(opening.Epoch, None));
    }

    /// <summary>
    /// A checkpoint that was acknowledged and is not on the next primary is a loss to a worker, though no commit is.
    /// </summary>
    [ServerFact]
    public async Task Checkpoints_trims_outcomes_and_openings_are_acknowledged_in_the_same_way()
    {
        var (log, opening) = await Opened(1);
        var store = new RedisStateStore(log, TimeProvider.System, new StateStoreOptions());
        _made.Add(store);
        var change = new StateCheckpoint(Some.Actor("a"), 0, 1, [new("state", Some.Bytes("1"))]);
        Func<Task<AppendResult>>[] steps =
        [
            () => store.Checkpoint(opening.Epoch, [change], None),
            () => store.SaveOutcomes(opening.Epoch, [Some.Outcome("x")], None),
            () => log.Trim(opening.Epoch, 1, new LogWatermarks(1, 1), None),
        ];

        _replica.Pause();
        foreach (var step in steps)
        {
            await Assert.ThrowsAsync<TooFewReplicasException>(step);
        }

        var (other, _) = await Made(1);
        await Assert.ThrowsAsync<TooFewReplicasException>(() => other.Open(None));

        _replica.Continue();
        var again = await Open(log); // it was fenced by the one that was not acknowledged
        Assert.InRange(again.Epoch, opening.Epoch + 2, opening.Epoch + 100);
        foreach (var step in steps)
        {
            Assert.Equal(AppendStatus.Fenced, (await step()).Status);
        }

        opening = again;
        foreach (var step in steps)
        {
            await Acknowledged(step);
        }
    }

    [ServerFact]
    public async Task More_replicas_than_there_are_open_no_log_and_the_message_has_both_numbers()
    {
        var (log, connections) = await Made(2);
        var tooFew = await Assert.ThrowsAsync<TooFewReplicasException>(() => log.Open(None));
        Assert.Matches(
            "^Snapper:Log:Replicas is 2, and (1 replica|0 replicas) had the write within 300 ms", tooFew.Message);
        Assert.Equal(1, (await RedisDurability.Read(connections, None)).ConnectedReplicas);

        await using var second = await RedisServer.Start("--replicaof", "127.0.0.1", Text(_primary.Port));
        await Some.Until(
            () => _primary.Command("WAIT", "2", "1000").Result == ":2\r\n", "the second replica to follow");
        Assert.InRange((await Open(log)).Epoch, 2, 100);
    }

    [ServerFact]
    public async Task Without_replicas_the_server_is_never_asked_for_them()
    {
        var (log, opening) = await Opened(0);
        _replica.Pause();
        var before = Calls("wait");
        var group = Some.Encode(Some.Batch(1, "a", 1));
        await Acknowledged(() => log.Append(opening.Epoch, 1, 1, group, None));
        await Acknowledged(() => log.CheckEpoch(opening.Epoch, None));
        await Acknowledged(() => log.Trim(opening.Epoch, 1, new LogWatermarks(1, 1), None));
        Assert.Equal(before, Calls("wait"));
    }

    /// <summary>The replica answers, if not always in time: this machine may have others to serve.</summary>
    private static async Task Acknowledged(Func<Task<AppendResult>> step)
    {
        var status = (AppendStatus?)null;
        for (var attempt = 1; status is null; attempt++)
        {
            try
            {
                status = (await step()).Status;
            }
            catch (TooFewReplicasException) when (attempt < 50)
            {
                // The same again is what it asks for.
            }
        }

        Assert.True(status is AppendStatus.Appended or AppendStatus.AlreadyThere, status.ToString());
    }

    private static async Task<LogOpening> Open(RedisTransactionLog log)
    {
        LogOpening? opening = null;
        await Acknowledged(async () =>
        {
            opening = await log.Open(None);
            return new AppendResult(AppendStatus.Appended);
        });
        return opening!;
    }

    private static string Text(int number) => number.ToString(CultureInfo.InvariantCulture);

    private static Task<string> Log(RedisServer server) => server.Command("XRANGE", "snapper:{w1}:log", "-", "+");

    /// <summary>How often commands whose name begins so were called on the primary.</summary>
    private long Calls(string command) => Regex
        .Matches(_primary.Command("INFO", "commandstats").Result, $"cmdstat_{command}\\w*:calls=([0-9]+)")
        .Sum(match => long.Parse(match.Groups[1].Value, CultureInfo.InvariantCulture));

    /// <summary>No answer of the replica is due: what it has told covers all.</summary>
    private bool HasToldAll()
    {
        var all = Regex.Match(
            _primary.Command("INFO", "replication").Result, @"offset=([0-9]+),lag.*\nmaster_repl_offset:([0-9]+)",
            RegexOptions.Singleline);
        return all.Success && all.Groups[1].Value == all.Groups[2].Value;
    }

    private async Task<(RedisTransactionLog Log, LogOpening Opening)> Opened(int replicas)
    {
        var (log, _) = await Made(replicas);
        return (log, await Open(log));
    }

    private async Task<(RedisTransactionLog Log, RedisConnections Connections)> Made(int replicas)
    {
        var connections = await RedisConnections.Connect(new RedisOptions
        {
            Port = _primary.Port,
            Replicas = replicas,
            ReplicaTimeout = TimeSpan.FromMilliseconds(300),
        });
        _made.Add(connections);
        var log = new RedisTransactionLog(connections, "w1");
        _made.Add(log);
        return (log, connections);
    }
}
