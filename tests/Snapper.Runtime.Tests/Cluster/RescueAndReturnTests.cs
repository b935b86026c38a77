using Snapper.Cluster;
using Snapper.Protocol.Directory;
using Snapper.Protocol.Identity;
using Snapper.Runtime.Door;
using Snapper.Runtime.Tests.Support;
using Snapper.Storage.Membership;
using Snapper.Storage.MigrationPlans;
using Xunit;

namespace Snapper.Runtime.Tests.Cluster;

/// <summary>Take-overs that wait for others, and requests that wait while their root goes and comes back.</summary>
public sealed class RescueAndReturnTests
{
    [Theory]
    [InlineData(false, false)]
    [InlineData(true, false)]
    [InlineData(false, true)]
    [InlineData(true, true)]
    public async Task A_rescuer_that_does_not_reach_the_root_evicts_it(bool isSilent, bool inDoubt)
    {
        await using var cluster = await TestCluster.Start(3, lease: TimeSpan.FromSeconds(1), patience: TimeSpan.FromSeconds(1), types: _ => SnapperRuntimeTestsActors.All);
        var root = cluster.Master;
        var others = Enumerable.Range(1, 3).Where(worker => worker != root).ToArray();
        var (part, rescuer) = (others[0], others[1]);
        using var gate = new Gate();
        Task<TransactionEnvelope>? answer = null;
        if (inDoubt)
        {
            string near = cluster.IdAt(root, "Box"), far = cluster.IdAt(part, "Box", "far");
            answer = TestCluster.SubmitTo(cluster[root], "Box", near, "Run", new Script([Step.Call(far, Step.Add()), Step.Wait(gate)]), null, timeoutMs: 10_000);
            await gate.Reached();
        }

        var probe = cluster.IdAt(part, "Box", "z");
        cluster.CutCalls(part, root);
        cluster.CutCalls(rescuer, root);
        if (inDoubt)
        {
            gate.Open();
            await Rig.Until(() => cluster[part].Worker.Acts.Values.Any(act => act.IsPrepared), "it has been asked for its vote");
            await Task.Delay(200);
        }

        var hold = new TaskCompletionSource();
        cluster.StoreOf(root).Before = name => name == "Renew" ? hold.Task : Task.CompletedTask;
        await cluster.Kill(part);
        await Rig.Until(() => cluster.Members().Result.Single(member => member.Incarnation.Worker == part).Rescuer.Worker == rescuer, "the other rescues it", 20);
        if (isSilent)
        {
            cluster.Cut(root, rescuer);
            cluster.Cut(rescuer, root);
            cluster.Cut(root, root);
        }

        cluster.StoreOf(root).Before = null;
        hold.SetResult();
        var asked = await TestCluster.SubmitTo(cluster[rescuer], "Box", probe, "Run", new Script([Step.Add()]), null, timeoutMs: 40_000);
        Assert.True(asked.Outcome == Outcome.Committed, TestWorker.Describe(asked));
        _ = answer;
    }

    [Fact]
    public async Task Of_two_dead_workers_the_second_is_rescued_by_whoever_is_free()
    {
        await using var cluster = await TestCluster.Start(4, lease: TimeSpan.FromSeconds(1), types: _ => SnapperRuntimeTestsActors.All);
        var rescuer = 0;
        var hold = new TaskCompletionSource();
        foreach (var worker in (int[])[1, 3, 4])
        {
            // The first that would give actors away is held up, and only it.
            cluster.StoreOf(worker).Before = name =>
                name == nameof(IClusterDirectory.TakeOver) && (Interlocked.CompareExchange(ref rescuer, worker, 0) == 0 || Volatile.Read(ref rescuer) == worker) ? hold.Task : Task.CompletedTask;
        }

        try
        {
            var probes = Enumerable.Range(3, 2).ToDictionary(worker => worker, worker => cluster.IdAt(worker, "Box", "z"));
            await cluster.Kill(2);
            await Rig.Until(() => Volatile.Read(ref rescuer) != 0, "it is rescued", 20);
            var second = rescuer == 3 ? 4 : 3;
            var free = 8 - rescuer - second;
            await cluster.Kill(second);
            var asked = await TestCluster.SubmitTo(cluster[free], "Box", probes[second], "Run", new Script([Step.Add()]), null, timeoutMs: 25_000);
            Assert.True(asked.Outcome == Outcome.Committed, TestWorker.Describe(asked));
        }
        finally
        {
            hold.SetResult();
        }
    }

    [Fact]
    public async Task An_id_that_waits_at_the_master_while_its_root_goes_and_comes_back_runs_once()
    {
        await using var cluster = await TestCluster.Start(4);
        var master = cluster.Master;
        var others = Enumerable.Range(1, 4).Where(worker => worker != master).ToArray();
        var (a, b, c) = (others[0], others[1], others[2]);
        string x = cluster.IdAt(a, "Account", "x"), y = cluster.IdAt(b, "Account", "y");
        var before = await cluster.Total(y);

        // As many global batches are open as may be, since the log of one worker, which has nothing to do with what
        // follows, is away.
        cluster.Logs[c]!.Hold();
        var fillers = new List<Task<TransactionEnvelope>>();
        for (var i = 0; cluster[master].Worker.Cluster!.Master!.Waiting == 0; i++)
        {
            Assert.True(i < 20, "the master's line stays empty");
            fillers.Add(Pay(cluster, master, cluster.IdAt(master, "Account", $"m{i}-"), cluster.IdAt(c, "Account", $"c{i}-"), $"filler-{i}"));
            await Task.Delay(200);
        }

        var first = Pay(cluster, a, x, y, "once");
        await Task.Delay(300);
        Assert.Equal(PlanState.Done, await cluster.Move("there", a, b, new ActorKey("Account", x)));
        await Task.Delay(300);
        var second = await Pay(cluster, b, x, y, "once");
        Assert.True(second.Outcome == Outcome.Committed, TestWorker.Describe(second));
        Assert.Equal(PlanState.Done, await cluster.Move("back", b, a, new ActorKey("Account", x)));
        await Task.Delay(300);
        cluster.Logs[c]!.Release();
        Assert.True((await first).Outcome == Outcome.Committed, TestWorker.Describe(await first));
        await Task.WhenAll(fillers);
        var after = await cluster.Total(y);
        Assert.Equal(before + 1, after);
    }

    [Fact]
    public async Task What_has_come_back_before_its_first_move_was_known_to_be_done_is_not_frozen_for_good()
    {
        await using var cluster = await TestCluster.Start(3);
        var others = Enumerable.Range(1, 3).Where(worker => worker != cluster.Master).ToArray();
        var (a, b) = (others[0], others[1]);
        var actor = new ActorKey("ListAppend", cluster.IdAt(a, "ListAppend"));

        // The answer of the commit is lost, and what a reads of the store is late meanwhile; its lease has a
        // connection and a thread of its own.
        var late = new TaskCompletionSource();
        cluster.StoreOf(a).Before = name => name == FaultyStore.DirectoryRead ? late.Task : Task.CompletedTask;
        cluster.StoreOf(a).After = async name =>
        {
            if (name == "Commit")
            {
                await late.Task;
                cluster.StoreOf(a).After = null;
                throw new IOException("planned");
            }
        };
        var key = DirectoryKey.Of(Partition.Of(actor));
        Assert.Equal(PlanState.Done, await cluster.Move("there", a, b, key));
        await Rig.Until(() => cluster[b].Worker.Cluster!.Ownership.Look(actor).State == OwnershipState.Open, "b has opened it");
        Assert.Equal(PlanState.Done, await cluster.Move("back", b, a, key));
        await Rig.Until(() => cluster[a].Worker.Cluster!.Directory.Find(key.Partition)!.Version > 4097 && cluster[a].Worker.Cluster!.Directory.Resolve(actor) == cluster[a].Worker.Cluster!.Self, "a has heard that it is back");
        late.SetResult();

        // Nothing is wrong any more.
        await Rig.Until(() => cluster[a].Worker.Cluster!.Ownership.Look(actor).State == OwnershipState.Open, "it is let go", 10);
        var asked = await TestCluster.SubmitTo(cluster[b], "ListAppend", actor.Id, "Append", new { value = 1 }, null, timeoutMs: 3000);
        Assert.Empty(cluster.Unexpected);
        Assert.True(asked.Outcome == Outcome.Committed, TestWorker.Describe(asked));
    }

    [Fact]
    public async Task A_commit_that_is_refused_when_it_is_repeated_may_have_been_done_before()
    {
        await using var cluster = await TestCluster.Start(3, types: _ => SnapperRuntimeTestsActors.All);
        var others = Enumerable.Range(1, 3).Where(worker => worker != cluster.Master).ToArray();
        var (a, b) = (others[0], others[1]);
        var actor = new ActorKey("ListAppend", cluster.IdAt(a, "ListAppend"));
        var key = DirectoryKey.Of(Partition.Of(actor));

        // The network around Redis fails for a moment: the answer of the commit is lost, then the server refuses to
        // write until its replica is back. What a reads of the directory is late.
        var late = new TaskCompletionSource();
        var store = cluster.StoreOf(a);
        store.Before = name => name == FaultyStore.DirectoryRead ? late.Task : Task.CompletedTask;
        var refused = 0;
        store.After = name =>
        {
            if (name == "Commit" && Interlocked.Increment(ref refused) == 1)
            {
                store.Refuses = call => call is "Commit" or "Cancel";
                return Task.FromException(new IOException("planned"));
            }

            return Task.CompletedTask;
        };
        Assert.Equal(PlanState.Done, await cluster.Move("there", a, b, key));
        await Rig.Until(() => cluster[b].Worker.Cluster!.Ownership.Look(actor).State == OwnershipState.Open, "b has opened it");
        await Task.Delay(300);
        store.Refuses = null; // the replica is back
        store.After = null;
        var holding = cluster[a].Worker.Cluster!.Ownership.Look(actor);
        var (one, two) = (Append(a, 1), Append(b, 2));
        await Task.WhenAny(Task.WhenAll(one, two), Task.Delay(1000));
        late.SetResult();
        var answers = await Task.WhenAll(one, two);
        await Task.Delay(500);

        var told = answers.Count(envelope => envelope.Outcome == Outcome.Committed);
        var list = await TestCluster.SubmitTo(cluster[b], "ListAppend", actor.Id, "Read", null, null, timeoutMs: 10_000);
        var seen = System.Text.Encoding.UTF8.GetString(list.Result.Span);
        var problem = $"{told} appends were told to be committed, {seen} is there; a held {holding} while the directory named b; a: {TestWorker.Describe(answers[0])}; b: {TestWorker.Describe(answers[1])}; stopped: {string.Join(", ", cluster.Unexpected)}";
        Assert.True(System.Text.Json.JsonDocument.Parse(list.Result).RootElement.GetArrayLength() >= told, problem);
        Assert.True(cluster.Unexpected.Count == 0, problem);
        Assert.True(holding.State != OwnershipState.Open, problem);

        Task<TransactionEnvelope> Append(int worker, int value) =>
            TestCluster.SubmitTo(cluster[worker], "ListAppend", actor.Id, "Append", new { value }, null, key: $"append-{value}", timeoutMs: 5000);
    }

    [Fact]
    public async Task Who_evicts_a_worker_and_waits_for_another_silent_one_evicts_that_one_too()
    {
        await using var cluster = await TestCluster.Start(4, lease: TimeSpan.FromSeconds(1), patience: TimeSpan.FromSeconds(1), types: _ => SnapperRuntimeTestsActors.All);
        var master = cluster.Master;
        var others = Enumerable.Range(1, 4).Where(worker => worker != master).ToArray();
        var (part, root, idle) = (others[0], others[1], others[2]);
        using var gate = new Gate();
        string near = cluster.IdAt(root, "Box"), far = cluster.IdAt(part, "Box", "far"), probe = cluster.IdAt(part, "Box", "z");
        var answer = TestCluster.SubmitTo(cluster[root], "Box", near, "Run", new Script([Step.Call(far, Step.Add()), Step.Wait(gate)]), null, timeoutMs: 10_000);
        await gate.Reached();

        // The vote of the one does not come to the other.
        foreach (var worker in new[] { part, master, idle })
        {
            cluster.CutCalls(worker, root);
        }

        gate.Open();
        await Rig.Until(() => cluster[part].Worker.Acts.Values.Any(act => act.IsPrepared), "it has been asked for its vote");
        await Task.Delay(200);

        // Both are silent from now on, for good; their leases live. The fourth judges neither: it has sent them
        // nothing, or its own end of the road is broken.
        cluster.Cut(idle, idle);
        foreach (var worker in new[] { master, idle, part, root })
        {
            foreach (var silent in new[] { part, root })
            {
                cluster.Cut(worker, silent);
                cluster.Cut(silent, worker);
            }
        }

        var asked = await TestCluster.SubmitTo(cluster[master], "Box", probe, "Run", new Script([Step.Add()]), null, timeoutMs: 40_000);
        var members = await cluster.Members();
        _ = answer;
        Assert.True(
            asked.Outcome == Outcome.Committed,
            $"master {master} part {part} root {root} idle {idle}; {TestWorker.Describe(asked)}; {string.Join(", ", members.Select(member => $"{member.Incarnation} {member.State} {member.Entries} rescued by {member.Rescuer}"))}");
    }

    private static Task<TransactionEnvelope> Pay(TestCluster cluster, int at, string from, string to, string key) => TestCluster.SubmitTo(
        cluster[at], "Account", from, "Transfer", new { to, amount = 1 },
        [new DeclaredAccess(new("Account", from), 1), new DeclaredAccess(new("Account", to), 1)], key, timeoutMs: 30_000);
}
