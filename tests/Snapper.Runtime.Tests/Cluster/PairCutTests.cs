using Snapper.Cluster;
using Snapper.Cluster.Control;
using Snapper.Cluster.Mailboxes;
using Snapper.Protocol.Channels;
using Snapper.Runtime.Door;
using Snapper.Runtime.Tests.Support;
using Snapper.Storage.Log.Writing;
using Snapper.Storage.Membership;
using Xunit;
using Xunit.Abstractions;

namespace Snapper.Runtime.Tests.Cluster;

/// <summary>
/// Two workers that live and do not reach each other: nobody waits for that, neither one that recovers nor one that
/// runs, and nobody is evicted for it while a third one reaches both.
/// </summary>
public sealed class PairCutTests(ITestOutputHelper output)
{
    [Fact]
    public async Task A_worker_that_recovers_learns_what_is_in_doubt_from_a_root_that_it_does_not_reach()
    {
        await using var cluster = await TestCluster.Start(3, types: _ => SnapperRuntimeTestsActors.All);
        var (root, part) = Others(cluster);
        using var gate = new Gate();
        var answer = await LeaveInDoubt(cluster, root, part, gate);
        var probe = cluster.IdAt(part, "Box", "z");
        await cluster.Kill(part);
        await cluster.Open(part).WaitAsync(TimeSpan.FromSeconds(20));
        var asked = await TestCluster.SubmitTo(cluster[cluster.Master], "Box", probe, "Run", new Script([Step.Add()]), null, timeoutMs: 5000);
        Assert.True(asked.Outcome == Outcome.Committed, TestWorker.Describe(asked));
        Assert.True((await answer).Outcome is Outcome.Committed or Outcome.Aborted);
        Assert.Empty(cluster.Unexpected);
        await NobodyWasFenced(cluster);
    }

    [Fact]
    public async Task A_worker_that_recovers_and_can_ask_nobody_gives_its_actors_up()
    {
        await using var cluster = await TestCluster.Start(2, lease: TimeSpan.FromSeconds(1), patience: TimeSpan.FromMinutes(1), types: _ => SnapperRuntimeTestsActors.All);
        using var gate = new Gate();
        var answer = await LeaveInDoubt(cluster, 1, 2, gate);
        var probe = cluster.IdAt(2, "Box", "z");
        await cluster.Kill(2);
        var failed = await Assert.ThrowsAsync<LogLostException>(() => cluster.Open(2).WaitAsync(TimeSpan.FromSeconds(30)));
        Assert.Contains("has given its actors up", failed.Message, StringComparison.Ordinal);
        var asked = await TestCluster.SubmitTo(cluster[1], "Box", probe, "Run", new Script([Step.Add()]), null, timeoutMs: 20_000);
        Assert.True(asked.Outcome == Outcome.Committed, TestWorker.Describe(asked));
        await answer;
        var two = (await cluster.Members()).Single(member => member.Incarnation.Worker == 2);
        Assert.Equal((0, MemberState.Fenced), (two.Entries, two.State));
        cluster.Heal();
        await cluster.Open(2).WaitAsync(TimeSpan.FromSeconds(20)); // nothing is in doubt any more
    }

    [Fact]
    public async Task A_worker_that_gives_its_actors_up_comes_back_behind_the_rescue_however_long_that_takes()
    {
        await using var cluster = await TestCluster.Start(
            2, lease: TimeSpan.FromMilliseconds(500), patience: TimeSpan.FromMinutes(1),
            types: _ => SnapperRuntimeTestsActors.All);
        using var gate = new Gate();
        var answer = await LeaveInDoubt(cluster, 1, 2, gate);
        await cluster.Kill(2);
        var (reached, held) = (new TaskCompletionSource(), new TaskCompletionSource());
        cluster.StoreOf(1).Before = name =>
        {
            if (name != "TakeOver" || cluster.Logged.Lines.All(line => line.Id != 1032)) // it gives up
            {
                return Task.CompletedTask;
            }

            reached.TrySetResult();
            return held.Task;
        };
        var opened = Record.ExceptionAsync(() => cluster.Open(2));
        await reached.Task.WaitAsync(TimeSpan.FromSeconds(30));
        var isEarly = await Task.WhenAny(opened, Task.Delay(TimeSpan.FromSeconds(4))) == opened;
        var entries = await Entries();
        held.SetResult();
        Assert.False(isEarly, $"it has ended, and owns {entries} entries that are being taken over");
        Assert.IsType<LogLostException>(await opened.WaitAsync(TimeSpan.FromSeconds(20)));
        Assert.Equal(0, await Entries());
        await answer;

        async Task<long> Entries() =>
            (await cluster.Members()).Single(member => member.Incarnation.Worker == 2).Entries;
    }

    [Fact]
    public async Task Of_two_workers_that_wait_for_each_other_while_they_recover_one_goes_on()
    {
        await using var cluster = await TestCluster.Start(2, lease: TimeSpan.FromSeconds(1), patience: TimeSpan.FromMinutes(1), types: _ => SnapperRuntimeTestsActors.All);
        using Gate gateOfOne = new(), gateOfTwo = new();
        var answers = new[] { Across(cluster, 1, 2, gateOfOne), Across(cluster, 2, 1, gateOfTwo) };
        await gateOfOne.Reached();
        await gateOfTwo.Reached();
        cluster.Logs[1]!.Hold();
        cluster.Logs[2]!.Hold();
        gateOfOne.Open();
        gateOfTwo.Open();
        await Rig.Until(() => new[] { 1, 2 }.All(worker => cluster[worker].Worker.Acts.Values.Any(act => act.IsPrepared)), "both have been asked for their votes");
        cluster.Cut(1, 2);
        cluster.Cut(2, 1);
        cluster.Logs[1]!.Release();
        cluster.Logs[2]!.Release();
        await Task.Delay(300); // their records are durable; their votes do not come
        string[] probes = [cluster.IdAt(1, "Box", "z"), cluster.IdAt(2, "Box", "z")];
        await Task.WhenAll(cluster.Kill(1), cluster.Kill(2));
        await Task.WhenAll(answers);

        var opened = await Task.WhenAll(new[] { 1, 2 }.Select(TryOpen)).WaitAsync(TimeSpan.FromSeconds(60));
        Assert.Equal([false, true], opened);
        foreach (var probe in probes)
        {
            var asked = await TestCluster.SubmitTo(cluster[2], "Box", probe, "Run", new Script([Step.Add()]), null, timeoutMs: 20_000);
            Assert.True(asked.Outcome == Outcome.Committed, TestWorker.Describe(asked));
        }

        cluster.Heal();
        await cluster.Open(1).WaitAsync(TimeSpan.FromSeconds(20));

        async Task<bool> TryOpen(int worker)
        {
            try
            {
                await cluster.Open(worker);
                return true;
            }
            catch (LogLostException lost)
            {
                Assert.Contains("has given its actors up", lost.Message, StringComparison.Ordinal);
                return false;
            }
        }
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task Transactions_of_a_pair_that_is_cut_commit_by_way_of_a_third_worker(bool bothWays)
    {
        await using var cluster = await TestCluster.Start(3);
        var (one, two) = Others(cluster);
        await Transfer(cluster, one, two, "before");
        var waiting = Load(cluster, one, two, "during the cut");
        cluster.Cut(one, two);
        if (bothWays)
        {
            cluster.Cut(two, one);
        }

        await Task.WhenAll(waiting.Concat(Load(cluster, one, two, "after the cut"))).WaitAsync(TimeSpan.FromSeconds(30));
        Assert.Equal(cluster.Master, cluster[one].Worker.Cluster!.Gate.Hub.Status().Single(status => status.Worker == two).Via);
        await NobodyWasFenced(cluster);

        cluster.Heal();
        for (var tries = 0; cluster[one].Worker.Cluster!.Gate.Hub.Status().Single(status => status.Worker == two).Via != 0; tries++)
        {
            Assert.True(tries < 300, "the direct road is not used again");
            await Transfer(cluster, one, two, "healed");
            await Task.Delay(50);
        }

        Assert.Empty(cluster.Unexpected);
    }

    [Fact]
    public async Task Parts_that_the_master_does_not_reach_are_decided_and_nobody_is_evicted()
    {
        await using var cluster = await TestCluster.Start(3);
        var master = cluster.Master;
        var other = master == 1 ? 2 : 1;
        await Transfer(cluster, master, other, "before");
        cluster.Cut(master, other);
        cluster.Cut(other, master);
        await Task.WhenAll(Load(cluster, other, master, "cut")).WaitAsync(TimeSpan.FromSeconds(30));
        await Task.Delay(TimeSpan.FromSeconds(4)); // longer than the patience with workers that cannot be reached
        await Task.WhenAll(Load(cluster, master, other, "cut for long")).WaitAsync(TimeSpan.FromSeconds(30));
        Assert.Equal(master, cluster.Master);
        Assert.Empty(cluster.Unexpected);
        await NobodyWasFenced(cluster);
    }

    [Fact]
    public async Task When_the_worker_in_between_dies_another_one_takes_its_place()
    {
        await using var cluster = await TestCluster.Start(4);
        var (one, two) = Others(cluster);
        cluster.Cut(one, two);
        cluster.Cut(two, one);
        await Task.WhenAll(Load(cluster, one, two, "cut")).WaitAsync(TimeSpan.FromSeconds(30));
        var via = cluster[one].Worker.Cluster!.Gate.Hub.Status().Single(status => status.Worker == two).Via;
        output.WriteLine($"the master is w{cluster.Master}; w{one} and w{two} are cut, by way of w{via}");
        await cluster.Kill(via);
        await Task.WhenAll(Load(cluster, one, two, "without it")).WaitAsync(TimeSpan.FromSeconds(60));
        Assert.NotEqual(via, cluster[one].Worker.Cluster!.Gate.Hub.Status().Single(status => status.Worker == two).Via);
        Assert.Empty(cluster.Unexpected);
    }

    [Fact]
    public async Task A_worker_whose_packets_are_not_taken_goes_on_and_refuses_what_would_have_to_go_there()
    {
        var small = new MailboxOptions { AnswerTimeout = TimeSpan.FromMilliseconds(200), Limits = new ChannelLimits { FullBytes = 1000, QueueBytes = 2000 } };
        await using var cluster = await TestCluster.Start(2, patience: TimeSpan.FromMinutes(1), mailboxes: small);
        string near = cluster.IdAt(2, "Account"), far = cluster.IdAt(1, "Account");
        await Transfer(cluster, 2, 1, "before");
        cluster.CutCalls(1, 2); // what w2 sends arrives at w1; of w1's messages none does
        var waiting = new List<Task<TransactionEnvelope>>();
        var hub = cluster[1].Worker.Cluster!.Gate.Hub;
        for (var i = 0; hub.Overfull(2) == TimeSpan.Zero; i++)
        {
            Assert.True(i < 2000, "no more is queued than the limit");
            await Task.Delay(2);
            waiting.Add(TestCluster.SubmitTo(cluster[2], "Account", cluster.IdAt(2, "Account", $"n{i}-"), "Transfer", new { to = cluster.IdAt(1, "Account", $"r{i}-"), amount = 1 }, null, $"full-{i}"));
        }

        var refused = await TestCluster.SubmitTo(cluster[1], "Account", near, "Balance", null, null, timeoutMs: 3000);
        Assert.Equal(RejectionKind.Overloaded, refused.Rejection?.Kind);
        var own = await TestCluster.SubmitTo(cluster[1], "Account", far, "Balance", null, null, timeoutMs: 3000);
        Assert.True(own.Outcome == Outcome.Committed, TestWorker.Describe(own));
        cluster.Heal();
        foreach (var answer in await Task.WhenAll(waiting).WaitAsync(TimeSpan.FromSeconds(60)))
        {
            Assert.True(answer.Outcome == Outcome.Committed || answer.Abort?.Reason == Snapper.Protocol.Messages.AbortReason.Overloaded, TestWorker.Describe(answer));
        }

        await Rig.Until(() => hub.QueuedBytes(2) == 0 && cluster[2].Worker.Cluster!.Gate.Hub.QueuedBytes(1) == 0, "everything is taken");
        await Transfer(cluster, 2, 1, "after");
        Assert.Empty(cluster.Failures);
        await NobodyWasFenced(cluster);
    }

    [Fact]
    public async Task A_worker_that_owns_nothing_and_takes_nothing_is_evicted_before_refusals_pile_up()
    {
        var small = new MailboxOptions { AnswerTimeout = TimeSpan.FromMilliseconds(200), Limits = new ChannelLimits { FullBytes = 1000, QueueBytes = 2000 } };
        await using var cluster = await TestCluster.Start(2, patience: TimeSpan.FromSeconds(1), mailboxes: small);
        var master = cluster.Master;
        var other = 3 - master;
        await cluster[master].Control!.Migrate(new MigrationAsk("drain", null, null, $"w{other}", $"w{master}", "it owns nothing", false), CancellationToken.None);
        await Rig.Until(() => cluster.Members().Result.Single(member => member.Incarnation.Worker == other).Entries == 0, "it owns nothing", 30);
        var far = cluster.IdAt(master, "Account");
        await TestCluster.SubmitTo(cluster[other], "Account", far, "Balance", null, null);
        cluster.CutCalls(master, other); // what it sends arrives; nothing that it is sent does
        var until = DateTime.UtcNow.AddSeconds(20);
        while ((await cluster.Members()).Single(member => member.Incarnation.Worker == other).Evictions == 0)
        {
            var queued = cluster[master].Worker.Cluster!.Gate.Hub.QueuedBytes(other);
            Assert.True(DateTime.UtcNow < until, $"{queued} bytes wait for it, and it is not evicted");
            await Task.Delay(5);
            _ = TestCluster.SubmitTo(cluster[other], "Account", far, "Balance", null, null, timeoutMs: 500);
        }

        await Rig.Until(() => cluster[master].Worker.Cluster!.Gate.Hub.QueuedBytes(other) == 0, "what waited is dropped");
        Assert.All(cluster.Failures, failure => Assert.Equal(other, failure.Worker));
    }

    /// <summary>Two workers that are not master.</summary>
    private static (int One, int Two) Others(TestCluster cluster)
    {
        var others = Enumerable.Range(1, cluster.Workers).Where(worker => worker != cluster.Master).ToArray();
        return (others[0], others[1]);
    }

    private static async Task NobodyWasFenced(TestCluster cluster) =>
        Assert.Equal(0, (await cluster.Members()).Sum(member => member.Evictions + member.Expirations));

    /// <summary>An ACT with a part on another worker that waits at a gate before it ends.</summary>
    private static Task<TransactionEnvelope> Across(TestCluster cluster, int root, int part, Gate gate)
    {
        string near = cluster.IdAt(root, "Box"), far = cluster.IdAt(part, "Box", "far");
        return TestCluster.SubmitTo(cluster[root], "Box", near, "Run", new Script([Step.Call(far, Step.Add()), Step.Wait(gate)]), null, timeoutMs: 10_000);
    }

    /// <summary>
    /// One has voted for an ACT of the other, which has not heard of it; then they do not reach each other.
    /// </summary>
    private static async Task<Task<TransactionEnvelope>> LeaveInDoubt(TestCluster cluster, int root, int part, Gate gate)
    {
        var answer = Across(cluster, root, part, gate);
        await gate.Reached();
        cluster.CutCalls(part, root); // its vote does not come
        gate.Open();
        await Rig.Until(() => cluster[part].Worker.Acts.Values.Any(act => act.IsPrepared), "it has been asked for its vote");
        await Task.Delay(200); // its record is durable
        cluster.Cut(part, root);
        cluster.Cut(root, part);
        return answer;
    }

    private static List<Task> Load(TestCluster cluster, int one, int two, string when)
    {
        var load = new List<Task>();
        for (var i = 0; i < 5; i++)
        {
            load.Add(Transfer(cluster, one, two, $"{when} {i}"));
            load.Add(Transfer(cluster, two, one, $"{when} {i}"));
        }

        return load;
    }

    /// <summary>An ACT and a PACT over two workers, with accounts of their own.</summary>
    private static async Task Transfer(TestCluster cluster, int from, int to, string when)
    {
        var prefix = $"{when}-{from}-";
        string one = cluster.IdAt(from, "Account", prefix), two = cluster.IdAt(to, "Account", prefix);
        var act = await TestCluster.SubmitTo(cluster[from], "Account", one, "Transfer", new { to = two, amount = 1 }, null, timeoutMs: 20_000);
        Assert.True(act.Outcome == Outcome.Committed, $"{when}: {TestWorker.Describe(act)}");
        var pact = await TestCluster.SubmitTo(
            cluster[from], "Account", one, "Transfer", new { to = two, amount = 1 }, [new DeclaredAccess(new("Account", one), 1), new DeclaredAccess(new("Account", two), 1)], timeoutMs: 20_000);
        Assert.True(pact.Outcome == Outcome.Committed, $"{when}: {TestWorker.Describe(pact)}");
    }
}
