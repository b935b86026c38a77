using System.Globalization;
using Snapper.Protocol.Directory;
using Snapper.Protocol.Identity;
using Snapper.Storage.Log;
using Snapper.Storage.Membership;
using Snapper.Storage.MigrationPlans;
using Snapper.Storage.Redis;
using Snapper.Storage.States;
using Snapper.Storage.Tests.Conformance;
using Snapper.Storage.Tests.Support;
using Xunit;

namespace Snapper.Storage.Tests.Cluster;

/// <summary>What only a server can do to the cluster's store: hold other things, lose them, run out of memory, keep its own time.</summary>
[NeedsRedis]
public sealed class RedisClusterFaultTests(RedisServerFixture fixture) : IClassFixture<RedisServerFixture>, IAsyncLifetime
{
    private static readonly CancellationToken None = CancellationToken.None;
    private readonly string _prefix = $"t{Guid.NewGuid():N}:";
    private RedisConnections _connections = null!;

    public async Task InitializeAsync()
    {
        if (fixture.Server is not null)
        {
            _connections = await RedisConnections.Connect(new RedisOptions { Port = fixture.Server.Port, KeyPrefix = _prefix });
        }
    }

    public async Task DisposeAsync()
    {
        if (_connections is not null)
        {
            await _connections.DisposeAsync();
        }
    }

    [ServerFact]
    public async Task A_worker_is_needed_by_nobody_when_others_have_divided_and_it_owns_nothing()
    {
        var (one, two) = (await Start(1), await Start(2));
        Assert.False(await RedisClusterStore.IsNeededByNobody(_connections, 3, None)); // nobody has divided anything: it may have to be one of the first
        await Assign(one, two);

        Assert.True(await RedisClusterStore.IsNeededByNobody(_connections, 3, None));
        Assert.False(await RedisClusterStore.IsNeededByNobody(_connections, 2, None));
        await fixture.Server.Command("ZADD", _prefix + "{cluster}:leases", "1", "1");
        Assert.False(await RedisClusterStore.IsNeededByNobody(_connections, 3, None)); // what w1 owned is nobody's: the lease has run out

        await Start(2); // a later life of it: what it owned waits for it
        Assert.False(await RedisClusterStore.IsNeededByNobody(_connections, 2, None));
    }

    [ServerFact]
    public async Task A_key_of_another_type_is_named_whichever_it_is_and_nothing_is_changed()
    {
        var (one, two) = (await Start(1), await Start(2));
        await Assign(one, two);
        await Done(one.Plans.Create(Plan("p", one, two), None));
        (string Key, Func<Task> Use)[] uses =
        [
            ("{cluster}:meta", () => one.Members.Look(None)),
            ("{cluster}:meta", () => one.Directory.Read(DirectoryCursor.Start, 10, None)),
            ("{cluster}:members", () => one.Members.Read(None)),
            ("{cluster}:members", () => one.Members.Register(new MemberAddress("", "", 1, ""), None)),
            ("{cluster}:leases", () => one.Members.Renew("", 0, None)),
            ("{cluster}:leases", () => one.Members.Fence(two.Self, FenceWhen.Always, None)),
            ("{cluster}:master", () => one.Master.Take(None)),
            ("{cluster}:master", () => one.Members.Look(None)),
            ("{cluster}:member:1", () => one.Members.Renew("", 0, None)),
            ("{cluster}:member:2", () => one.Members.Fence(two.Self, FenceWhen.Always, None)),
            ("{cluster}:member:2", () => one.Members.Read(None)),
            ("{cluster}:directory", () => one.Directory.Read(DirectoryCursor.Start, 10, None)),
            ("{cluster}:directory", () => one.Directory.Reclaim([Key(0)], None)),
            ("{cluster}:changes", () => one.Directory.Read(DirectoryCursor.Start, 10, None)),
            ("{cluster}:changes", () => one.Plans.Commit("p", None)),
            ("{cluster}:shares", () => one.Plans.Commit("p", None)),
            ("{cluster}:shares", () => one.Members.Leave(None)),
            ("{cluster}:planned", () => one.Plans.Commit("p", None)),
            ("{cluster}:planned", () => one.Plans.Create(Plan("q", one, two), None)),
            ("{cluster}:plan:p", () => one.Plans.Commit("p", None)),
            ("{cluster}:plan:p", () => one.Plans.Find("p", None)),
            ("{cluster}:planned:p", () => one.Plans.Cancel("p", "", None)),
            ("{cluster}:plans:open", () => one.Plans.Cancel("p", "", None)),
            ("{cluster}:plans:ended", () => one.Plans.Commit("p", None)),
            ("{w2}:meta", () => one.Members.Read(None)),
            ("{w2}:meta", () => one.Plans.Commit("p", None)),
            ("{w2}:log", () => one.Members.Fence(two.Self, FenceWhen.Always, None)),
            ("{master}:meta", () => one.Master.Take(None)),
            ("{w1}:meta", () => one.Members.Renew("", 0, None)),
        ];
        foreach (var (key, use) in uses)
        {
            await Command("RENAME", _prefix + key, _prefix + "aside");
            await Command("SET", _prefix + key, "another program's");

            var problem = await Record.ExceptionAsync(use);
            Assert.True(problem is CorruptLogException, $"{key}: {problem}");
            Assert.Contains(_prefix + key, problem.Message, StringComparison.Ordinal);
            await Command("DEL", _prefix + key);
            await Command("RENAME", _prefix + "aside", _prefix + key);
        }

        // Only the fence that failed at the stream had an effect: it comes first.
        Assert.Equal(PlanState.Planned, (await one.Plans.Find("p", None))!.State);
        Assert.Equal(4096, (await one.Members.Look(None)).DirectoryVersion);
    }

    [ServerFact]
    public async Task Values_that_this_program_did_not_write_are_named_with_their_keys()
    {
        var (one, two) = (await Start(1), await Start(2));
        await Assign(one, two);
        await Done(one.Plans.Create(Plan("p", one, two), None));
        (string Key, string Field, string Value, Func<Task> Use)[] uses =
        [
            ("{cluster}:directory", "0", "w1", () => one.Directory.Read(DirectoryCursor.Start, 10, None)),
            ("{cluster}:directory", "0", "1 1", () => one.Directory.Reclaim([Key(0)], None)),
            ("{cluster}:directory", "0", "1 1 x", () => one.Plans.Commit("p", None)),
            ("{cluster}:meta", "version", "many", () => one.Directory.Read(DirectoryCursor.Start, 10, None)),
            ("{cluster}:meta", "version", "1.5", () => one.Plans.Commit("p", None)),
            ("{cluster}:meta", "plan", "-1", () => one.Plans.Cancel("p", "", None)),
            ("{cluster}:meta", "membership", "x", () => one.Members.Look(None)),
            ("{cluster}:master", "until", "x", () => one.Members.Look(None)),
            ("{cluster}:plan:p", "count", "7", () => one.Plans.Commit("p", None)),
            ("{cluster}:plan:p", "state", "going", () => one.Plans.Find("p", None)),
            ("{cluster}:plan:p", "created", "once", () => one.Plans.Commit("p", None)),
            ("{cluster}:shares", "1", "x", () => one.Members.Leave(None)),
            ("{w2}:meta", "epoch", "x", () => one.Members.Fence(two.Self, FenceWhen.Always, None)),
        ];
        await (await Done(one.Master.Take(None))).Log.DisposeAsync();
        foreach (var (key, field, value, use) in uses)
        {
            var before = (await Command("HGET", _prefix + key, field)).Split("\r\n")[1];
            await Command("HSET", _prefix + key, field, value);
            var problem = await Record.ExceptionAsync(use);
            Assert.True(problem is CorruptLogException, $"{key} {field} {value}: {problem}");
            Assert.True(problem.Message.Contains(key, StringComparison.Ordinal) || problem.Message.Contains("{cluster}:planned:p", StringComparison.Ordinal), problem.Message);
            await Command("HSET", _prefix + key, field, before);
        }

        await Command("HDEL", _prefix + "{cluster}:directory", "5");
        Assert.Contains("no field 5", (await Assert.ThrowsAsync<CorruptLogException>(() => one.Directory.Read(DirectoryCursor.Start, 10, None))).Message, StringComparison.Ordinal);
    }

    /// <summary>All workers read the open plans: for one that is damaged they would end, one after the other.</summary>
    [ServerTheory]
    [InlineData("{cluster}:plan:p", "SET")]
    [InlineData("{cluster}:plan:p", "HDEL", "reason")]
    [InlineData("{cluster}:plan:p", "HSET", "toWorker", "two")]
    [InlineData("{cluster}:plan:p", "HSET", "state", "going")]
    [InlineData("{cluster}:planned:p", "SET")]
    [InlineData("{cluster}:planned:p", "RPUSH", "17")]
    public async Task A_plan_that_is_damaged_is_named_is_not_committed_and_keeps_no_other_from_it(
        string key, string command, params string[] words)
    {
        var (one, two) = (await Start(1), await Start(2));
        await Assign(one, two);
        await Done(one.Plans.Create(Plan("p", one, two), None));
        await Done(one.Plans.Create(new MigrationPlan("q", [Key(2)], one.Self, two.Self, ""), None));
        Assert.Empty(await one.Plans.ReadDamaged(None));
        if (command == "SET")
        {
            await Command("DEL", _prefix + key);
            await Command("SET", _prefix + key, "another program's");
        }
        else
        {
            await Command([command, _prefix + key, .. words]);
        }

        Assert.Equal("q", Assert.Single(await two.Plans.ReadOpen(None)).Plan.Id);
        Assert.Contains(_prefix + key, Assert.Single(await two.Plans.ReadDamaged(None)), StringComparison.Ordinal);
        await Assert.ThrowsAsync<CorruptLogException>(() => one.Plans.Commit("p", None));
        Assert.Equal(ClusterStatus.Done, (await one.Plans.Commit("q", None)).Status);
        Assert.Equal("q", Assert.Single(await two.Plans.ReadEnded(10, None)).Plan.Id);
    }

    [ServerFact]
    public async Task What_the_server_lost_is_noticed_at_the_next_renewal_and_raises_the_generation()
    {
        var one = await Start(1);
        await Assign(one, one);
        var standing = await Done(one.Members.Renew("", 0, None));
        await Command("DEL", _prefix + "{cluster}:meta");
        Assert.Equal(ClusterStatus.Lost, (await one.Members.Renew(standing.DirectoryId, standing.DirectoryVersion, None)).Status);
        Assert.Equal(1, (await one.Members.Look(None)).Generation);

        await Command("DEL", _prefix + "{cluster}:member:1");
        var lost = await one.Members.Renew("", 0, None);
        Assert.Equal(ClusterStatus.Lost, lost.Status);
        Assert.Contains("registration", lost.Detail, StringComparison.Ordinal);
        Assert.Equal(2, (await one.Members.Look(None)).Generation);
    }

    [ServerFact]
    public async Task A_directory_or_a_log_that_is_gone_is_not_made_anew_without_a_word()
    {
        var (one, two) = (await Start(1), await Start(2));
        await Assign(one, two);
        await Command("DEL", _prefix + "{cluster}:directory");
        Assert.Equal(ClusterStatus.Lost, (await one.Directory.AssignAll(PartitionDivision.Evenly([one.Self]), None)).Status);
        await Command("DEL", _prefix + "{w2}:meta");
        Assert.Equal(ClusterStatus.Lost, (await one.Members.Fence(two.Self, FenceWhen.Always, None)).Status);
        var master = await Done(one.Master.Take(None));
        await Command("DEL", _prefix + "{master}:meta");
        Assert.Equal(ClusterStatus.Lost, (await one.Master.Take(None)).Status);
        await master.Log.DisposeAsync();
    }

    /// <summary>
    /// An operator accepts that the log of one worker is empty. Its epochs must not begin anew: the directory and the
    /// others know the lives of before.
    /// </summary>
    [ServerFact]
    public async Task A_worker_whose_log_was_deleted_begins_a_life_that_none_was_before_and_takes_its_entries_again()
    {
        var (one, first) = (await Start(1), await Start(2));
        await Assign(one, first);
        await Start(2);
        var last = await Start(2);
        Assert.Single(await Done(last.Directory.Reclaim([Key(1)], None)));

        await Command("DEL", _prefix + "{w2}:meta", _prefix + "{w2}:log");
        var again = await Start(2);
        Assert.True(again.Self.Epoch > last.Self.Epoch, $"{again.Self} begins behind {last.Self}");
        Assert.Equal(2, (await Done(again.Directory.Reclaim([Key(1), Key(3)], None))).Count);
    }

    /// <summary>
    /// Lives of before go on with what they own until their next renewal, and later ones may join any time.
    /// </summary>
    [ServerTheory]
    [InlineData("meta", "directory")]
    [InlineData("meta", "directory", "changes", "shares", "members", "leases", "member:1", "member:2")]
    public async Task What_the_logs_say_was_divided_is_not_divided_anew_when_the_directory_is_lost_alone(
        params string[] lost)
    {
        var (one, two) = (await Start(1), await Start(2));
        await Assign(one, two);
        var three = await Start(3); // it has joined, and owns nothing
        await Command(["DEL", .. lost.Select(key => _prefix + "{cluster}:" + key)]);
        foreach (var worker in (TestWorker[])[one, two, three])
        {
            await Done(worker.Members.Register(new MemberAddress("", "", 1, ""), None));
        }

        var again = PartitionDivision.Evenly([three.Self]);
        Assert.Equal(ClusterStatus.Lost, (await three.Directory.AssignAll(again, None)).Status);
        Assert.Equal(1, (await one.Members.Look(None)).Generation);
        await Command("DEL", _prefix + "{w1}:meta", _prefix + "{w2}:meta");
        var later = await Start(3);
        var last = PartitionDivision.Evenly([later.Self]);
        Assert.Equal(ClusterStatus.Lost, (await later.Directory.AssignAll(last, None)).Status);
    }

    [ServerFact]
    public async Task A_worker_whose_log_has_lost_records_raises_the_generation_for_all()
    {
        var (two, one) = (await Start(2), await Start(1)); // over one connection: what the last one knows must be there
        Assert.Equal(AppendStatus.Appended, await two.Write("a", 1));
        await Command("HSET", _prefix + "{w2}:meta", "next", "1");
        Assert.Equal(AppendStatus.Gap, (await two.Log.CheckEpoch(two.Self.Epoch, None)).Status);
        Assert.Equal(1, (await one.Members.Look(None)).Generation);
        Assert.Equal("$1\r\n1\r\n", await Command("HGET", _prefix + "{w2}:meta", "generation"));
        await Command("DEL", _prefix + "{w2}:log");
        await Start(2); // what it comes back with is what there is: nothing is lost anew
        Assert.Equal(1, (await one.Members.Look(None)).Generation);
    }

    [ServerFact]
    public async Task Of_two_openings_that_got_the_same_epoch_because_the_server_forgot_one_only_the_later_counts()
    {
        var (one, two) = (await Start(1), await Start(2));
        await Assign(one, two);
        var first = await Done(two.Members.Fence(one.Self, FenceWhen.Always, None));
        await Command("HINCRBY", _prefix + "{w1}:meta", "epoch", "-1");
        var second = await Done(two.Members.Fence(one.Self, FenceWhen.Always, None));
        Assert.Equal(first.Opened, second.Opened);
        Assert.Equal(AppendStatus.Fenced, (await first.Log.CheckEpoch(first.Opened.Epoch, None)).Status);
        Assert.Equal(ClusterStatus.Stale, (await two.Directory.TakeOver(first, [Key(0)], two.Self, None)).Status);

        await Command("HINCRBY", _prefix + "{w2}:meta", "epoch", "-1");
        await Command("HDEL", _prefix + "{cluster}:member:2", "epoch"); // it forgot what came behind that, too
        var again = await Start(2);
        Assert.Equal(two.Self, again.Self);
        Assert.Equal(ClusterStatus.Fenced, (await two.Members.Renew("", 0, None)).Status);
        Assert.Equal(AppendStatus.RescuerFenced, (await second.Log.CheckEpoch(second.Opened.Epoch, None)).Status);
        Assert.Equal(ClusterStatus.Fenced, (await two.Directory.TakeOver(second, [Key(0)], two.Self, None)).Status);
        await Done(again.Members.Renew("", 0, None));
    }

    [ServerFact]
    public async Task A_server_without_memory_still_renews_fences_moves_and_ends_plans()
    {
        await using var server = await RedisServer.Start();
        await using var backend = await RedisBackend.Connect(server, new ClusterOptions { Lease = TimeSpan.FromMinutes(2) });
        var workers = new List<TestWorker>();
        for (var number = 1; number <= 3; number++)
        {
            var log = backend.NewLog(number);
            var opening = await log.Open(None);
            var self = new Incarnation(number, opening.Epoch);
            workers.Add(new TestWorker(self, log, opening, backend.NewStates(log, number), backend.NewStore(log, self)));
        }

        foreach (var worker in workers)
        {
            await Done(worker.Members.Register(new MemberAddress("", "", 1, ""), None));
        }

        var (one, two, three) = (workers[0], workers[1], workers[2]);
        await Assign(one, two);
        await Done(one.Plans.Create(Plan("p", one, two), None));
        await Done(one.Plans.Create(new MigrationPlan("q", [Key(2)], one.Self, two.Self, ""), None));
        await server.Command("CONFIG", "SET", "maxmemory", "1");

        Assert.Equal(AppendStatus.Refused, await one.Write("a", 1));
        await Done(one.Members.Renew("", 0, None));
        Assert.Equal(ClusterStatus.Done, (await one.Plans.Commit("p", None)).Status);
        Assert.Equal(ClusterStatus.Done, (await one.Plans.Cancel("q", "", None)).Status);
        var rescue = await Done(three.Members.Fence(one.Self, FenceWhen.Always, None));
        Assert.Equal(3, (await Done(three.Directory.TakeOver(rescue, [Key(2), Key(4), Key(6)], three.Self, None))).Count);
        await (await Done(three.Master.Take(None))).Log.DisposeAsync();
        var log1 = backend.NewLog(1);
        var again = new Incarnation(1, (await log1.Open(None)).Epoch);
        await Done(backend.NewStore(log1, again).Members.Register(new MemberAddress("", "", 1, ""), None));
        Assert.Single(await Done(backend.NewStore(log1, again).Directory.Reclaim([Key(8)], None)));
    }

    [ServerFact]
    public async Task Everything_is_there_after_the_server_was_killed_and_a_server_that_cannot_write_refuses()
    {
        await using var server = await RedisServer.Start();
        await using var backend = await RedisBackend.Connect(server, new ClusterOptions { Lease = TimeSpan.FromMinutes(2) });
        var log = (RedisTransactionLog)backend.NewLog(1);
        var self = new Incarnation(1, (await log.Open(None)).Epoch);
        var store = backend.NewStore(log, self);
        var standing = await Done(store.Members.Register(new MemberAddress("", "", 1, ""), None));
        await Done(store.Directory.AssignAll(PartitionDivision.Evenly([self]), None));

        await server.Kill();
        await server.Restart();
        var deadline = DateTime.UtcNow + TimeSpan.FromSeconds(20);
        for (var later = default(LogOpening); later is null;)
        {
            Assert.True(DateTime.UtcNow < deadline, "the log was not opened within 20 s after the server's restart");
            try
            {
                later = await log.Open(None);
                self = new Incarnation(1, later.Epoch); // a life of the server before does nothing here
            }
            catch (Exception away) when (away is StackExchange.Redis.RedisException or TimeoutException)
            {
                await Task.Delay(50);
            }
        }

        store = backend.NewStore(log, self);
        await Done(store.Members.Register(new MemberAddress("", "", 1, ""), None));
        var renewed = await Done(store.Members.Renew(standing.DirectoryId, 4096, None));
        Assert.Equal((standing.DirectoryId, 4096L), (renewed.DirectoryId, renewed.DirectoryVersion));
        await server.Command("REPLICAOF", "127.0.0.1", "1");
        var refused = await Assert.ThrowsAnyAsync<Exception>(() => store.Members.Renew("", 0, None));
        Assert.StartsWith("READONLY", refused.Message, StringComparison.Ordinal);
        Assert.True(StorageFaults.IsPassing(refused));
        await server.Command("REPLICAOF", "NO", "ONE");
        var promoted = await store.Members.Renew("", 0, None);
        Assert.Equal(ClusterStatus.Fenced, promoted.Status); // it may have had another's data meanwhile
    }

    [ServerFact]
    public async Task Leases_run_by_the_servers_clock_and_not_by_that_of_any_worker()
    {
        var options = new ClusterOptions { Lease = TimeSpan.FromMilliseconds(400) };
        var (dead, rescuer) = (await Start(1, options, TimeSpan.FromDays(-400)), await Start(2, options, TimeSpan.FromDays(400)));
        var members = await rescuer.Members.Read(None);
        Assert.All(members, m => Assert.InRange(m.Remaining, TimeSpan.Zero, options.Lease));

        var watch = System.Diagnostics.Stopwatch.StartNew();
        await Done(dead.Members.Renew("", 0, None));
        ClusterResult<Rescue> fenced;
        do
        {
            Assert.True(watch.Elapsed < TimeSpan.FromSeconds(20), "the lease of 400 ms did not run out within 20 s");
            await Done(rescuer.Members.Renew("", 0, None));
            fenced = await rescuer.Members.Fence(dead.Self, FenceWhen.LeaseExpired, None);
            await Task.Delay(20);
        }
        while (fenced.Status == ClusterStatus.NotYet);

        Assert.Equal(ClusterStatus.Done, fenced.Status);
        Assert.True(watch.Elapsed >= options.Lease - TimeSpan.FromMilliseconds(20), $"fenced after {watch.ElapsedMilliseconds} ms");
    }

    [ServerFact]
    public async Task A_store_is_opened_only_with_the_workers_own_open_log()
    {
        var log = new RedisTransactionLog(_connections, "w1");
        Assert.Throws<ArgumentException>(() => Store(log, new Incarnation(1, 1)));
        var opening = await log.Open(None);
        Assert.Throws<ArgumentException>(() => Store(log, new Incarnation(2, opening.Epoch)));
        Assert.Throws<ArgumentException>(() => Store(log, new Incarnation(1024, opening.Epoch)));
        Store(log, new Incarnation(1, opening.Epoch));
    }

    private static RedisClusterStore Store(RedisTransactionLog log, Incarnation self) => new(log, self, new ClusterOptions(), new StateStoreOptions(), TimeProvider.System);

    private static DirectoryKey Key(int partition) => DirectoryKey.Of(new Partition(partition));

    private static MigrationPlan Plan(string id, TestWorker from, TestWorker to) => new(id, [Key(0)], from.Self, to.Self, "");

    private static async Task Assign(TestWorker one, TestWorker two) =>
        await Done(one.Directory.AssignAll(PartitionDivision.Evenly(one == two ? [one.Self] : [one.Self, two.Self]), None));

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

    private async Task<TestWorker> Start(int number, ClusterOptions? options = null, TimeSpan clockOff = default)
    {
        var log = new RedisTransactionLog(_connections, string.Create(CultureInfo.InvariantCulture, $"w{number}"));
        var opening = await log.Open(None);
        var self = new Incarnation(number, opening.Epoch);
        var time = new ManualTime(DateTimeOffset.UtcNow + clockOff);
        var store = new RedisClusterStore(log, self, options ?? new ClusterOptions { Lease = TimeSpan.FromMinutes(2) }, new StateStoreOptions(), time);
        var worker = new TestWorker(self, log, opening, new RedisStateStore(log, time, new StateStoreOptions()), store);
        await Done(worker.Members.Register(new MemberAddress("", "", 1, ""), None));
        return worker;
    }

    private Task<string> Command(params string[] words) => fixture.Server.Command(words);
}
