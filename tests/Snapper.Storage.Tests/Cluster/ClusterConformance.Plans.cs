using Snapper.Protocol.Directory;
using Snapper.Protocol.Identity;
using Snapper.Storage.Membership;
using Snapper.Storage.MigrationPlans;
using Snapper.Storage.Tests.Support;
using Xunit;

namespace Snapper.Storage.Tests.Cluster;

/// <content>Plans of migrations (M2, M4, M6).</content>
public abstract partial class ClusterConformance
{
    [ServerFact]
    public async Task A_plan_that_is_committed_moves_what_it_names()
    {
        var workers = await StartAll(2);
        var (one, two) = (workers[0], workers[1]);
        var plan = new MigrationPlan("m-1", [Key(0), Key("a"), Key(2)], one.Self, two.Self, "hot");
        await Take(one, Key("a"));
        await Done(one.Plans.Create(plan, None));
        Assert.Equal(ClusterStatus.AlreadyDone, (await two.Plans.Create(plan, None)).Status);
        Assert.Equal(one.Self, await Owner(one, Key(0)));
        var open = Assert.Single(await two.Plans.ReadOpen(None));
        Assert.Equal(("m-1", PlanState.Planned, 3, one.Self, two.Self, "hot"), (open.Plan.Id, open.State, open.KeyCount, open.Plan.From, open.Plan.To, open.Plan.Reason));
        Assert.Empty(open.Plan.Keys);

        var entries = await Done(two.Plans.Commit("m-1", None));
        Assert.Equal(plan.Keys, entries.Select(e => e.Key));
        Assert.All(entries, e => Assert.Equal(two.Self, e.Owner));
        Assert.Equal(entries.OrderBy(e => e.Key), (await ReadAll(one)).Where(e => plan.Keys.Contains(e.Key)));
        Assert.Equal(ClusterStatus.AlreadyDone, (await one.Plans.Commit("m-1", None)).Status);
        Assert.Equal(ClusterStatus.Stale, (await one.Plans.Cancel("m-1", "too late", None)).Status);
        Assert.Equal(ClusterStatus.AlreadyDone, (await one.Plans.Create(plan, None)).Status);
        Assert.Empty(await one.Plans.ReadOpen(None));
        var done = (await one.Plans.Find("m-1", None))!;
        Assert.Equal((PlanState.Done, 3), (done.State, done.KeyCount));
        Assert.Equal(plan.Keys, done.Plan.Keys);
        Assert.True(done.Ended >= done.Created);
    }

    [ServerFact]
    public async Task A_plan_that_is_cancelled_moves_nothing_whoever_comes_first()
    {
        var workers = await StartAll(2);
        var (one, two) = (workers[0], workers[1]);
        await Done(one.Plans.Create(new MigrationPlan("m", [Key(0)], one.Self, two.Self, ""), None));
        await Done(one.Plans.Cancel("m", "not drained in time", None));
        Assert.Equal(ClusterStatus.AlreadyDone, (await two.Plans.Cancel("m", "again", None)).Status);
        var refused = await two.Plans.Commit("m", None);
        Assert.Equal(ClusterStatus.Stale, refused.Status);
        Assert.Contains("not drained in time", refused.Detail, StringComparison.Ordinal);
        Assert.Equal(one.Self, await Owner(one, Key(0)));
        var record = (await one.Plans.Find("m", None))!;
        Assert.Equal((PlanState.Cancelled, "not drained in time"), (record.State, record.Why));

        await Done(one.Plans.Create(new MigrationPlan("m2", [Key(0)], one.Self, two.Self, ""), None));
        Assert.Equal(ClusterStatus.NotFound, (await one.Plans.Commit("other", None)).Status);
        Assert.Equal(ClusterStatus.NotFound, (await one.Plans.Cancel("other", "", None)).Status);
        Assert.Null(await one.Plans.Find("other", None));
    }

    [ServerFact]
    public async Task A_plan_moves_as_many_keys_as_it_may_name()
    {
        var workers = await StartAll(2);
        var (one, two) = (workers[0], workers[1]);
        var keys = Enumerable.Range(0, ClusterOptions.KeysPerCall - 1).Select(i => Key(2 * i)).ToArray(); // worker 1 has the even partitions
        var own = DirectoryKey.Of(new ActorKey("T", "single"), new Partition(4094));
        await Done(one.Plans.Create(new MigrationPlan("large", [.. keys, own], one.Self, two.Self, ""), None));
        foreach (var key in new[] { keys[0], keys[499], keys[500], keys[^1], own, DirectoryKey.Of(own.Partition) })
        {
            Assert.Equal(ClusterStatus.Conflict, (await one.Plans.Create(new MigrationPlan("other", [key], one.Self, two.Self, ""), None)).Status);
        }

        var moved = await Done(one.Plans.Commit("large", None));

        Assert.Equal([.. keys, own], moved.Select(e => e.Key));
        Assert.Equal(Enumerable.Range(0, moved.Count).Select(i => moved[0].Version + i), moved.Select(e => e.Version));
        Assert.Equal(moved.OrderBy(e => e.Key), (await ReadAll(two)).Where(e => e.Owner == two.Self && (e.Key == own || e.Key.Partition.Number % 2 == 0)).OrderBy(e => e.Key));
        Assert.Equal(2048 - keys.Length, (await one.Members.Read(None)).Single(m => m.Incarnation == one.Self).Entries);
        await Done(one.Plans.Create(new MigrationPlan("rest", [Key(4094)], one.Self, two.Self, ""), None)); // nothing is planned any more
    }

    [ServerFact]
    public async Task An_actor_with_an_entry_of_its_own_moves_beside_its_partition_in_one_plan_or_in_two()
    {
        var workers = await StartAll(2);
        var (one, two) = (workers[0], workers[1]);
        var actor = ActorIn(partitionParity: 0);
        var whole = DirectoryKey.Of(actor.Partition);
        await Done(one.Plans.Create(new MigrationPlan("away", [actor], one.Self, two.Self, ""), None));
        await Done(one.Plans.Commit("away", None));
        await Done(one.Plans.Create(new MigrationPlan("after", [whole], one.Self, two.Self, ""), None));
        await Done(one.Plans.Commit("after", None));

        await Done(two.Plans.Create(new MigrationPlan("both", [whole, actor], two.Self, one.Self, ""), None));
        var other = DirectoryKey.Of(new ActorKey("T", "another"), whole.Partition);
        Assert.Equal(ClusterStatus.Conflict, (await one.Plans.Create(new MigrationPlan("inside", [other], two.Self, one.Self, ""), None)).Status);
        Assert.Equal([whole, actor], (await Done(two.Plans.Commit("both", None))).Select(e => e.Key));

        await Done(one.Plans.Create(new MigrationPlan("single", [actor], one.Self, two.Self, ""), None));
        await Done(one.Plans.Create(new MigrationPlan("around", [whole], one.Self, two.Self, ""), None));
        Assert.Contains("single", (await one.Plans.Create(new MigrationPlan("again", [actor], one.Self, two.Self, ""), None)).Detail, StringComparison.Ordinal);
        await Done(one.Plans.Cancel("single", "", None));
        await Done(one.Plans.Commit("around", None));
        Assert.Equal((one.Self, two.Self), (await Owner(one, actor), await Owner(one, whole)));
        await Done(two.Plans.Create(new MigrationPlan("clean", [other], two.Self, one.Self, ""), None)); // nothing is planned any more
    }

    [ServerFact]
    public async Task What_a_plan_was_asked_for_is_kept_with_it_and_another_is_another_plan()
    {
        var workers = await StartAll(2);
        var (one, two) = (workers[0], workers[1]);
        var plan = new MigrationPlan("m.1", [Key(0)], one.Self, two.Self, "why") { Asked = new string('a', 64) };
        await Assert.ThrowsAsync<ArgumentException>(() => one.Plans.Create(plan with { Asked = new string('a', 65) }, None));
        await Done(one.Plans.Create(plan, None));
        Assert.Equal(ClusterStatus.AlreadyDone, (await two.Plans.Create(plan, None)).Status);
        Assert.Equal(ClusterStatus.Conflict, (await two.Plans.Create(plan with { Asked = "b" }, None)).Status);
        Assert.Equal(ClusterStatus.Conflict, (await two.Plans.Create(plan with { Asked = "" }, None)).Status);
        await Done(one.Plans.Create(new MigrationPlan("older.1", [Key(2)], one.Self, two.Self, "why"), None));
        Assert.Equal(ClusterStatus.AlreadyDone, (await two.Plans.Create(new MigrationPlan("older.1", [Key(2)], one.Self, two.Self, "why"), None)).Status);

        Assert.Equal(plan.Asked, (await two.Plans.Find("m.1", None))!.Plan.Asked);
        Assert.Equal([plan.Asked, ""], (await two.Plans.ReadOpen(None)).Select(open => open.Plan.Asked));
        await Done(one.Plans.Commit("m.1", None));
        Assert.Equal(plan.Asked, Assert.Single(await two.Plans.ReadParts("m", None)).Plan.Asked);
        Assert.Equal(plan.Asked, Assert.Single(await two.Plans.ReadEnded(10, None)).Plan.Asked);
    }

    [ServerFact]
    public async Task The_parts_of_a_migration_are_read_together()
    {
        var workers = await StartAll(2);
        var (one, two) = (workers[0], workers[1]);
        foreach (var (id, key) in new[] { ("m.1", 0), ("m.2", 2), ("m.4", 4), ("other.1", 6) })
        {
            await Done(one.Plans.Create(new MigrationPlan(id, [Key(key)], one.Self, two.Self, "why"), None));
        }

        await Done(one.Plans.Commit("m.1", None));

        var parts = await two.Plans.ReadParts("m", None);

        Assert.Equal([("m.1", PlanState.Done, 1), ("m.2", PlanState.Planned, 1)], parts.Select(part => (part.Plan.Id, part.State, part.KeyCount)));
        Assert.Empty(await two.Plans.ReadParts("m.1", None));
    }

    [ServerFact]
    public async Task A_note_stays_with_its_plan_also_when_that_has_ended_and_the_last_one_counts()
    {
        var workers = await StartAll(2);
        var (one, two) = (workers[0], workers[1]);
        Assert.Equal(ClusterStatus.NotFound, (await one.Plans.Note("noted", "never", None)).Status);
        await Done(one.Plans.Create(new MigrationPlan("noted", [Key(0)], one.Self, two.Self, "test"), None));
        Assert.Equal(["", ""], await two.Plans.ReadNotes(["noted", "other"], None));

        await Done(one.Plans.Note("noted", "first", None));
        await Done(one.Plans.Note("noted", "second", None));
        await Done(two.Plans.Cancel("noted", "over", None));
        Assert.Equal(["", "second"], await two.Plans.ReadNotes(["other", "noted"], None));
        await Done(one.Plans.Note("noted", "third", None));
        Assert.Equal(["third"], await two.Plans.ReadNotes(["noted"], None));
        Assert.Equal(PlanState.Cancelled, (await two.Plans.Find("noted", None))!.State);
        Assert.Empty(await two.Plans.ReadNotes([], None));
    }

    [ServerFact]
    public async Task Commit_and_cancel_at_the_same_time_end_a_plan_once()
    {
        var workers = await StartAll(2);
        for (var i = 0; i < 20; i++)
        {
            var key = Key(2 * i);
            await Done(workers[0].Plans.Create(new MigrationPlan($"race{i}", [key], workers[0].Self, workers[1].Self, ""), None));
            var commit = Task.Run(() => workers[1].Plans.Commit($"race{i}", None));
            var cancel = Task.Run(() => workers[0].Plans.Cancel($"race{i}", "race", None));
            var (committed, cancelled) = ((await commit).Status, (await cancel).Status);
            Assert.True((committed, cancelled) is (ClusterStatus.Done, ClusterStatus.Stale) or (ClusterStatus.Stale, ClusterStatus.Done), $"{committed}, {cancelled}");
            Assert.Equal(committed == ClusterStatus.Done ? workers[1].Self : workers[0].Self, await Owner(workers[0], key));
        }
    }

    [ServerFact]
    public async Task A_plan_is_not_committed_when_its_source_or_its_target_was_fenced()
    {
        var workers = await StartAll(3);
        var (one, two, three) = (workers[0], workers[1], workers[2]);
        await Done(one.Plans.Create(new MigrationPlan("from", [Key(0)], one.Self, two.Self, ""), None));
        await Done(one.Plans.Create(new MigrationPlan("to", [Key(1)], two.Self, one.Self, ""), None));
        await using var rescue = await Done(three.Members.Fence(one.Self, FenceWhen.Always, None));

        foreach (var id in new[] { "from", "to" })
        {
            var refused = await two.Plans.Commit(id, None);
            Assert.Equal(ClusterStatus.Stale, refused.Status);
            Assert.Contains("fenced", refused.Detail, StringComparison.Ordinal);
        }

        Assert.Equal([one.Self, two.Self], [await Owner(two, Key(0)), await Owner(two, Key(1))]);
        Assert.Single(await Done(three.Directory.TakeOver(rescue, [Key(0)], three.Self, None)));
        var again = await Start(1);
        Assert.Equal(ClusterStatus.Stale, (await again.Plans.Commit("from", None)).Status);
        Assert.Equal(ClusterStatus.Stale, (await again.Plans.Commit("to", None)).Status);
        await Done(two.Plans.Cancel("from", "fenced", None));
        await Done(two.Plans.Cancel("to", "fenced", None));
        Assert.Equal(three.Self, await Owner(two, Key(0)));
    }

    [ServerFact]
    public async Task Nothing_has_two_open_plans()
    {
        var workers = await StartAll(2);
        var (one, two) = (workers[0], workers[1]);
        var actor = ActorIn(partitionParity: 0);
        var whole = DirectoryKey.Of(actor.Partition);
        await Done(one.Plans.Create(new MigrationPlan("single", [actor], one.Self, two.Self, ""), None));
        await AssertConflict(new MigrationPlan("again", [actor], one.Self, two.Self, ""), "single");
        await AssertConflict(new MigrationPlan("around", [whole], one.Self, two.Self, ""), "has an open plan: single, for an actor in it");
        await AssertConflict(new MigrationPlan("single", [Key(0)], one.Self, two.Self, ""), "id single");
        await Done(one.Plans.Commit("single", None));

        await Done(one.Plans.Create(new MigrationPlan("whole", [whole], one.Self, two.Self, ""), None));
        await AssertConflict(new MigrationPlan("inside", [DirectoryKey.Of(new ActorKey("T", "inside"), whole.Partition)], one.Self, two.Self, ""), "whole");
        await Done(one.Plans.Cancel("whole", "", None));
        await AssertConflict(new MigrationPlan("both", [whole, DirectoryKey.Of(new ActorKey("T", "x"), whole.Partition)], one.Self, two.Self, ""), "both");

        for (var i = 0; i < Options.OpenPlans; i++)
        {
            await Done(one.Plans.Create(new MigrationPlan($"open{i}", [Key(2 * i)], one.Self, two.Self, ""), None));
        }

        await AssertConflict(new MigrationPlan("one-too-many", [Key(100)], one.Self, two.Self, ""), "plans are open");

        async Task AssertConflict(MigrationPlan plan, string what)
        {
            var result = await one.Plans.Create(plan, None);
            Assert.Equal(ClusterStatus.Conflict, result.Status);
            Assert.Contains(what, result.Detail, StringComparison.Ordinal);
        }
    }

    [ServerFact]
    public async Task A_plan_is_made_only_for_what_its_source_owns_and_for_a_target_that_is_current()
    {
        var workers = await StartAll(2);
        var (one, two) = (workers[0], workers[1]);
        var actor = ActorIn(partitionParity: 0);
        await Move(one, two, actor);
        foreach (var plan in new[]
        {
            new MigrationPlan("p", [Key(0), Key(1)], one.Self, two.Self, ""),
            new MigrationPlan("p", [actor], one.Self, two.Self, ""),
            new MigrationPlan("p", [Key(0)], one.Self with { Epoch = one.Self.Epoch + 1 }, two.Self, ""),
            new MigrationPlan("p", [Key(0)], one.Self, two.Self with { Epoch = two.Self.Epoch + 1 }, ""),
            new MigrationPlan("p", [Key(0)], one.Self, new Incarnation(5, 1), ""),
        })
        {
            Assert.Equal(ClusterStatus.Stale, (await one.Plans.Create(plan, None)).Status);
        }

        // A partition moves without the actors that have entries of their own.
        await Done(one.Plans.Create(new MigrationPlan("p", [DirectoryKey.Of(actor.Partition)], one.Self, two.Self, ""), None));
        await Done(one.Plans.Commit("p", None));
        await Done(two.Plans.Create(new MigrationPlan("q", [DirectoryKey.Of(actor.Partition)], two.Self, one.Self, ""), None));
        await Done(two.Plans.Commit("q", None));
        Assert.Equal(two.Self, await Owner(one, actor));
    }

    [ServerFact]
    public async Task Only_the_latest_plans_that_ended_are_kept()
    {
        var workers = await StartAll(2);
        for (var i = 0; i < 5; i++)
        {
            await Done(workers[0].Plans.Create(new MigrationPlan($"p{i}", [Key(2 * i)], workers[0].Self, workers[1].Self, ""), None));
            await Done(i % 2 == 0 ? workers[0].Plans.Cancel($"p{i}", "", None) : Commit($"p{i}"));
        }

        Assert.Equal(["p4", "p3", "p2"], (await workers[0].Plans.ReadEnded(10, None)).Select(p => p.Plan.Id));
        Assert.Equal(["p4"], (await workers[0].Plans.ReadEnded(1, None)).Select(p => p.Plan.Id));
        Assert.Null(await workers[0].Plans.Find("p1", None));
        Assert.Equal(ClusterStatus.NotFound, (await workers[0].Plans.Commit("p0", None)).Status);

        async Task<ClusterResult> Commit(string id)
        {
            var result = await workers[1].Plans.Commit(id, None);
            return new ClusterResult(result.Status, result.Detail);
        }
    }

    private async Task Take(TestWorker worker, DirectoryKey key)
    {
        var owner = await Owner(worker, DirectoryKey.Of(key.Partition));
        if (owner != worker.Self)
        {
            await Done(worker.Plans.Create(new MigrationPlan("take", [key], owner, worker.Self, ""), None));
            await Done(worker.Plans.Commit("take", None));
        }
    }
}
