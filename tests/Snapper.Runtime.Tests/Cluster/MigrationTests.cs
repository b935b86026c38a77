using Snapper.Cluster;
using Snapper.Contracts;
using Snapper.Protocol.Directory;
using Snapper.Protocol.Identity;
using Snapper.Runtime.Door;
using Snapper.Runtime.Execution;
using Snapper.Runtime.Tests.Support;
using Snapper.Storage.MigrationPlans;
using Xunit;
using Xunit.Abstractions;

namespace Snapper.Runtime.Tests.Cluster;

/// <summary>Live migration (thesis 4.3; M1 to M7): actors move while their transactions run.</summary>
public sealed class MigrationTests(ITestOutputHelper output)
{
    [Fact]
    public async Task An_actor_that_moves_keeps_its_state_and_is_answered_by_its_new_worker()
    {
        await using var cluster = await TestCluster.Start(2);
        var id = cluster.IdAt(1, "Account");
        await cluster.Submit("Account", id, "TransactSavings", new { amount = 5 }, null);
        var before = await cluster.Total(id);
        Assert.Equal(PlanState.Done, await cluster.Move("p1", 1, 2, new ActorKey("Account", id)));
        await Rig.Until(() => cluster.OwnerOf("Account", id) == cluster[2], "w2 owns it");
        Assert.Equal(before, await cluster.Total(id));
        Assert.Equal(PlanState.Done, await cluster.Move("p2", 2, 1, new ActorKey("Account", id)));
        Assert.Equal(before, await cluster.Total(id));
    }

    [Fact]
    public async Task Requests_that_wait_for_what_is_frozen_are_counted_and_every_worker_shows_them_and_the_steps()
    {
        await using var cluster = await TestCluster.Start(2, lease: TimeSpan.FromSeconds(1));
        var id = cluster.IdAt(1, "ListAppend", "k");
        var holds = cluster.Submit("ListAppend", id, "Execute", new { ops = new[] { new { f = "r", key = id } }, delayMs = 1500 }, null);
        await Rig.Until(() => cluster[1].Worker.Acts.Count > 0, "the ACT that is in the way runs");
        var moved = await cluster[2].Control!.Migrate(new("slow", [new ActorKey("ListAppend", id)], null, null, "w2", "", DryRun: false), CancellationToken.None);
        await Rig.Until(() => cluster[1].Worker.Cluster!.Ownership.Look(new ActorKey("ListAppend", id)).State == OwnershipState.Frozen, "it is frozen");
        var waiting = Enumerable.Range(0, 5).Select(_ => cluster.Submit("ListAppend", id, "Read", null, null)).ToArray();

        await Shows(part => part.FrozenRequests == 5, "w2 shows that five requests wait at w1");
        Assert.Equal(1, moved.Keys);
        Assert.Equal(Outcome.Committed, (await holds).Outcome);
        foreach (var request in waiting)
        {
            Assert.Equal(Outcome.Committed, (await request).Outcome);
        }

        await Shows(part => part.Phases.Select(phase => phase.Phase).SequenceEqual(["planned", "freezing", "draining", "handingover", "done"]), "w2 shows all steps");
        await cluster.Kill(1);
        var part = await Part();
        Assert.Equal((0, 5, 5), (part.FrozenRequests, part.MostFrozenRequests, part.Phases.Count));

        async Task Shows(Func<MigrationPart, bool> condition, string what)
        {
            var until = DateTime.UtcNow.AddSeconds(10);
            while (await Part() is var shown && !condition(shown))
            {
                Assert.True(DateTime.UtcNow < until, $"After 10 s not: {what}. {shown}");
                await Task.Delay(5);
            }
        }

        async Task<MigrationPart> Part() => (await cluster[2].Control!.Migration("slow", CancellationToken.None))!.Parts.Single();
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task An_id_is_remembered_where_its_root_has_gone(bool dies)
    {
        await using var cluster = await TestCluster.Start(2, lease: TimeSpan.FromSeconds(1));
        var id = cluster.IdAt(1, "Account");
        var first = await cluster.Submit("Account", id, "TransactSavings", new { amount = 5 }, null, key: "once");
        Assert.True(first.Outcome == Outcome.Committed, TestWorker.Describe(first));
        var total = await cluster.Total(id);
        if (dies)
        {
            await cluster.Kill(1);
            await Rig.Until(() => cluster[2].Worker.Cluster!.Directory.Resolve(new ActorKey("Account", id)).Worker == 2, "w2 has taken over", 20);
        }
        else
        {
            Assert.Equal(PlanState.Done, await cluster.Move("p1", 1, 2, new ActorKey("Account", id)));
        }

        var again = await cluster.Submit("Account", id, "TransactSavings", new { amount = 5 }, null, key: "once");
        Assert.Equal((first.Outcome, first.Transaction), (again.Outcome, again.Transaction));
        Assert.Equal(total, await cluster.Total(id));
        var found = await cluster[2].Door.Find("once", CancellationToken.None);
        Assert.Equal(first.Transaction, found?.Transaction);
    }

    [Fact]
    public async Task What_the_source_of_an_ended_plan_had_frozen_at_the_master_is_numbered_for_again()
    {
        await using var cluster = await TestCluster.Start(2);
        var (one, other) = (cluster.IdAt(1, "Account"), cluster.IdAt(2, "Account"));
        var actor = new ActorKey("Account", one);
        var master = cluster[cluster.Master].Worker.Cluster!;

        // As by a source that died behind its word to the master: the plan is not open any more, and nobody else
        // knows of the freeze.
        await master.Ask(() =>
        {
            master.Master!.Frozen.Freeze("of a dead source", [DirectoryKey.Of(actor, Partition.Of(actor))]);
            return true;
        });

        var paid = await cluster.Submit(
            "Account", one, "Transfer", new { to = other, amount = 1 }, [new DeclaredAccess(actor, 1), new DeclaredAccess(new ActorKey("Account", other), 1)], timeoutMs: 10_000);

        Assert.True(paid.Outcome == Outcome.Committed, TestWorker.Describe(paid));
    }

    [Theory]
    [InlineData(50, 1)]
    [InlineData(100, 2)]
    [InlineData(0, 1)]
    public async Task Actors_that_move_to_and_fro_under_load_lose_nothing(int pactPercent, int executors)
    {
        await using var cluster = await TestCluster.Start(3, new WorkerOptions { Executors = executors });
        var load = new ListAppendLoad(cluster, new LoadShape(pactPercent, pactPercent is 0 or 100 ? 12_000 : 1500, 10, 24, pactPercent) { MostOperations = 3 });
        var (done, cancelled) = (0, 0);
        load.Enough = () => Volatile.Read(ref done) > 5;
        var running = load.Run();
        var random = new Random(pactPercent);
        for (var round = 0; !running.IsCompleted && round < 60; round++)
        {
            var key = new ActorKey("ListAppend", "k" + random.Next(24));
            var from = cluster.OwnerOf(key.Type, key.Id).Worker.Options.Number;
            var state = await cluster.Move($"m{round}", from, 1 + ((from + random.Next(2)) % 3), key);
            done += state == PlanState.Done ? 1 : 0;
            cancelled += state == PlanState.Cancelled ? 1 : 0;
        }

        await cluster.End(load, running, output);
        output.WriteLine($"{done} moved, {cancelled} cancelled");
        Assert.True(done > 5, $"only {done} moved");
    }

    [Fact]
    public async Task Half_of_all_actors_move_under_load_and_survive_the_death_of_their_new_worker()
    {
        await using var cluster = await TestCluster.Start(3, new WorkerOptions { Executors = 1 }, TimeSpan.FromSeconds(1));
        var load = new ListAppendLoad(cluster, new LoadShape(7, 1500, 10, 24, 60) { MostOperations = 3 });
        var running = load.Run();
        await cluster.UnderWay(load, 200, output);
        var victim = cluster.Master == 3 ? 2 : 3;
        for (var key = 0; key < 24; key++)
        {
            var actor = new ActorKey("ListAppend", "k" + key);
            var from = cluster.OwnerOf(actor.Type, actor.Id).Worker.Options.Number;
            if (from != victim)
            {
                await cluster.Move($"h{key}", from, victim, actor);
            }
        }

        await cluster.Kill(victim);
        await cluster.End(load, running, output);
    }
}
