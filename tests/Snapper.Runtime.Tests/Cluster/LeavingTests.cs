using Snapper.Runtime.Door;
using Snapper.Runtime.Hosting;
using Snapper.Runtime.Inspection;
using Snapper.Runtime.Tests.Support;
using Xunit;

namespace Snapper.Runtime.Tests.Cluster;

/// <summary>Workers that go for good.</summary>
public sealed class LeavingTests
{
    [Fact]
    public async Task A_worker_that_owns_nothing_has_left_when_it_is_stopped_and_its_outcomes_are_found()
    {
        await using var cluster = await TestCluster.Start(2);
        var id = cluster.IdAt(2, "Account");
        var first = await cluster.Submit("Account", id, "TransactSavings", new { amount = 5 }, null, key: "once");
        Assert.Equal(Outcome.Committed, first.Outcome);
        var control = cluster[1].Control!;
        await control.Migrate(new MigrationAsk("drain", null, null, "w2", null, "it leaves", false), CancellationToken.None);
        await Rig.Until(() => StateOf(control, "w2").Entries == 0, "w2 owns nothing", 20);

        await cluster[2].Stop();

        Assert.Equal("left", StateOf(control, "w2").State);
        Assert.Equal(first.Transaction, (await cluster[1].Door.Find("once", CancellationToken.None))?.Transaction);
        var again = await TestCluster.SubmitTo(cluster[1], "Account", id, "TransactSavings", new { amount = 5 }, null, key: "once");
        Assert.Equal((first.Outcome, first.Transaction), (again.Outcome, again.Transaction));
    }

    [Fact]
    public async Task A_worker_that_owns_something_has_not_left_when_it_is_stopped()
    {
        await using var cluster = await TestCluster.Start(2);

        await cluster[2].Stop();

        Assert.NotEqual("left", StateOf(cluster[1].Control!, "w2").State);
    }

    private static ClusterWorkerView StateOf(IClusterControl control, string worker) =>
        control.Workers(CancellationToken.None).GetAwaiter().GetResult().Single(view => view.Worker == worker);
}
