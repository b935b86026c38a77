using System.Text.Json;
using Snapper.Apps.ListAppend;
using Snapper.Protocol.Batches;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;
using Snapper.Runtime.Door;
using Snapper.Runtime.Execution;
using Snapper.Runtime.Hosting;
using Snapper.Runtime.Tests.Support;
using Snapper.Storage.Log;
using Snapper.Storage.Memory;
using Snapper.Storage.States;
using Xunit;

namespace Snapper.Runtime.Tests;

/// <summary>
/// I2: an id is known for its window from the moment that its outcome is durable, whatever wall clocks do, and nobody
/// says of it that it was not executed.
/// </summary>
public sealed class IdWindowTests
{
    private static readonly Step[] s_steps = [Step.Add(), Step.Get()];

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task An_id_that_committed_after_an_outage_longer_than_the_window_is_known(bool restart)
    {
        var time = new SkewedTime();
        await using var rig = await Rig.Start(time: time);
        rig.Log.Hold();
        var first = await Rig.Within(rig.Submit("a", s_steps, ["a"], id: "x", timeoutMs: 300), "the first");
        Assert.Equal(Outcome.InDoubt, first.Outcome);
        time.Advance(TimeSpan.FromMinutes(11)); // so long the log was away
        rig.Log.Release();
        await Rig.Until(() => rig.Host.Door.Find("x", default).Result is { Outcome: Outcome.Committed }, "it has committed");
        await rig.Host.Worker.Checkpoints.CheckpointNow();
        if (restart)
        {
            await rig.Restart();
        }

        Rig.Saw(await Rig.Within(rig.Submit("a", s_steps, ["a"], id: "x"), "the same again"), 1);
        await rig.Host.Worker.ForgetOldIds();
        time.Advance(TimeSpan.FromMinutes(8));
        await rig.Host.Worker.ForgetOldIds();
        Rig.Saw(await Rig.Within(rig.Submit("a", s_steps, ["a"], id: "x"), "once more, eight minutes later"), 1);
        Assert.Equal(1, await rig.Value("a"));
    }

    /// <summary>
    /// A caller that sent no id, and was told that it is in doubt, may send it again under the id of the answer.
    /// </summary>
    [Theory]
    [InlineData("running")]
    [InlineData("ended")]
    [InlineData("restarted")]
    [InlineData("a copy")]
    public async Task A_generated_id_that_is_in_doubt_is_not_refused(string when)
    {
        await using var rig = await Rig.Start();
        rig.Log.Hold();
        var first = await Rig.Within(rig.Submit("a", s_steps, ["a"], timeoutMs: 300), "the first");
        Assert.Equal(Outcome.InDoubt, first.Outcome);
        if (when == "running")
        {
            var again = rig.Submit("a", s_steps, ["a"], id: first.Id, timeoutMs: 300);
            var early = await Rig.Within(again, "the same again, early");
            Assert.Equal(Outcome.InDoubt, early.Outcome);
            Rig.Rejected(await rig.Submit("b", s_steps, ["b"], id: first.Id), RejectionKind.IdConflict);
        }

        rig.Log.Release();
        await Rig.Until(
            () => rig.Host.Door.Find(first.Id, default).Result is { Outcome: Outcome.Committed }, "it has committed");
        if (when == "restarted")
        {
            await rig.Restart();
        }
        else if (when == "a copy")
        {
            await rig.Host.Worker.Checkpoints.CheckpointNow();
            await rig.Restart();
        }

        var last = await Rig.Within(rig.Submit("a", s_steps, ["a"], id: first.Id), "the same again");
        if (when is "restarted" or "a copy")
        {
            // Its record was on its way when the answer was given: it does not say of which request it is.
            Assert.Equal(Outcome.InDoubt, last.Outcome);
            last = (await rig.Host.Door.Find(first.Id, default))!;
        }

        Rig.Saw(last, 1);
        Assert.Equal(1, await rig.Value("a"));
    }

    /// <summary>
    /// What waits for another on an actor of its own is recorded behind that answer, and with what it asked for.
    /// </summary>
    [Fact]
    public async Task A_generated_id_that_was_in_doubt_before_its_record_is_answered_after_a_restart()
    {
        await using var rig = await Rig.Start();
        using var gate = new Gate();
        var before = rig.Submit("b", [Step.Wait(gate)], ["b"]);
        await gate.Reached();
        var told = await Rig.Within(rig.Submit("a", s_steps, ["a", "b"], timeoutMs: 300), "the first");
        Assert.Equal(Outcome.InDoubt, told.Outcome);
        gate.Open();
        Rig.Seen(await Rig.Within(before, "the one before"));
        await Rig.Until(
            () => rig.Host.Door.Find(told.Id, default).Result is { Outcome: Outcome.Committed }, "it has committed");
        await rig.Restart();

        Rig.Saw(await Rig.Within(rig.Submit("a", s_steps, ["a", "b"], id: told.Id), "the same again"), 1);
        Rig.Rejected(await rig.Submit("c", s_steps, ["c"], id: told.Id), RejectionKind.IdConflict);
    }

    /// <summary>
    /// What had no effects needs no record, until its caller is told the id that was generated for it: then the same
    /// request with that id has one outcome, over restarts too, as a caller's has (I2, I3).
    /// </summary>
    [Theory]
    [InlineData(true, true, "a crash")]
    [InlineData(true, false, "a crash")]
    [InlineData(false, true, "a crash")]
    [InlineData(false, false, "a crash")]
    [InlineData(true, true, "a stop")]
    [InlineData(false, false, "a stop")]
    public async Task What_had_no_effects_is_answered_once_under_a_generated_id_that_was_in_doubt(
        bool pact, bool reads, string end)
    {
        await using var rig = await Rig.Start();
        Step[] steps = [reads ? Step.Get() : Step.Abort()];
        string[]? access = pact ? ["a"] : null;
        rig.Log.Hold();
        var told = await Rig.Within(rig.Submit("a", steps, access, timeoutMs: 200), "the first");
        Assert.Equal(Outcome.InDoubt, told.Outcome);
        rig.Log.Release();
        await Rig.Until(
            () => rig.Host.Door.Find(told.Id, default).Result is { Outcome: not Outcome.InDoubt }, "it has ended");
        var first = await Rig.Within(rig.Submit("a", steps, access, id: told.Id), "the same, sent again");
        Assert.Equal(reads ? Outcome.Committed : Outcome.Aborted, first.Outcome);
        Rig.Seen(await rig.Act("a", Step.Add())); // a read would see it
        if (end == "a crash")
        {
            await rig.Open();
        }
        else
        {
            await rig.Restart(); // its record is trimmed, and a copy is left
        }

        var again = await Rig.Within(rig.Submit("a", steps, access, id: told.Id), "the same, after a restart");
        Assert.Equal(
            (first.Outcome, first.Transaction, first.Batch), (again.Outcome, again.Transaction, again.Batch));
        Assert.Equal(first.Result.ToArray(), again.Result.ToArray());
        Rig.Rejected(await rig.Submit("b", s_steps, ["b"], id: told.Id), RejectionKind.IdConflict);
    }

    /// <summary>An id that was aborted for a reason that passes may run again: a generated one, too (I2).</summary>
    [Fact]
    public async Task A_generated_id_that_was_in_doubt_and_was_undone_may_run_again()
    {
        await using var rig = await Rig.Start();
        using var gate = new Gate();
        var fails = rig.Submit(
            "b", [Step.Call("a", Step.Add()), Step.Wait(gate), Step.Throw()], ["a", "b"]);
        await gate.Reached();
        var told = await Rig.Within(rig.Submit("a", [Step.Get()], timeoutMs: 200), "a read of what is not final");
        Assert.Equal(Outcome.InDoubt, told.Outcome);
        gate.Open();
        Rig.Aborted(await Rig.Within(fails, "the one that fails"), AbortReason.Application);
        await Rig.Until(() => rig.Host.Inspection.Status().InFlight == 0, "nothing is in flight");

        Rig.Saw(await Rig.Within(rig.Submit("a", [Step.Get()], id: told.Id), "the same, sent again"), 0);
    }

    [Theory]
    [InlineData(12, false)]
    [InlineData(12, true)]
    [InlineData(-12, false)]
    [InlineData(-12, true)]
    public async Task A_clock_that_is_put_forward_or_back_makes_no_id_run_twice(int minutes, bool restart)
    {
        var time = new SkewedTime();
        await using var rig = await Rig.Start(time: time);
        await rig.Submit("a", s_steps, ["a"], id: "x");
        await rig.Host.Worker.Checkpoints.CheckpointNow();
        time.Step(TimeSpan.FromMinutes(minutes));
        await rig.Host.Worker.ForgetOldIds();
        await rig.Submit("b", s_steps, ["b"], id: "y");
        await rig.Host.Worker.Checkpoints.CheckpointNow();
        if (restart)
        {
            await rig.Restart();
        }

        await rig.Host.Worker.ForgetOldIds();
        time.Step(TimeSpan.FromMinutes(-minutes));
        foreach (var (box, id) in new[] { ("a", "x"), ("b", "y") })
        {
            Rig.Saw(await Rig.Within(rig.Submit(box, s_steps, [box], id: id), id), 1);
        }

        Assert.Equal((1, 1), (await rig.Value("a"), await rig.Value("b")));
    }

    [Fact]
    public async Task A_copy_is_there_as_long_as_memory_knows_the_id_and_goes_then()
    {
        var time = new SkewedTime();
        await using var rig = await Rig.Start(time: time);
        await rig.Submit("a", s_steps, ["a"], id: "x");
        await rig.Host.Worker.Checkpoints.CheckpointNow();
        while (rig.Host.RequestManager.Ids.Kept > 0)
        {
            Rig.Saw(await Rig.Within(rig.Submit("a", s_steps, ["a"], id: "x"), "again"), 1);
            time.Advance(TimeSpan.FromMinutes(1));
            await rig.Host.Worker.ForgetOldIds();
        }

        time.Advance(TimeSpan.FromMinutes(10));
        await rig.Host.Worker.ForgetOldIds();
        Assert.Empty(rig.Storage.Outcomes);
        Assert.Equal(1, await rig.Value("a"));
    }

    [Fact]
    public async Task What_is_told_to_be_aborted_before_it_was_executed_does_not_commit()
    {
        await using var rig = await Rig.Start(OneBatchAtATime());
        var a = await WithItsRecordHeld(rig);
        var b = rig.Submit("b", [Step.Add()], ["b"], id: "b1");
        await SecondWaitsForANumber(rig);

        // As where the store says that this worker is no member any more: its log has no other owner.
        rig.Host.Worker.Fail(new LogLostFailure(AppendStatus.Fenced, "w1/1 is no member any more"));
        var told = await Rig.Within(b, "b");
        rig.Log.Release();
        await Rig.Until(() => rig.Host.Worker.Log.DurableSequence >= 2, "b was executed all the same");
        Assert.Equal(Outcome.InDoubt, told.Outcome);
        await rig.Open();
        Assert.Equal(Outcome.Committed, (await rig.Host.Door.Find("b1", default))?.Outcome);
    }

    [Fact]
    public async Task What_waits_when_the_log_has_another_owner_is_certainly_not_executed()
    {
        await using var rig = await Rig.Start(OneBatchAtATime());
        var a = await WithItsRecordHeld(rig);
        var b = rig.Submit("b", [Step.Add()], ["b"]);
        await SecondWaitsForANumber(rig);
        var before = rig.Log;
        await rig.Open();
        before.Release();

        Assert.Equal(Outcome.InDoubt, (await Rig.Within(a, "a")).Outcome);
        Rig.Aborted(await Rig.Within(b, "b"), AbortReason.Failure);
    }

    /// <summary>Its process stood still, another took its log and ran what was sent again.</summary>
    [Fact]
    public async Task An_id_that_its_successor_has_run_has_not_failed_at_a_worker_that_was_replaced()
    {
        await using var rig = await Rig.Start(OneBatchAtATime());
        var a = await WithItsRecordHeld(rig);
        var b = rig.Submit("b", [Step.Add()], ["b"], id: "b1");
        await SecondWaitsForANumber(rig);
        var before = rig.Log;
        await rig.Open();
        var again = await Rig.Within(rig.Submit("b", [Step.Add()], ["b"], id: "b1"), "b, sent again");
        Assert.Equal(Outcome.Committed, again.Outcome);
        before.Release();

        Assert.Equal(Outcome.InDoubt, (await Rig.Within(b, "b, as it was sent first")).Outcome);
    }

    /// <summary>The same, before the one that was replaced has asked its log for anything.</summary>
    [Fact]
    public async Task An_id_that_its_successor_has_run_has_not_timed_out_at_a_worker_that_was_replaced()
    {
        await using var rig = await Rig.Start(OneBatchAtATime());
        var a = await WithItsRecordHeld(rig);
        var b = rig.Submit("b", [Step.Add()], ["b"], id: "b1", timeoutMs: 700);
        await SecondWaitsForANumber(rig);
        var before = (rig.Host, rig.Log);
        await rig.Open();
        var again = await Rig.Within(rig.Submit("b", [Step.Add()], ["b"], id: "b1"), "b, sent again");
        Assert.Equal(Outcome.Committed, again.Outcome);

        Assert.Equal(Outcome.InDoubt, (await Rig.Within(b, "b, as it was sent first")).Outcome);
        before.Log.Release();
        await Rig.Until(() => before.Host.RequestManager.InFlight == 0, "none is under way any more");
    }

    /// <summary>Its process ends then: what is answered later is answered to none.</summary>
    [Fact]
    public async Task A_worker_that_fails_answers_what_waits_for_its_log_at_once()
    {
        var time = new SkewedTime { IsSilent = true };
        await using var rig = await Rig.Start(OneBatchAtATime(), time: time);
        using var leaves = new CancellationTokenSource();
        var a = await WithItsRecordHeld(rig);
        var b = rig.Submit("b", [Step.Add()], ["b"], id: "b1", cancellation: leaves.Token);
        await SecondWaitsForANumber(rig);
        leaves.Cancel();
        await Rig.Until(() => rig.Host.RequestManager.Ids.Running == 1, "b is cancelled, and waits for the log");
        rig.Host.Worker.Fail(new InvalidOperationException("planned"));
        Assert.Equal(Outcome.InDoubt, (await Rig.Within(b, "b")).Outcome);
        Assert.Equal(Outcome.InDoubt, (await Rig.Within(a, "a")).Outcome);
        rig.Log.Release();
        await Rig.Until(() => rig.Host.RequestManager.InFlight == 0, "none is under way any more");
    }

    [Fact]
    public async Task An_id_that_has_committed_is_never_refused()
    {
        await using var rig = await Rig.Start();
        await rig.Submit("a", s_steps, ["a"], id: "x");

        rig.Host.Worker.Close("The worker is closed for this test.");
        var refused = await rig.Submit("a", s_steps, ["a"], id: "x");
        Assert.Equal((Outcome.InDoubt, "x", "The worker is closed for this test."), (refused.Outcome, refused.Id, refused.Doubt));
        Rig.Rejected(await rig.Submit("a", s_steps, ["a"], id: "never sent before"), RejectionKind.Unavailable);
        rig.Host.Worker.Reopen("The worker is closed for this test.");

        // Trimmed, and its copy lost: nobody knows the outcome, and it has one.
        await rig.Host.Worker.Checkpoints.CheckpointNow();
        rig.Storage.Outcomes.Clear();
        Assert.Equal(Outcome.InDoubt, (await rig.Submit("a", s_steps, ["a"], id: "x")).Outcome);
        Assert.Equal(1, await rig.Value("a"));
    }

    [Fact]
    public async Task An_id_that_has_committed_is_not_refused_by_a_worker_that_has_stopped()
    {
        await using var rig = await Rig.Start();
        await rig.Submit("a", s_steps, ["a"], id: "x");
        await rig.Host.Stop();
        var again = await Rig.Within(rig.Submit("a", s_steps, ["a"], id: "x"), "the same again");
        Assert.Equal(Outcome.InDoubt, again.Outcome);
        Rig.Rejected(await rig.Submit("a", s_steps, ["a"], id: "never sent before"), RejectionKind.Unavailable);
    }

    [Fact]
    public async Task An_id_that_cannot_be_looked_up_after_a_restart_is_in_doubt()
    {
        await using var rig = await Rig.Start();
        await rig.Submit("a", s_steps, ["a"], id: "x");
        await rig.Host.Worker.Checkpoints.CheckpointNow();
        rig.Store = new AwayStore(new MemoryStateStore(rig.Storage, TimeProvider.System, new StateStoreOptions()));
        await rig.Restart();

        Assert.Equal(Outcome.InDoubt, (await rig.Submit("a", s_steps, ["a"], id: "x")).Outcome);
        ((AwayStore)rig.Store).IsAway = false;
        Rig.Saw(await rig.Submit("a", s_steps, ["a"], id: "x"), 1);
    }

    [Fact]
    public async Task An_id_that_has_committed_before_a_restart_is_looked_up_by_a_worker_that_has_too_much_to_do()
    {
        await using var rig = await Rig.Start(new() { MaxInFlight = 1, Executors = 1, DrainTimeout = TimeSpan.FromSeconds(1) });
        await rig.Submit("a", s_steps, ["a"], id: "x");
        await rig.Host.Worker.Checkpoints.CheckpointNow();
        await rig.Restart();

        rig.Log.Hold();
        var under = rig.Submit("b", s_steps, ["b"]);
        await Rig.Until(() => rig.Host.RequestManager.InFlight == 1, "the worker has all that it takes");
        Rig.Saw(await Rig.Within(rig.Submit("a", s_steps, ["a"], id: "x"), "an id that has committed"), 1);
        Rig.Rejected(await rig.Submit("b", s_steps, ["b"], id: "x"), RejectionKind.IdConflict);
        Rig.Rejected(await rig.Submit("a", s_steps, ["a"], id: "never sent before"), RejectionKind.Overloaded);
        rig.Log.Release();
        Rig.Saw(await Rig.Within(under, "the one under way"), 1);
    }

    [Theory]
    [InlineData("overloaded")] // too much is under way
    [InlineData("closed")] // as while it stops, or the log is away
    [InlineData("another version")] // its method is no more there: a rolling restart to the next version
    public async Task An_id_that_has_committed_is_not_refused_once_its_outcome_is_a_copy(string why)
    {
        await using var rig = await Rig.Start(new WorkerOptions { Executors = 2, DrainTimeout = TimeSpan.FromSeconds(1), MaxInFlight = 1 });
        await rig.Submit("a", s_steps, ["a"], id: "x");
        await rig.Host.Worker.Checkpoints.CheckpointNow(); // its record is trimmed
        using var gate = new Gate();
        Task<TransactionEnvelope>? busy = null;
        TransactionEnvelope again;
        if (why == "another version")
        {
            await rig.Host.Stop();
            await using var next = await WorkerHost.Start(
                new WorkerSetup
                {
                    Options = rig.Options,
                    ActorTypes = SnapperAppsListAppendActors.All,
                    Log = new MemoryTransactionLog(rig.Storage),
                    Store = new MemoryStateStore(rig.Storage, TimeProvider.System, new StateStoreOptions()),
                    Failed = static _ => { },
                },
                CancellationToken.None);
            again = await next.Door.Submit(
                new TransactionRequest
                {
                    Actor = new ActorKey("Box", "a"),
                    Method = "Run",
                    Input = JsonSerializer.SerializeToUtf8Bytes(new Script(s_steps)),
                    Mode = TransactionMode.Pact,
                    Access = [new DeclaredAccess(new ActorKey("Box", "a"), 1)],
                    Id = "x",
                    Timeout = TimeSpan.FromSeconds(5),
                },
                CancellationToken.None);
        }
        else
        {
            await rig.Restart();
            if (why == "closed")
            {
                rig.Host.Worker.Close("The worker is closed for this test.");
            }
            else
            {
                busy = rig.Act("b", Step.Wait(gate));
                await gate.Reached();
            }

            again = await rig.Submit("a", s_steps, ["a"], id: "x");
            gate.Open();
            rig.Host.Worker.Reopen("The worker is closed for this test.");
            await (busy ?? Task.FromResult(again));
        }

        Assert.True(again.Outcome != Outcome.Rejected, $"{again.Outcome} {again.Rejection?.Kind}: {again.Rejection?.Detail}, and it has committed");
    }

    private static WorkerOptions OneBatchAtATime() =>
        new() { Executors = 1, Coordinators = 1, OpenBatches = 1, DrainTimeout = TimeSpan.FromSeconds(1) };

    /// <summary>Request a1, whose record is on its way until the log is released.</summary>
    private static async Task<Task<TransactionEnvelope>> WithItsRecordHeld(Rig rig)
    {
        rig.Log.Hold();
        var a = rig.Submit("a", [Step.Add()], ["a"], id: "a1");
        await Rig.Until(() => rig.Log.Held > 0, "a's record is on its way");
        return a;
    }

    private static Task SecondWaitsForANumber(Rig rig) =>
        Rig.Until(() => rig.Host.RequestManager.InFlight == 2, "b waits for a number");
}
