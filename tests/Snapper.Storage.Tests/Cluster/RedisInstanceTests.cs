using System.Globalization;
using System.Text.RegularExpressions;
using Snapper.Protocol.Directory;
using Snapper.Protocol.Identity;
using Snapper.Storage.Log;
using Snapper.Storage.Membership;
using Snapper.Storage.MigrationPlans;
using Snapper.Storage.Redis;
using Snapper.Storage.States;
using Snapper.Storage.Tests.Support;
using Xunit;

namespace Snapper.Storage.Tests.Cluster;

/// <summary>The life of one of several workers is bound to the Redis on which it began: one that was started anew, or that took its place, may hold less.</summary>
[NeedsRedis]
public sealed class RedisInstanceTests : IAsyncLifetime
{
    private static readonly CancellationToken None = CancellationToken.None;
    private static readonly ReadOnlyMemory<byte> Group = Some.Encode(Some.Batch(1, []));
    private RedisServer _server = null!;
    private RedisConnections _connections = null!;

    public async Task InitializeAsync()
    {
        if (RedisServer.FindExecutable() is not null)
        {
            _server = await RedisServer.Start();
            _connections = await RedisConnections.Connect(new RedisOptions { Port = _server.Port });
        }
    }

    public async Task DisposeAsync()
    {
        if (_server is not null)
        {
            await _connections.DisposeAsync();
            await _server.DisposeAsync();
        }
    }

    [ServerFact]
    public async Task After_a_restart_that_lost_nothing_a_life_does_nothing_and_the_next_one_everything()
    {
        var (one, two) = (await Start(1), await Start(2));
        await Done(one.Directory.AssignAll(PartitionDivision.Evenly([one.Self, two.Self]), None));
        var master = await Done(two.Master.Take(None));
        Assert.Equal(AppendStatus.Appended, (await one.Log.Append(one.Self.Epoch, 1, 1, Group, None)).Status);
        Assert.Equal(AppendStatus.Appended, (await master.Log.CheckEpoch(master.MasterEpoch, None)).Status);
        var rescue = await Done(one.Members.Fence(two.Self, FenceWhen.Always, None));
        await Again();

        foreach (var log in (ITransactionLog[])[one.Log, master.Log])
        {
            var epoch = log == one.Log ? one.Self.Epoch : master.MasterEpoch;
            foreach (var answer in (AppendResult[])[await log.Append(epoch, 2, 1, Group, None), await log.CheckEpoch(epoch, None)])
            {
                Assert.Equal(AppendStatus.Fenced, answer.Status);
                Assert.Contains("another instance", answer.Detail, StringComparison.Ordinal);
            }
        }

        Assert.Equal(AppendStatus.RescuerFenced, (await rescue.Log.CheckEpoch(rescue.Opened.Epoch, None)).Status);
        Assert.Equal(ClusterStatus.Fenced, (await one.Members.Renew("", 0, None)).Status);
        Assert.Equal(ClusterStatus.Fenced, (await one.Directory.TakeOver(rescue, [Key(0)], one.Self, None)).Status);
        Assert.Equal(ClusterStatus.Fenced, (await one.Plans.Cancel("p", "", None)).Status);
        Assert.Equal(ClusterStatus.Fenced, (await one.Master.Take(None)).Status);

        var again = await Start(2);
        Assert.Equal(0, (await again.Members.Look(None)).Generation); // nothing was lost
        Assert.True(again.Self.Epoch > two.Self.Epoch + 100, "openings that were lost must not give their names to others");
        var other = (await again.Members.Read(None)).Single(m => m.Incarnation.Worker == 1);
        Assert.Equal((MemberState.Fenced, one.Self.Epoch + 1), (other.State, other.CurrentEpoch)); // it may live and send, and nobody may hear it
        var next = await Done(again.Master.Take(None)); // nobody waits for a master of another instance
        Assert.True(next.MasterEpoch > master.MasterEpoch + 10);
        Assert.Equal(AppendStatus.Appended, (await next.Log.CheckEpoch(next.MasterEpoch, None)).Status);
        var back = await Start(1);
        Assert.Equal(AppendStatus.Appended, (await back.Log.Append(back.Self.Epoch, 2, 1, Group, None)).Status);
        Assert.Equal(back.Self.Epoch + 1, (await Start(1)).Self.Epoch);
        await master.Log.DisposeAsync();
        await next.Log.DisposeAsync();
    }

    [ServerFact]
    public async Task A_life_whose_very_first_opening_was_lost_gives_its_name_to_nobody()
    {
        await using var log = new RedisTransactionLog(_connections, "w1") { IsOneOfSeveral = true };
        var first = (await log.Open(None)).Epoch;
        await Again(() => Directory.Delete(Path.Combine(_server.Folder, "appendonlydir"), recursive: true));
        await using var again = new RedisTransactionLog(_connections, "w1") { IsOneOfSeveral = true };
        Assert.NotEqual(first, (await again.Open(None)).Epoch);
    }

    [ServerFact]
    public async Task What_is_missing_of_the_own_log_is_said_then_too()
    {
        var one = await Start(1);
        Assert.Equal(AppendStatus.Appended, (await one.Log.Append(one.Self.Epoch, 1, 1, Group, None)).Status);
        var aof = new FileInfo(Directory.GetFiles(Path.Combine(_server.Folder, "appendonlydir"), "*.incr.aof").Single());
        var length = aof.Length;
        Assert.Equal(AppendStatus.Appended, (await one.Log.Append(one.Self.Epoch, 2, 3, Group, None)).Status);
        await Again(() =>
        {
            using var stream = aof.Open(FileMode.Open);
            stream.SetLength(length);
        });

        var answer = await one.Log.Append(one.Self.Epoch, 5, 1, Group, None);
        Assert.Equal(AppendStatus.Gap, answer.Status);
        Assert.Contains("records 2 to 4 are gone", answer.Detail, StringComparison.Ordinal);
        var again = await Start(1);
        Assert.Equal(1, again.Opening.Losses);
        Assert.Equal(0, (await again.Members.Look(None)).Generation); // every life of the other instance ends anyway: those that begin here need not begin twice
    }

    /// <summary>
    /// What others have written meanwhile is in no number of the own log: a copy that has all of that may lack it.
    /// </summary>
    [ServerFact]
    public async Task What_a_replica_lacks_of_others_is_not_read_from_it()
    {
        var primary = _server.Port.ToString(CultureInfo.InvariantCulture);
        await using var copy = await RedisServer.Start("--replicaof", "127.0.0.1", primary);
        await using var road = new TcpProxy(_server.Port);
        await using var reader = await RedisConnections.Connect(new RedisOptions { Port = road.Port });
        var two = await Start(2, reader);
        Assert.Equal(AppendStatus.Appended, (await two.Log.Append(two.Self.Epoch, 1, 1, Group, None)).Status);
        await Some.Until(
            () => copy.Command("HGET", "snapper:{w2}:meta", "next").Result.Contains("\n2\r", StringComparison.Ordinal),
            "the replica to have everything");
        await copy.Command("REPLICAOF", "127.0.0.1", "1");
        var one = await Start(1);
        await Done(one.Directory.AssignAll(PartitionDivision.Evenly([one.Self, two.Self]), None));
        await Done(one.Plans.Create(new MigrationPlan("p", [Key(0)], one.Self, two.Self, "test"), None));
        var change = new StateCheckpoint(Some.Actor("a"), 0, 1, [new("state", Some.Bytes("1"))]);
        Assert.Equal(AppendStatus.Appended, (await one.States.Checkpoint(one.Self.Epoch, [change], None)).Status);
        Assert.NotNull(await two.States.Load(Some.Actor("a"), None));

        road.LeadTo(copy.Port);
        var clients = Regex.Matches(await _server.Command("CLIENT", "LIST"), "id=([0-9]+) .* name=snapper-state ");
        var newest = clients.Select(client => client.Groups[1].Value).MaxBy(int.Parse)!; // this worker's
        await _server.Command("CLIENT", "KILL", "ID", newest);
        await Some.Until(
            () => copy.Command("CLIENT", "LIST").Result.Contains(" name=snapper-state ", StringComparison.Ordinal),
            "the connection for reads to be made anew");
        await Assert.ThrowsAnyAsync<IOException>(() => two.States.Load(Some.Actor("a"), None));
        await Assert.ThrowsAnyAsync<IOException>(() => two.Plans.Find("p", None));
        await Assert.ThrowsAnyAsync<IOException>(() => two.Members.Read(None));
        var added = await two.Log.Append(two.Self.Epoch, 2, 1, Group, None); // over the connection that was not touched
        Assert.Equal(AppendStatus.Appended, added.Status);
    }

    /// <summary>
    /// It has another's data since, though its process is the same: of what it had acknowledged to others, no number of
    /// the own log says anything.
    /// </summary>
    [ServerTheory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task One_that_was_a_replica_for_a_while_is_another_instance(bool isNoticedMeanwhile)
    {
        var primary = _server.Port.ToString(CultureInfo.InvariantCulture);
        await using var copy = await RedisServer.Start("--replicaof", "127.0.0.1", primary);
        var (one, two) = (await Start(1), await Start(2));
        Assert.Equal(AppendStatus.Appended, (await two.Log.Append(two.Self.Epoch, 1, 1, Group, None)).Status);
        await Some.Until(() => NextOf(copy, "w2") == 2, "the replica to have everything");
        await copy.Command("REPLICAOF", "NO", "ONE");
        Assert.Equal(AppendStatus.Appended, (await one.Log.Append(one.Self.Epoch, 1, 1, Group, None)).Status);

        await _server.Command("REPLICAOF", "127.0.0.1", copy.Port.ToString(CultureInfo.InvariantCulture));
        await Some.Until(() => NextOf(_server, "w1") == 1, "the acknowledged record of w1 to be gone");
        if (isNoticedMeanwhile)
        {
            await Some.Until(
                () => two.Log.CheckEpoch(two.Self.Epoch, None).Result.Status != AppendStatus.Appended, "a refusal");
        }

        await _server.Command("REPLICAOF", "NO", "ONE");
        var appended = await two.Log.Append(two.Self.Epoch, 2, 1, Group, None); // it has the connection of before still
        Assert.Equal(AppendStatus.Fenced, appended.Status);
        Assert.Contains("another instance", appended.Detail, StringComparison.Ordinal);
        Assert.Equal(AppendStatus.Fenced, (await two.Log.CheckEpoch(two.Self.Epoch, None)).Status);
        var renewed = await two.Members.Renew("", 0, None);
        Assert.Equal(ClusterStatus.Fenced, renewed.Status);
        Assert.Contains("another instance", renewed.Detail, StringComparison.Ordinal);
        var again = await Start(2);
        Assert.True(again.Self.Epoch > two.Self.Epoch + 100);
        Assert.Equal(ClusterStatus.Done, (await again.Members.Renew("", 0, None)).Status);
    }

    private static long NextOf(RedisServer server, string worker)
    {
        var answer = server.Command("HGET", $"snapper:{{{worker}}}:meta", "next").Result;
        var last = answer.Split('\n')[^2].Trim();
        return long.TryParse(last, NumberStyles.None, CultureInfo.InvariantCulture, out var next) ? next : 0;
    }

    private static DirectoryKey Key(int partition) => DirectoryKey.Of(new Partition(partition));

    private static async Task<T> Done<T>(Task<ClusterResult<T>> step)
        where T : class
    {
        var result = await step;
        Assert.True(result.Status == ClusterStatus.Done, $"{result.Status}: {result.Detail}");
        return result.Value!;
    }

    private static async Task Done(Task<ClusterResult> step)
    {
        var result = await step;
        Assert.True(result.Status == ClusterStatus.Done, $"{result.Status}: {result.Detail}");
    }

    private async Task Again(Action? meanwhile = null)
    {
        await _server.Kill();
        meanwhile?.Invoke();
        await _server.Restart();
        await _connections.State.WhenConnected(() => _connections.State.Execute(None, "PING"), None);
        await _connections.Log.WhenConnected(() => _connections.Log.Execute(None, "PING"), None);
    }

    private async Task<TestWorker> Start(int number, RedisConnections? connections = null)
    {
        var name = string.Create(CultureInfo.InvariantCulture, $"w{number}");
        var log = new RedisTransactionLog(connections ?? _connections, name);
        var opening = await log.Open(None);
        var self = new Incarnation(number, opening.Epoch);
        var store = new RedisClusterStore(log, self, new ClusterOptions { Lease = TimeSpan.FromMinutes(2) }, new StateStoreOptions(), TimeProvider.System);
        var worker = new TestWorker(self, log, opening, new RedisStateStore(log, TimeProvider.System, new StateStoreOptions()), store);
        await Done(worker.Members.Register(new MemberAddress("", "", 1, ""), None));
        return worker;
    }
}
