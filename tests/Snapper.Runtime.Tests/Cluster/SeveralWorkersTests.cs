using Snapper.Protocol.Identity;
using Snapper.Runtime.Door;
using Snapper.Runtime.Execution;
using Snapper.Judging.Serializability;
using Xunit;
using Xunit.Abstractions;

namespace Snapper.Runtime.Tests.Cluster;

/// <summary>
/// Promise 1 over several workers of one process: calls, global batches and two-phase commits, judged from outside.
/// </summary>
public sealed class SeveralWorkersTests(ITestOutputHelper output)
{
    [Fact]
    public async Task A_pact_over_two_workers_commits_on_both()
    {
        await using var cluster = await TestCluster.Start(2);
        string one = cluster.IdAt(1, "Account"), two = cluster.IdAt(2, "Account");
        var moved = await cluster.Submit("Account", one, "Transfer", new { to = two, amount = 10 }, [new(new ActorKey("Account", one), 1), new(new ActorKey("Account", two), 1)]);
        Assert.True(moved.Outcome == Outcome.Committed, TestWorker.Describe(moved));
        Assert.Equal(await cluster.Total(one) + 20, await cluster.Total(two));
    }

    [Fact]
    public async Task An_act_over_two_workers_commits_on_both()
    {
        await using var cluster = await TestCluster.Start(2);
        string one = cluster.IdAt(1, "Account"), two = cluster.IdAt(2, "Account");
        var moved = await cluster.Submit("Account", one, "Transfer", new { to = two, amount = 10 }, null);
        Assert.True(moved.Outcome == Outcome.Committed, TestWorker.Describe(moved));
        Assert.Equal(await cluster.Total(one) + 20, await cluster.Total(two));
    }

    [Fact]
    public async Task An_act_that_is_recorded_names_what_it_touched_on_all_workers_and_the_pact_declared_so_commits()
    {
        await using var cluster = await TestCluster.Start(3);
        string one = cluster.IdAt(1, "Account"), two = cluster.IdAt(2, "Account"), three = cluster.IdAt(3, "Account");
        var input = new { to = new[] { two, three, two }, amount = 1 };
        var recorded = await TestCluster.SubmitTo(cluster[2], "Account", one, "MultiTransfer", input, null, accessMode: AccessMode.Record);
        Assert.True(recorded.Outcome == Outcome.Committed, TestWorker.Describe(recorded));
        Assert.Equal(
            new[] { (one, 1), (two, 2), (three, 1) }.Order(), recorded.Touched!.Select(access => (access.Actor.Id, access.Calls)).Order());

        var declared = await cluster.Submit("Account", one, "MultiTransfer", input, recorded.Touched);
        Assert.True(declared.Outcome == Outcome.Committed, TestWorker.Describe(declared));
    }

    [Theory]
    [InlineData(2, 100, 1, 1)]
    [InlineData(2, 0, 1, 1)]
    [InlineData(2, 50, 1, 1)]
    [InlineData(3, 50, 2, 2)]
    [InlineData(3, 80, 1, 1, true)]
    [InlineData(4, 90, 2, 1)]
    public async Task Mixed_transactions_over_several_workers_are_strictly_serializable(int workers, int pactPercent, int executors, int coordinators, bool unmarked = false)
    {
        await using var cluster = await TestCluster.Start(workers, new WorkerOptions { Executors = executors, Coordinators = coordinators, MarkMethodsThatFail = !unmarked });
        for (var worker = 1; unmarked && worker <= workers; worker++)
        {
            cluster[worker].Worker.FindType("ListAppend")!.Find("Execute")!.Marked = false;
        }

        var load = new ListAppendLoad(cluster, new LoadShape(pactPercent + executors, 2000, 16, 8, pactPercent) { MisdeclaredPercent = 10 });
        try
        {
            await load.Run();
        }
        finally
        {
            foreach (var (outcome, count) in load.Outcomes.OrderBy(o => o.Key))
            {
                output.WriteLine($"{outcome}: {count}");
            }

            for (var worker = 1; worker <= workers; worker++)
            {
                output.WriteLine($"w{worker}: {cluster[worker].Inspection.Status()} {string.Join(" ", cluster[worker].Inspection.Status().RepeatsByReason)}");
            }

            foreach (var (worker, failure) in cluster.Failures)
            {
                output.WriteLine($"w{worker} failed: {failure}");
            }
        }

        Assert.Empty(cluster.Failures);
        var report = SerializabilityChecker.Check(load.History);
        Assert.True(report.Passed, report.ToString());
        Assert.Equal(0, load.Outcomes.GetValueOrDefault("act InDoubt") + load.Outcomes.GetValueOrDefault("pact InDoubt"));
    }
}
