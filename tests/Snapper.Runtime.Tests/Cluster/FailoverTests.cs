using Snapper.Protocol.Identity;
using Snapper.Runtime.Door;
using Snapper.Runtime.Hosting;
using Snapper.Runtime.Tests.Support;
using Snapper.Testing.Serializability;
using Xunit;
using Xunit.Abstractions;

namespace Snapper.Runtime.Tests.Cluster;

/// <summary>Promise 2 over several workers: workers and masters die under load, and others go on (R2 to R4).</summary>
public sealed class FailoverTests(ITestOutputHelper output)
{
    [Theory]
    [InlineData(2, 50, false)]
    [InlineData(3, 50, false)]
    [InlineData(3, 100, true)]
    [InlineData(3, 0, false)]
    [InlineData(3, 50, true)]
    public async Task A_worker_that_dies_under_load_is_taken_over_and_nothing_is_lost(int workers, int pactPercent, bool master)
    {
        await using var cluster = await TestCluster.Start(workers, new WorkerOptions { Executors = 1 }, TimeSpan.FromSeconds(1));
        var load = new ListAppendLoad(cluster, new LoadShape(pactPercent + workers, 1200, 12, 24, pactPercent) { MostOperations = 3 });
        var running = load.Run();
        await UnderWay(cluster, () => load.History.Count > 300);
        var victim = master ? cluster.Master : cluster.Master == 1 ? 2 : 1;
        output.WriteLine($"w{victim} dies");
        await cluster.Kill(victim);
        await End(cluster, load, running, workers);
        for (var key = 0; key < 24; key++)
        {
            Assert.NotEqual(victim, cluster.OwnerOf("ListAppend", "k" + key).Worker.Options.Number);
        }
    }

    [Theory]
    [InlineData(50, false)]
    [InlineData(100, true)]
    public async Task A_worker_that_dies_under_load_and_comes_back_at_once_keeps_its_actors(int pactPercent, bool master)
    {
        await using var cluster = await TestCluster.Start(3, new WorkerOptions { Executors = 1 }, TimeSpan.FromSeconds(2));
        var load = new ListAppendLoad(cluster, new LoadShape(pactPercent, 1200, 12, 24, pactPercent) { MostOperations = 3 });
        var running = load.Run();
        for (var round = 0; round < 2; round++)
        {
            var before = load.History.Count;
            await UnderWay(cluster, () => load.History.Count > before + 200);
            var victim = master ? cluster.Master : cluster.Master == 1 ? 2 : 1;
            output.WriteLine($"w{victim} dies, and comes back");
            await cluster.Kill(victim);
            await cluster.Open(victim).WaitAsync(TimeSpan.FromSeconds(15));
        }

        await End(cluster, load, running, 3);
    }

    private async Task UnderWay(TestCluster cluster, Func<bool> isUnderWay)
    {
        try
        {
            await Rig.Until(isUnderWay, "the load is under way", 20);
        }
        catch (TimeoutException)
        {
            output.WriteLine(await cluster.Describe());
            throw;
        }
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task Logs_are_kept_for_the_dead_only_until_their_streams_are_resolved(bool comesBack)
    {
        await using var cluster = await TestCluster.Start(3, new WorkerOptions { Executors = 1 }, TimeSpan.FromSeconds(1));
        var load = new ListAppendLoad(cluster, new LoadShape(3, 1500, 12, 24, 0) { MostOperations = 3 });
        var running = load.Run();
        await UnderWay(cluster, () => load.History.Count > 300);
        var victim = cluster.Master == 1 ? 2 : 1;
        for (var other = 1; other <= 3; other++)
        {
            if (other != victim)
            {
                cluster.Cut(victim, other); // its votes have come, what it says of its markers is lost
            }
        }

        await Rig.Until(() => Others().Any(worker => cluster[worker].Worker.Cluster!.Decisions.Unmarked > 0), "somebody waits for a marker", 10);
        await cluster.Kill(victim);
        cluster.Heal();
        if (comesBack)
        {
            await cluster.Open(victim).WaitAsync(TimeSpan.FromSeconds(15));
        }

        await End(cluster, load, running, 3);
        await Rig.Until(() => Others().All(worker => cluster[worker].Worker.Cluster!.Decisions.Unmarked == 0), "nobody waits for markers any more", 20);
        IEnumerable<int> Others() => Enumerable.Range(1, 3).Where(worker => worker != victim);
    }

    private async Task End(TestCluster cluster, ListAppendLoad load, Task running, int workers)
    {
        try
        {
            if (await Task.WhenAny(running, Task.Delay(TimeSpan.FromSeconds(20))) != running)
            {
                output.WriteLine(await cluster.Describe());
                Assert.Fail("The load does not come to its end.");
            }

            await running;
        }
        finally
        {
            foreach (var (outcome, count) in load.Outcomes.OrderBy(o => o.Key))
            {
                output.WriteLine($"{outcome}: {count}");
            }

            foreach (var (worker, failure) in cluster.Failures)
            {
                output.WriteLine($"w{worker} failed: {failure}");
            }
        }

        Assert.Empty(cluster.Unexpected);
        var report = SerializabilityChecker.Check(load.History);
        Assert.True(report.Passed, report.ToString());
    }
}
