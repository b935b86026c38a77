using Snapper.Cluster;
using Snapper.Protocol.Directory;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Transactions;
using Snapper.Runtime.Door;
using Snapper.Runtime.Execution;
using Snapper.Runtime.Tests.Support;
using Snapper.Storage.MigrationPlans;
using Xunit;

namespace Snapper.Runtime.Tests.Cluster;

/// <summary>
/// What is said of an id whose requests meet each other: sent again while an earlier sending ends, or its worker does
/// (I1, I2).
/// </summary>
public sealed class MeetingIdsTests
{
    /// <summary>
    /// I1, I2: a generated id that was answered in doubt runs once, though its root went and came back while its
    /// request waited.
    /// </summary>
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_generated_id_that_was_answered_in_doubt_runs_once_when_its_root_went_and_came_back(bool pact)
    {
        await using var cluster =
            await TestCluster.Start(2, lease: TimeSpan.FromSeconds(20), patience: TimeSpan.FromSeconds(60));
        var x = new ActorKey("ListAppend", cluster.IdAt(1, "ListAppend"));
        DeclaredAccess[]? access = pact ? [new(x, 1)] : null;
        var one = cluster[1].Worker;

        // It is about to move: frozen, and its plan not yet committed.
        var hold = new TaskCompletionSource();
        cluster.StoreOf(1).Before = name => name == "Commit" ? hold.Task : Task.CompletedTask;
        var there = cluster.Move("there", 1, 2, x);
        await Rig.Until(() => one.Cluster!.Ownership.Look(x).State == OwnershipState.Frozen, "it is frozen", 20);

        // A request without an id waits for it.
        var first =
            TestCluster.SubmitTo(cluster[1], "ListAppend", x.Id, "Append", new { value = 1 }, access, key: null,
            timeoutMs: 12_000);
        await Rig.Until(() => one.RequestManager.UnderWay().Count == 1, "it waits");
        var request = one.RequestManager.UnderWay()[0];

        // It has moved; the other worker lets nothing in (as one that leaves, stops, or whose log is away), so that
        // the worker that passes the request on tries again.
        cluster[2].Worker.Close("planned");
        hold.SetResult();
        Assert.Equal(PlanState.Done, await there);
        await Rig.Until(() => request.Phase == TransactionPhase.Ended, "it is passed on", 20);

        // It comes back, and the log is slow.
        cluster.Logs[1]!.Hold();
        Assert.Equal(PlanState.Done, await cluster.Move("back", 2, 1, x));
        var answer = await first.WaitAsync(TimeSpan.FromSeconds(60));
        Assert.Equal(Outcome.InDoubt, answer.Outcome);
        await Rig.Until(() => request.IsClosed, "the sending that was passed on has its outcome, too", 20);
        // As http-api.md says: in doubt, so it is sent again with its id.
        var again =
            TestCluster.SubmitTo(cluster[1], "ListAppend", x.Id, "Append", new { value = 1 }, access, answer.Id,
            timeoutMs: 60_000);
        cluster.Logs[1]!.Release();
        var later = await again.WaitAsync(TimeSpan.FromSeconds(60)); // or it joins the one that runs, which is in doubt
        Assert.True(later.Outcome is Outcome.Committed or Outcome.InDoubt, TestWorker.Describe(later));
        var list = await TestCluster.SubmitTo(cluster[1], "ListAppend", x.Id, "Read", null, null);
        var read = System.Text.Encoding.UTF8.GetString(list.Result.Span);
        Assert.Equal("[1]", read);
    }

    /// <summary>
    /// Promise 4: a caller sees only its own aborts. One worker, no fault: the first caller of an id goes away, and the
    /// second one, which stays, is told that it went away.
    /// </summary>
    [Fact]
    public async Task A_caller_that_sends_an_id_again_when_the_first_one_has_left_is_not_told_that_it_went_away()
    {
        await using var rig =
            await Rig.Start(
            new WorkerOptions { Executors = 1, TurnBound = TimeSpan.FromSeconds(30), DrainTimeout =
            TimeSpan.FromSeconds(1) });
        using var gate = new Gate();
        var holder = rig.Submit("x", [Step.Add(10), Step.Wait(gate)]);
        await gate.Reached();
        using var leaves = new CancellationTokenSource();
        var first = rig.Submit("x", [Step.Add()], id: "k", cancellation: leaves.Token);
        await Rig.Until(() =>
            rig.Host.Worker.RequestManager.UnderWay().Any(r => r.Id == "k" && r.Attempts > 0
            && r.Phase == TransactionPhase.Waiting), "it waits for the lock's holder");

        // The executor is busy for a moment, as by any turn of user code.
        using var busy = new ManualResetEventSlim();
        using var begun = new ManualResetEventSlim();
        rig.Host.Worker.ExecutorOf(new ActorKey("Box", "x")).PostRun(() => { begun.Set(); busy.Wait(); });
        begun.Wait();
        leaves.Cancel();
        var second = rig.Submit("x", [Step.Add()], id: "k");
        busy.Set();
        gate.Open();
        var answer = await Rig.Within(second, "the second", 30);
        Assert.Equal(Outcome.Committed, answer.Outcome);
    }

    /// <summary>
    /// http-api.md: "where an id is known to have run ... in doubt, also in place of an abort". One worker, a log that
    /// is slow for some hundred ms, an id that is sent again.
    /// </summary>
    [Fact]
    public async Task Of_an_id_that_has_committed_no_caller_is_told_that_it_was_aborted()
    {
        for (var tries = 0; tries < 3; tries++)
        {
            await using var rig =
                await Rig.Start(
                new WorkerOptions { Executors = 1, TurnBound = TimeSpan.FromSeconds(30), DrainTimeout =
                TimeSpan.FromSeconds(1) });
            using var gate = new Gate();
            var holder = rig.Submit("x", [Step.Add(10), Step.Wait(gate)]);
            await gate.Reached();
            rig.Log.Hold();
            var filler = rig.Act("f", Step.Add());
            await Rig.Until(() => rig.Log.Held > 0, "the log is slow");
            var first = rig.Submit("x", [Step.Add()], id: "k", timeoutMs: 300);
            await Rig.Until(() => rig.Host.RequestManager.Ids.Running == 1, "it has come");
            await Rig.Until(() => rig.Host.RequestManager.Ids.Running == 0, "its time is over");
            gate.Open();
            var second = rig.Submit("x", [Step.Add()], id: "k");
            await Rig.Until(() =>
                rig.Host.Worker.RequestManager.UnderWay().Any(r => r.Id == "k" && r.Phase == TransactionPhase.Ended
                && r.Attempts > 0), "it has ended");
            var open = !first.IsCompleted;
            rig.Log.Release();
            var committed = await Rig.Within(second, "the second", 30);
            var told = await Rig.Within(first, "the first", 30);
                Assert.Equal(Outcome.Committed, committed.Outcome);
            Assert.True(!open || told.Outcome == Outcome.InDoubt, TestWorker.Describe(told));
        }
    }

    /// <summary>
    /// "Rejected" is never said of an id that may have committed. One worker, a slow log, and an ordinary stop.
    /// </summary>
    [Fact]
    public async Task A_worker_that_stops_does_not_say_not_executed_of_a_generated_id_that_was_answered_in_doubt()
    {
        await using var rig =
            await Rig.Start(new WorkerOptions { Executors = 1, DrainTimeout = TimeSpan.FromSeconds(4) });
        rig.Log.Hold();
        var first = await Rig.Within(rig.Submit("x", [Step.Add()], ["x"], timeoutMs: 200), "the first", 30);
        Assert.Equal(Outcome.InDoubt, first.Outcome);

        await Rig.Within(rig.Submit("x", [Step.Add()], ["x"], id: first.Id, timeoutMs: 200), "again", 30);
        var old = rig.Host;
        var stopping = old.Stop();
        await Rig.Until(() => old.Worker.IsOver, "it has stopped its executors", 30);
        var again = await Rig.Within(rig.Submit("x", [Step.Add()], ["x"], id: first.Id), "again", 30);
        rig.Log.Release();
        await stopping;
        await rig.Open();
        var value = await rig.Value("x");
        Assert.Equal(Outcome.Committed, (await rig.Host.Door.Find(first.Id, default))?.Outcome);
        Assert.Equal(1, value);
        Assert.NotEqual(Outcome.Rejected, again.Outcome);
    }
}
