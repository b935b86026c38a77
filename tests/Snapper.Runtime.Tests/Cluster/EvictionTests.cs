using Snapper.Cluster;
using Snapper.Protocol.Identity;
using Snapper.Runtime.Door;
using Snapper.Runtime.Execution;
using Snapper.Runtime.Tests.Support;
using Snapper.Storage.Membership;
using Xunit;
using Xunit.Abstractions;

namespace Snapper.Runtime.Tests.Cluster;

/// <summary>
/// R5: a worker that cannot be reached although its lease lives is fenced, its actors go to the others, and it
/// recovers as a new life.
/// </summary>
public sealed class EvictionTests(ITestOutputHelper output)
{
    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(1);

    public enum Lost
    {
        Both,
        ToIt,
        FromIt,
    }

    [Theory]
    [InlineData(3, Lost.Both, false)]
    [InlineData(3, Lost.ToIt, false)]
    [InlineData(3, Lost.FromIt, false)]
    [InlineData(3, Lost.Both, true)]
    [InlineData(2, Lost.Both, false)]
    [InlineData(2, Lost.ToIt, false)]
    public async Task A_worker_that_is_cut_off_under_load_is_evicted_and_nothing_is_lost(int workers, Lost lost, bool master)
    {
        await using var cluster = await TestCluster.Start(workers, new WorkerOptions { Executors = 1 }, TimeSpan.FromSeconds(4), patience: s_patience);
        var load = new ListAppendLoad(cluster, new LoadShape(workers + (int)lost, 1000, 12, 24, 60) { MostOperations = 3 });
        var running = load.Run();
        await cluster.UnderWay(load, 200, output);
        var victim = master ? cluster.Master : cluster.Master == 1 ? 2 : 1;
        var life = cluster[victim].Worker.Cluster!.Self;
        output.WriteLine($"w{victim} is cut off, {lost}; the master is w{cluster.Master}");
        for (var other = 1; other <= workers; other++)
        {
            if (other != victim && lost is Lost.Both or Lost.FromIt)
            {
                cluster.Cut(victim, other);
            }

            if (other != victim && lost is Lost.Both or Lost.ToIt)
            {
                cluster.Cut(other, victim);
            }
        }

        await Rig.Until(() => cluster.Failures.Count > 0, $"w{victim} notices that it was evicted", 30);
        Assert.Equal(victim, Assert.Single(cluster.Failures).Worker);
        await cluster[victim].DisposeAsync();
        cluster.Heal();
        await cluster.Open(victim).WaitAsync(TimeSpan.FromSeconds(20));
        await cluster.End(load, running, output, evicted: victim);

        var members = await cluster.Members();
        var evicted = members.Single(member => member.Incarnation.Worker == victim);
        Assert.Equal((1, 0), (evicted.Evictions, evicted.Expirations));
        Assert.Equal(1, members.Sum(member => member.Evictions + member.Expirations));
        Assert.Equal(MemberState.Live, evicted.State);
        Assert.True(evicted.Incarnation.Epoch > life.Epoch);
        var asked = await TestCluster.SubmitTo(cluster[victim], "Account", "anybody", "Balance", null, null);
        Assert.True(asked.Outcome == Outcome.Committed, TestWorker.Describe(asked));
    }

    [Fact]
    public async Task A_master_that_the_others_do_not_reach_is_evicted_by_one_when_it_sees_no_reason_itself()
    {
        await using var cluster = await TestCluster.Start(3, new WorkerOptions { Executors = 1 }, TimeSpan.FromSeconds(4), patience: s_patience);
        var load = new ListAppendLoad(cluster, new LoadShape(3, 1000, 12, 24, 60) { MostOperations = 3 });
        var running = load.Run();
        await cluster.UnderWay(load, 200, output);
        var master = cluster.Master;
        foreach (var other in new[] { 1, 2, 3 }.Where(worker => worker != master))
        {
            cluster.CutCalls(other, master); // their answers arrive, and so the master reaches them; neither can pass on what the other has to say
        }

        await Rig.Until(() => cluster.Failures.Count > 0, $"w{master} notices that it was evicted", 30);
        Assert.Equal(master, Assert.Single(cluster.Failures).Worker);
        cluster.Heal();
        await cluster.End(load, running, output, evicted: master);
        Assert.Equal(1, (await cluster.Members()).Sum(member => member.Evictions));
    }

    [Fact]
    public async Task Who_does_not_reach_itself_evicts_nobody()
    {
        await using var cluster = await TestCluster.Start(2, patience: s_patience);
        var master = cluster.Master;
        await Rig.Until(() => cluster[master].Worker.Cluster!.Gate.Hub.Answered(3 - master) == cluster[3 - master].Worker.Cluster!.Self, "the master has reached the other");
        cluster.CutCalls(master, 3 - master);
        cluster.CutCalls(master, master);
        var hub = cluster[master].Worker.Cluster!.Gate.Hub;
        await Rig.Until(() => hub.Unanswered(3 - master) > s_patience * 4, "the other has been silent for long", 30);
        Assert.Empty(cluster.Failures);
        Assert.Equal(0, (await cluster.Members()).Sum(member => member.Evictions + member.Expirations));
    }

    [Fact]
    public async Task Workers_that_are_idle_are_evicted_by_nobody()
    {
        await using var cluster = await TestCluster.Start(3, patience: TimeSpan.FromMilliseconds(300));
        var hub = cluster[cluster.Master].Worker.Cluster!.Gate.Hub;
        var other = cluster.Master == 1 ? 2 : 1;
        var before = hub.Status().Single(status => status.Worker == other).PacketsSent;
        await Rig.Until(() => hub.Status().Single(status => status.Worker == other).PacketsSent > before + 10, "the master has asked ten times", 30);
        Assert.Empty(cluster.Failures);
        Assert.Equal(0, (await cluster.Members()).Sum(member => member.Evictions + member.Expirations));
    }
}
