using Snapper.Cluster;
using Snapper.Cluster.Control;
using Snapper.Contracts;
using Snapper.Protocol.Identity;
using Snapper.Runtime.Door;
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

    /// <summary>Its lease is not renewed any more then, and a log that is slow takes longer.</summary>
    [Fact]
    public async Task A_worker_that_is_fenced_while_it_flushes_at_its_end_stops_in_order()
    {
        await using var cluster = await TestCluster.Start(2, lease: TimeSpan.FromMilliseconds(500));
        var log = cluster.Logs[1]!;
        log.Hold();
        var asked = TestCluster.SubmitTo(
            cluster[1], "Account", cluster.IdAt(1, "Account"), "TransactSavings", new { amount = 5 }, null, key: "k");
        await Rig.Until(() => log.Held > 0, "its record is on its way");

        var stopping = cluster[1].Stop();
        await Rig.Until(() => StateOf(cluster[2].Control!, "w1").State == "fenced", "w2 takes over", 20);
        log.Release();

        await stopping.WaitAsync(TimeSpan.FromSeconds(10));
        Assert.Equal(Outcome.InDoubt, (await asked).Outcome);
    }

    [Fact]
    public async Task A_worker_leaves_when_it_owns_nothing_and_nothing_is_given_to_it_from_then_on()
    {
        await using var cluster = await TestCluster.Start(2);
        var (one, two) = (cluster[1].Control!, cluster[2].Control!);
        Assert.Equal($"the directory still names worker w2 in {Partition.Count / 2} entries", await two.Leave(CancellationToken.None));
        var served = await TestCluster.SubmitTo(cluster[2], "Account", "a", "TransactSavings", new { amount = 5 }, null);
        Assert.Equal(Outcome.Committed, served.Outcome); // it has not left
        await one.Migrate(new MigrationAsk("drain", null, null, "w2", null, "it leaves", false), CancellationToken.None);
        await Rig.Until(() => StateOf(one, "w2").Entries == 0, "w2 owns nothing", 20);

        Assert.Null(await two.Leave(CancellationToken.None));
        Assert.Null(await two.Leave(CancellationToken.None)); // asked again

        Assert.Equal("left", StateOf(one, "w2").State);
        await Rig.Until(() => Refusal(one).Length > 0, "w1 knows that w2 does not live");
        Assert.Equal("There is no worker w2 that lives.", Refusal(one));
        await OutlivesItsLease(cluster);
        var refused = await TestCluster.SubmitTo(cluster[2], "Account", "a", "TransactSavings", new { amount = 5 }, null);
        Assert.Equal((Outcome.Rejected, "The worker is leaving."), (refused.Outcome, refused.Rejection?.Detail));
    }

    [Fact]
    public async Task A_worker_whose_leaving_is_answered_too_late_has_left_and_does_not_fail()
    {
        await using var cluster = await TestCluster.Start(2);
        await GiveAway(cluster);
        var lost = 0;
        cluster.StoreOf(2).After = name =>
            name == "Leave" && lost++ == 0 ? Task.FromException(new IOException("planned")) : Task.CompletedTask;

        Assert.Null(await cluster[2].Control!.Leave(CancellationToken.None));
        Assert.Equal("left", StateOf(cluster[1].Control!, "w2").State);
        await OutlivesItsLease(cluster);
    }

    [Fact]
    public async Task A_worker_whose_caller_goes_away_while_it_leaves_has_left_and_does_not_fail()
    {
        await using var cluster = await TestCluster.Start(2);
        await GiveAway(cluster);
        using var gone = new CancellationTokenSource();
        var lost = 0;
        cluster.StoreOf(2).After = name =>
        {
            if (name != "Leave" || lost++ > 0)
            {
                return Task.CompletedTask;
            }

            gone.Cancel();
            return Task.FromException(new IOException("planned"));
        };

        try
        {
            await cluster[2].Control!.Leave(gone.Token);
        }
        catch (OperationCanceledException)
        {
            // Who has asked hears no answer.
        }

        Assert.Equal("left", StateOf(cluster[1].Control!, "w2").State);
        await OutlivesItsLease(cluster);
    }

    [Fact]
    public async Task A_worker_that_was_asked_to_leave_twice_and_left_the_second_time_does_not_fail()
    {
        await using var cluster = await TestCluster.Start(2);
        var asked = 0;
        var held = new TaskCompletionSource();
        cluster.StoreOf(2).After = name => name == "Leave" && asked++ == 0 ? held.Task : Task.CompletedTask;
        var first = cluster[2].Control!.Leave(CancellationToken.None); // it still owns something
        await Rig.Until(() => asked > 0, "the first answer is on its way");
        await GiveAway(cluster);
        Assert.Null(await cluster[2].Control!.Leave(CancellationToken.None));

        held.SetResult();
        Assert.NotNull(await first);
        Assert.Equal("The worker is leaving.", cluster[2].Worker.Unavailability);
        await OutlivesItsLease(cluster);
    }

    [Fact]
    public async Task A_worker_that_leaves_before_it_has_said_what_moved_last_does_not_fail()
    {
        await using var cluster = await TestCluster.Start(2);
        var held = new TaskCompletionSource();
        cluster.StoreOf(2).After = name =>
            name == "Commit" && StateOf(cluster[1].Control!, "w2").Entries == 0 ? held.Task : Task.CompletedTask;
        await GiveAway(cluster);
        Assert.Null(await cluster[2].Control!.Leave(CancellationToken.None));
        await Rig.Until(() => cluster[1].Worker.Cluster!.Gate.Hub.Known(2).IsNone, "w1 knows that w2 has left");

        held.SetResult();
        var hub = cluster[2].Worker.Cluster!.Gate.Hub;
        await Rig.Until(
            () => hub.Status().Single().MessagesDropped > 0 || cluster[2].Failure is not null, "w1 takes none of it");
        await Task.Delay(100);
        Assert.Null(cluster[2].Failure);
        Assert.Equal("left", StateOf(cluster[1].Control!, "w2").State);
    }

    private static async Task OutlivesItsLease(TestCluster cluster)
    {
        await Task.Delay(cluster.Options.Lease); // a renewal would fail it
        Assert.Null(cluster[2].Failure);
    }

    private static async Task GiveAway(TestCluster cluster)
    {
        var control = cluster[1].Control!;
        var drain = new MigrationAsk("drain", null, null, "w2", null, "it leaves", false);
        await control.Migrate(drain, CancellationToken.None);
        await Rig.Until(() => StateOf(control, "w2").Entries == 0, "w2 owns nothing", 20);
    }

    private static string Refusal(IClusterControl control)
    {
        try
        {
            control.Migrate(new MigrationAsk("back", null, [7], null, "w2", "", DryRun: true), CancellationToken.None).GetAwaiter().GetResult();
            return "";
        }
        catch (MigrationRefusedException refused)
        {
            return refused.Message;
        }
    }

    private static ClusterMember StateOf(IClusterControl control, string worker) =>
        control.Workers(CancellationToken.None).GetAwaiter().GetResult().Single(view => view.Worker == worker);
}
