using System.Text;
using Snapper.Apps.ListAppend;
using Snapper.Cluster;
using Snapper.Cluster.Control;
using Snapper.Cluster.Mailboxes;
using Snapper.Protocol.Channels;
using Snapper.Protocol.Directory;
using Snapper.Protocol.Identity;
using Snapper.Runtime.Door;
using Snapper.Runtime.Execution;
using Snapper.Runtime.Hosting;
using Snapper.Runtime.Tests.Support;
using Snapper.Storage.Log;
using Snapper.Storage.Membership;
using Snapper.Storage.Memory;
using Snapper.Storage.MigrationPlans;
using Snapper.Storage.States;
using Xunit;

namespace Snapper.Runtime.Tests.Cluster;

/// <summary>
/// I2: ids are known wherever their roots are now: one worker, several, one again, and whatever the workers' clocks
/// say.
/// </summary>
public sealed class IdsOverWorkersTests
{
    private const int Ids = 12;

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Ids_of_a_worker_alone_are_known_when_several_go_on(bool killed)
    {
        var shared = NewShared();
        await using (var alone = await Alone(shared))
        {
            await Append(alone, "k");
            if (killed)
            {
                await alone.Kill(); // nothing is checkpointed or copied
            }
        }

        await using var cluster = await TestCluster.Start(2, shared: shared);
        for (var round = 0; round < 2; round++)
        {
            await Append(cluster, "k");
        }

        await OnceEach(cluster);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Ids_are_known_from_one_worker_to_three_to_one_and_to_three_again(bool killed)
    {
        var shared = NewShared();
        await using (var alone = await Alone(shared))
        {
            await Append(alone, "one");
        }

        await using (var three = await TestCluster.Start(3, shared: shared))
        {
            await Append(three, "one");
            await Append(three, "three");
            for (var leaver = 2; leaver <= 3; leaver++)
            {
                if (killed)
                {
                    await three.Kill(leaver); // the others take over what it had
                    await Rig.Until(() => Entries(three, leaver) == 0, $"w{leaver} owns nothing", 20);
                }
                else
                {
                    await three[1].Control!.Migrate(new MigrationAsk($"drain{leaver}", null, null, $"w{leaver}", "w1", "it leaves", false), CancellationToken.None);
                    await Rig.Until(() => Entries(three, leaver) == 0, $"w{leaver} owns nothing", 20);
                    await three[leaver].Stop();
                }

                await AppendAt(three[1], "one");
                await AppendAt(three[1], "three");
            }

            await AppendAt(three[1], "left");
        }

        await using var cluster = await TestCluster.Start(1, shared: shared);
        foreach (var stage in new[] { "one", "three", "left", "one again" })
        {
            await Append(cluster, stage);
        }

        cluster.Workers = 3;
        await cluster.Open(2).WaitAsync(TimeSpan.FromSeconds(20));
        await cluster.Open(3).WaitAsync(TimeSpan.FromSeconds(20));
        await Rig.Until(() => cluster[1].Worker.Cluster!.Members().Count == 3, "w1 knows of w2 and w3");
        await cluster[1].Control!.Migrate(new MigrationAsk("share", null, null, null, null, "they come", false, Rebalance: true), CancellationToken.None);
        await Rig.Until(() => Entries(cluster, 2) >= Partition.Count / 3 && Entries(cluster, 3) >= Partition.Count / 3, "w2 and w3 have a share", 20);
        foreach (var stage in new[] { "one", "three", "left", "one again", "three again", "three again" })
        {
            await Append(cluster, stage);
        }

        await OnceEach(cluster);
    }

    [Theory]
    [InlineData(12)]
    [InlineData(-12)]
    public async Task A_move_between_workers_whose_clocks_differ_makes_no_id_run_twice(int minutes)
    {
        var times = new[] { new SkewedTime(), new SkewedTime(), new SkewedTime() };
        times[2].Step(TimeSpan.FromMinutes(minutes));
        await using var cluster = await TestCluster.Start(2, times: worker => times[worker]);
        var id = cluster.IdAt(1, "ListAppend");

        // The log is away for longer than the window.
        cluster.Logs[1]!.Hold();
        var first = TestCluster.SubmitTo(cluster[1], "ListAppend", id, "Append", new { value = 1 }, [new(new ActorKey("ListAppend", id), 1)], "x", timeoutMs: 300);
        Assert.Equal(Outcome.InDoubt, (await Rig.Within(first, "the first")).Outcome);
        Array.ForEach(times, static time => time.Advance(TimeSpan.FromMinutes(11)));
        cluster.Logs[1]!.Release();
        await Rig.Until(() => cluster[1].Door.Find("x", default).Result is { Outcome: Outcome.Committed }, "it has committed");

        var (from, to) = (1, 2);
        for (var move = 0; move < 3; move++, (from, to) = (to, from))
        {
            Assert.Equal(PlanState.Done, await cluster.Move($"m{move}", from, to, new ActorKey("ListAppend", id)));
            var again = await TestCluster.SubmitTo(cluster[to], "ListAppend", id, "Append", new { value = 1 }, [new(new ActorKey("ListAppend", id), 1)], "x");
            Assert.True(again.Outcome == Outcome.Committed, TestWorker.Describe(again));
            times[to].Step(TimeSpan.FromMinutes(minutes));
            Array.ForEach(times, static time => time.Advance(TimeSpan.FromMinutes(2)));
            await cluster[1].Worker.ForgetOldIds();
            await cluster[2].Worker.ForgetOldIds();
        }

        Assert.Equal("[1]", await Read(cluster, id));
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task An_id_whose_root_goes_and_comes_back_while_it_is_looked_for_runs_once(bool isPact)
    {
        await using var cluster = await TestCluster.Start(2);
        var actor = new ActorKey("ListAppend", cluster.IdAt(2, "ListAppend"));
        DeclaredAccess[]? access = isPact ? [new(actor, 1)] : null;
        Assert.Equal(PlanState.Done, await cluster.Move("m1", 2, 1, actor));
        var held = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        cluster.HeldLookups[1] = held.Task;
        var first = TestCluster.SubmitTo(cluster[1], actor.Type, actor.Id, "Append", new { value = 1 }, access, "x");
        await Rig.Until(() => cluster[1].RequestManager.Looking == 1, "it is looked for");

        Assert.Equal(PlanState.Done, await cluster.Move("m2", 1, 2, actor));
        var second = await TestCluster.SubmitTo(cluster[2], actor.Type, actor.Id, "Append", new { value = 1 }, access, "x");
        Assert.True(second.Outcome == Outcome.Committed, TestWorker.Describe(second));
        Assert.Equal(PlanState.Done, await cluster.Move("m3", 2, 1, actor));
        cluster.HeldLookups.Clear();
        held.SetResult();

        var answer = await Rig.Within(first, "the first answer");
        Assert.Equal((Outcome.Committed, second.Transaction), (answer.Outcome, answer.Transaction));
        Assert.Equal("[1]", await ReadAt(cluster[1], actor.Id));
    }

    [Fact]
    public async Task Copies_of_a_worker_that_is_gone_are_dropped_behind_their_window_and_it_is_asked_no_more()
    {
        var times = new[] { new SkewedTime(), new SkewedTime(), new SkewedTime() };
        await using var cluster = await TestCluster.Start(2, times: worker => times[worker]);
        var id = cluster.IdAt(2, "ListAppend");
        await TestCluster.SubmitTo(cluster[2], "ListAppend", id, "Append", new { value = 1 }, null, "x");
        await cluster[1].Control!.Migrate(new MigrationAsk("drain", null, null, "w2", null, "it leaves", false), CancellationToken.None);
        await Rig.Until(() => Entries(cluster, 2) == 0, "w2 owns nothing", 20);
        await cluster[2].Stop();
        var archive = new MemoryStateStore(cluster.Shared.Log(2), TimeProvider.System, new StateStoreOptions());
        var node = cluster[1].Worker.Cluster!;
        for (var minutes = 0; minutes < 10; minutes += 2)
        {
            Assert.True((await archive.Look(default)).HoldsAny);
            Assert.Single(node.Archives);
            await TestCluster.SubmitTo(cluster[1], "ListAppend", id, "Append", new { value = 1 }, null, "x");
            times[1].Advance(TimeSpan.FromMinutes(2));
            await Task.Delay(cluster.Options.Lease / 4); // it looks meanwhile
        }

        times[1].Advance(TimeSpan.FromMinutes(10));
        await Rig.Until(() => !archive.Look(default).Result.HoldsAny, "it is cleared");
        times[1].Advance(TimeSpan.FromMinutes(2));
        await Rig.Until(() => node.Archives.Count == 0, "it is asked no more");
        Assert.Single(node.AllArchives);
        var list = await TestCluster.SubmitTo(cluster[1], "ListAppend", id, "Read", null, null);
        Assert.Equal("[1]", Encoding.UTF8.GetString(list.Result.Span));
    }

    [Fact]
    public async Task A_damaged_archive_of_a_worker_that_is_gone_stops_nobody_and_ids_that_may_be_in_it_are_in_doubt()
    {
        var times = new[] { new SkewedTime(), new SkewedTime(), new SkewedTime(), new SkewedTime() };
        await using var cluster = await TestCluster.Start(3, times: worker => times[worker]);
        string id = cluster.IdAt(2, "ListAppend"), other = cluster.IdAt(3, "ListAppend");
        await TestCluster.SubmitTo(cluster[2], "ListAppend", id, "Append", new { value = 1 }, null, "x");
        await TestCluster.SubmitTo(cluster[3], "ListAppend", other, "Append", new { value = 1 }, null, "y");
        foreach (var leaver in new[] { 2, 3 })
        {
            await cluster[1].Control!.Migrate(new MigrationAsk($"drain{leaver}", null, null, $"w{leaver}", "w1", "it leaves", false), CancellationToken.None);
            await Rig.Until(() => Entries(cluster, leaver) == 0, $"w{leaver} owns nothing", 20);
            await cluster[leaver].Stop();
        }

        cluster.DamagedArchives[2] = true;
        times[1].Advance(TimeSpan.FromMinutes(2));
        await Rig.Until(() => cluster.Logged.Lines.Any(line => line.Id == 1033 && line.Text.Contains("w2", StringComparison.Ordinal)), "it is told");
        var again = await TestCluster.SubmitTo(cluster[1], "ListAppend", id, "Append", new { value = 1 }, null, "x");
        var unknown = await TestCluster.SubmitTo(cluster[1], "ListAppend", id, "Append", new { value = 2 }, null, "z");
        var found = await TestCluster.SubmitTo(cluster[1], "ListAppend", other, "Append", new { value = 1 }, null, "y");
        var asked = await cluster[1].Door.Find("x", CancellationToken.None);
        Assert.Equal((Outcome.InDoubt, Outcome.InDoubt, Outcome.Committed, Outcome.Rejected), (again.Outcome, unknown.Outcome, found.Outcome, asked?.Outcome));
        Assert.All([again.Doubt, unknown.Doubt, asked?.Rejection?.Detail], why => Assert.Contains("Key planned is damaged", why, StringComparison.Ordinal));

        cluster.DamagedArchives.Clear();
        again = await TestCluster.SubmitTo(cluster[1], "ListAppend", id, "Append", new { value = 1 }, null, "x");
        Assert.True(again.Outcome == Outcome.Committed, TestWorker.Describe(again));
        Assert.Equal("[1]", await ReadAt(cluster[1], id));
        Assert.Empty(cluster.Failures);
    }

    [Fact]
    public async Task What_waits_when_the_state_store_alone_says_that_a_worker_is_fenced_is_in_doubt()
    {
        await using var cluster = await TestCluster.Start(1, new WorkerOptions { Executors = 1, Coordinators = 1, OpenBatches = 1 });
        await TestCluster.SubmitTo(cluster[1], "ListAppend", "c", "Append", new { value = 1 }, [new(new ActorKey("ListAppend", "c"), 1)], "c1");
        var log = cluster.Logs[1]!;
        log.Hold();
        _ = TestCluster.SubmitTo(cluster[1], "ListAppend", "a", "Append", new { value = 1 }, [new(new ActorKey("ListAppend", "a"), 1)], "a1");
        await Rig.Until(() => log.Held > 0, "a's record is on its way");
        var b = TestCluster.SubmitTo(cluster[1], "ListAppend", "b", "Append", new { value = 1 }, [new(new ActorKey("ListAppend", "b"), 1)], "b1");
        await Rig.Until(() => cluster[1].RequestManager.InFlight == 2, "b waits for a number");

        cluster.FoldAnswers[1] = new AppendResult(AppendStatus.Fenced, "planned"); // as another instance of the server may say
        await cluster[1].Worker.Checkpoints.CheckpointNow();
        var told = await Rig.Within(b, "b");
        log.Release();
        await Rig.Until(() => cluster[1].Worker.Log.DurableSequence >= 3, "b was executed all the same");
        Assert.Equal(Outcome.InDoubt, told.Outcome);
    }

    [Fact]
    public async Task An_id_whose_owner_cannot_be_asked_is_in_doubt_and_a_request_without_one_is_refused()
    {
        await using var cluster = await TestCluster.Start(2, lease: TimeSpan.FromSeconds(20), patience: TimeSpan.FromSeconds(20));
        var id = cluster.IdAt(2, "ListAppend");
        await TestCluster.SubmitTo(cluster[2], "ListAppend", id, "Append", new { value = 1 }, null, "x");
        cluster[2].Worker.Close("The worker is closed for this test.");

        var again = await TestCluster.SubmitTo(cluster[1], "ListAppend", id, "Append", new { value = 1 }, null, "x", timeoutMs: 300);
        var unknown = await TestCluster.SubmitTo(cluster[1], "ListAppend", id, "Append", new { value = 2 }, null, "y", timeoutMs: 300);
        var without = await TestCluster.SubmitTo(cluster[1], "ListAppend", id, "Append", new { value = 3 }, null, timeoutMs: 300);

        Assert.Equal((Outcome.InDoubt, Outcome.InDoubt, Outcome.Rejected), (again.Outcome, unknown.Outcome, without.Outcome));
    }

    [Fact]
    public async Task An_id_that_ran_at_a_worker_of_which_the_next_owner_has_not_read_yet_runs_once()
    {
        await using var cluster = await TestCluster.Start(3);
        var others = Enumerable.Range(1, 3).Where(worker => worker != cluster.Master).ToArray();
        var (slow, giver) = (others[0], others[1]);
        var actor = new ActorKey("ListAppend", cluster.IdAt(giver, "ListAppend"));
        var any = new ActorKey("ListAppend", cluster.IdAt(giver, "ListAppend", "any"));

        // One answer of the store is late: the slow one's look at the members and the directory stands still
        // meanwhile; its lease has a thread of its own.
        var late = new TaskCompletionSource();
        var stands = new TaskCompletionSource();
        cluster.StoreOf(slow).Before = name =>
        {
            if (name != FaultyStore.DirectoryRead)
            {
                return Task.CompletedTask;
            }

            stands.TrySetResult();
            return late.Task;
        };
        Assert.Equal(PlanState.Done, await cluster.Move("any", giver, cluster.Master, any));
        await stands.Task.WaitAsync(TimeSpan.FromSeconds(10));

        // A new worker comes, gets the actor, runs a request, and gives the actor on.
        await cluster.Open(4).WaitAsync(TimeSpan.FromSeconds(20));
        Assert.Equal(PlanState.Done, await cluster.Move("there", giver, 4, actor));
        var first = await Run(4);
        Assert.True(first.Outcome == Outcome.Committed, TestWorker.Describe(first));
        Assert.Equal(PlanState.Done, await cluster.Move("on", 4, slow, actor));
        await Rig.Until(() => cluster[slow].Worker.Cluster!.Ownership.Look(actor).State == OwnershipState.Open, "the next owner has opened it");

        var again = await Run(slow);
        late.SetResult();
        Assert.Equal("[1]", await ReadAt(cluster[slow], actor.Id));
        Assert.True(again.Outcome is Outcome.Committed or Outcome.InDoubt, TestWorker.Describe(again));

        Task<TransactionEnvelope> Run(int worker) =>
            TestCluster.SubmitTo(cluster[worker], "ListAppend", actor.Id, "Append", new { value = 1 }, [new(actor, 1)], "once", timeoutMs: 5000);
    }

    [Fact]
    public async Task An_id_that_has_committed_is_not_refused_by_an_owner_whose_answers_are_not_taken()
    {
        await using var cluster = await TestCluster.Start(
            2, patience: TimeSpan.FromMinutes(1), mailboxes: new MailboxOptions { Limits = new ChannelLimits { FullBytes = 1024 } });
        var actor = new ActorKey("ListAppend", cluster.IdAt(2, "ListAppend"));
        var first = await Run("once");
        Assert.True(first.Outcome == Outcome.Committed, TestWorker.Describe(first));

        // For a moment nothing of the owner's arrives, and answers pile up there.
        cluster.CutCalls(2, 1);
        var others = new List<Task<TransactionEnvelope>>();
        for (var i = 0; !cluster[2].Worker.Cluster!.Gate.Hub.IsFull(1); i++)
        {
            Assert.True(i < 100, "no answers pile up");
            others.Add(Run($"other-{i}"));
            await Task.Delay(20);
        }

        var again = Run("once");
        await Task.Delay(500);
        cluster.Heal();
        var answer = await Rig.Within(again, "the second answer", 30);
        await Task.WhenAll(others);
        Assert.True(answer.Outcome is Outcome.Committed or Outcome.InDoubt, TestWorker.Describe(answer));

        Task<TransactionEnvelope> Run(string key) =>
            TestCluster.SubmitTo(cluster[1], actor.Type, actor.Id, "Append", new { value = 1 }, [new(actor, 1)], key, timeoutMs: 20_000);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task An_id_that_has_committed_is_not_refused_by_a_worker_that_was_replaced(bool isFenced)
    {
        await using var cluster = await TestCluster.Start(
            2, lease: TimeSpan.FromSeconds(1), patience: TimeSpan.FromMinutes(1));
        var actor = new ActorKey("ListAppend", cluster.IdAt(1, "ListAppend"));
        Assert.False(cluster[1].Worker.MayHaveOlderOutcomes); // else it looks, or is in doubt anyhow
        if (isFenced)
        {
            var store = cluster.Shared.Open(cluster[2].Worker.Cluster!.Self, new StateStoreOptions());
            var one = cluster[1].Worker.Cluster!.Self;
            Assert.True((await store.Members.Fence(one, FenceWhen.Always, CancellationToken.None)).IsDone);
        }
        else
        {
            // It does not reach the store any more; callers reach it.
            cluster.Logs[1]!.Fails = true;
            cluster.StoreOf(1).Before = static _ => Task.FromException(new IOException("planned"));
        }

        var ownership = cluster[2].Worker.Cluster!.Ownership;
        await Rig.Until(() => ownership.Look(actor).State == OwnershipState.Open, "the other one owns it", 20);
        await Rig.Until(() => cluster[1].Worker.Unavailability is not null, "it refuses requests");
        var first = await Run(2);
        Assert.True(first.Outcome == Outcome.Committed, TestWorker.Describe(first));
        var again = await Run(1);
        Assert.True(again.Outcome == Outcome.InDoubt, TestWorker.Describe(again));

        Task<TransactionEnvelope> Run(int worker) =>
            TestCluster.SubmitTo(
                cluster[worker], actor.Type, actor.Id, "Append", new { value = 1 }, [new(actor, 1)], "once", 5000);
    }

    /// <summary>
    /// Its process stood still, or its Redis does not answer it: it was replaced and does not know it. Nothing that it
    /// says of an id without its log is certain.
    /// </summary>
    [Theory]
    [InlineData("has too much to do", false)]
    [InlineData("has too much to do", true)]
    [InlineData("waits in vain for a number", false)]
    [InlineData("waits in vain for a number", true)]
    public async Task An_id_that_has_committed_has_not_failed_at_a_worker_that_does_not_know_its_end(
        string why, bool isEvicted)
    {
        var most = why.StartsWith("has", StringComparison.Ordinal) ? 3 : 10;
        var options = new WorkerOptions { OpenBatches = 1, MaxInFlight = most };
        var lease = TimeSpan.FromSeconds(isEvicted ? 6 : 1); // one that is evicted thinks that it has its lease still
        await using var cluster = await TestCluster.Start(2, options, lease, patience: TimeSpan.FromMinutes(1));
        var actor = new ActorKey("ListAppend", cluster.IdAt(1, "ListAppend"));
        var stands = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        if (isEvicted)
        {
            await Rig.Until(() => UnbrokenMs(2) >= lease.TotalMilliseconds, "w2 may take another's actors over", 20);
        }

        cluster.Logs[1]!.Hold();
        cluster.StoreOf(1).Before = _ => stands.Task;
        cluster.Cut(1, 2);
        cluster.Cut(2, 1);
        try
        {
            Task<TransactionEnvelope>[] before = [Run(1, "b1", 30_000), Run(1, "b2", 30_000), Run(1, "b3", 30_000)];
            if (isEvicted)
            {
                var one = cluster[1].Worker.Cluster!.Self;
                var fenced = await cluster.StoreOf(2).Members.Fence(one, FenceWhen.Always, CancellationToken.None);
                Assert.True(fenced.IsDone, fenced.Detail);
            }

            var ownership = cluster[2].Worker.Cluster!.Ownership;
            await Rig.Until(() => ownership.Look(actor).State == OwnershipState.Open, "the other one owns it", 20);
            var first = await Run(2, "once", 5000);
            Assert.True(first.Outcome == Outcome.Committed, TestWorker.Describe(first));
            Assert.Null(cluster[1].Worker.Unavailability);
            var again = await Rig.Within(Run(1, "once", 300), "the same at the one that was replaced");
            Assert.True(again.Outcome == Outcome.InDoubt, TestWorker.Describe(again));
            cluster.Logs[1]!.Release();
            var had = await Rig.Within(Task.WhenAll(before), "what it had before");
            Assert.All(had, answer => Assert.Equal(Outcome.InDoubt, answer.Outcome));
        }
        finally
        {
            cluster.Logs[1]!.Release();
            cluster.Heal();
            stands.SetResult();
        }

        Task<TransactionEnvelope> Run(int worker, string id, int timeoutMs) =>
            TestCluster.SubmitTo(
                cluster[worker], actor.Type, actor.Id, "Append", new { value = 1 }, [new(actor, 1)], id, timeoutMs);

        long UnbrokenMs(int worker)
        {
            lock (cluster.Shared.Gate)
            {
                return cluster.Shared.UnbrokenMs(worker);
            }
        }
    }

    /// <summary>The next owner has it already, while the source does not know yet that its plan is done.</summary>
    [Fact]
    public async Task An_id_that_has_committed_has_not_failed_at_a_worker_that_does_not_know_what_has_moved()
    {
        await using var cluster = await TestCluster.Start(2);
        var actor = new ActorKey("ListAppend", cluster.IdAt(1, "ListAppend"));
        var stands = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        cluster.StoreOf(1).After = name => name == "Commit" ? stands.Task : Task.CompletedTask;
        cluster.StoreOf(1).Before = name => name == FaultyStore.DirectoryRead ? stands.Task : Task.CompletedTask;
        try
        {
            await cluster.Move("p", 1, 2, actor);
            var (source, target) = (cluster[1].Worker.Cluster!.Ownership, cluster[2].Worker.Cluster!.Ownership);
            await Rig.Until(() => target.Look(actor).State == OwnershipState.Open, "the other one owns it", 20);
            Assert.Equal(OwnershipState.Frozen, source.Look(actor).State);
            var first = await Run(2, 5000);
            Assert.True(first.Outcome == Outcome.Committed, TestWorker.Describe(first));
            var again = await Rig.Within(Run(1, 300), "the same at its source");
            Assert.True(again.Outcome == Outcome.InDoubt, TestWorker.Describe(again));
        }
        finally
        {
            stands.SetResult();
        }

        Task<TransactionEnvelope> Run(int worker, int timeoutMs) => TestCluster.SubmitTo(
            cluster[worker], actor.Type, actor.Id, "Append", new { value = 1 }, [new(actor, 1)], "once", timeoutMs);
    }

    private static MemoryCluster NewShared() => new(TimeProvider.System, new ClusterOptions { Lease = TimeSpan.FromSeconds(2) });

    private static Task<WorkerHost> Alone(MemoryCluster shared) => WorkerHost.Start(
        new WorkerSetup
        {
            Options = new WorkerOptions { Name = "w1", Number = 1, DrainTimeout = TimeSpan.FromSeconds(1) },
            ActorTypes = SnapperAppsListAppendActors.All,
            Log = new MemoryTransactionLog(shared.Log(1)),
            Store = new MemoryStateStore(shared.Log(1), TimeProvider.System, new StateStoreOptions()),
        },
        CancellationToken.None);

    private static long Entries(TestCluster cluster, int worker) => cluster.Members().Result.Single(member => member.Incarnation.Worker == worker).Entries;

    private static Task Append(TestCluster cluster, string stage) =>
        Append(stage, (box, key) => cluster.Submit("ListAppend", box, "Append", new { value = 1 }, [new(new ActorKey("ListAppend", box), 1)], key));

    private static Task Append(WorkerHost host, string stage) => AppendAt(host, stage);

    private static Task AppendAt(WorkerHost host, string stage) =>
        Append(stage, (box, key) => TestCluster.SubmitTo(host, "ListAppend", box, "Append", new { value = 1 }, [new(new ActorKey("ListAppend", box), 1)], key));

    private static async Task Append(string stage, Func<string, string, Task<TransactionEnvelope>> submit)
    {
        for (var i = 0; i < Ids; i++)
        {
            var done = await submit($"{stage}{i}", $"{stage}-{i}");
            Assert.True(done.Outcome == Outcome.Committed, $"{stage} {i}: {TestWorker.Describe(done)}");
        }
    }

    private static async Task OnceEach(TestCluster cluster)
    {
        foreach (var stage in new[] { "k", "one", "three", "left", "one again", "three again" })
        {
            for (var i = 0; i < Ids; i++)
            {
                var list = await Read(cluster, $"{stage}{i}");
                Assert.True(list is "[1]" or "[]", $"{stage}{i} is {list}");
            }
        }
    }

    private static Task<string> Read(TestCluster cluster, string box) => Read(cluster.Submit("ListAppend", box, "Read", null, null));

    private static Task<string> ReadAt(WorkerHost host, string box) => Read(TestCluster.SubmitTo(host, "ListAppend", box, "Read", null, null));

    private static async Task<string> Read(Task<TransactionEnvelope> read)
    {
        var list = await read;
        Assert.True(list.Outcome == Outcome.Committed, TestWorker.Describe(list));
        return Encoding.UTF8.GetString(list.Result.Span);
    }
}
