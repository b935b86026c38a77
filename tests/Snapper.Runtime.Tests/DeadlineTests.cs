using Snapper.Protocol;
using Snapper.Protocol.Messages;
using Snapper.Runtime.Door;
using Snapper.Runtime.Execution;
using Snapper.Runtime.Hosting;
using Snapper.Runtime.Tests.Support;
using Xunit;

namespace Snapper.Runtime.Tests;

/// <summary>Requests whose time is over, whose client left, whose log is away or has another owner.</summary>
[Collection(Timing.Name)]
public sealed class DeadlineTests
{
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_request_that_has_not_begun_in_time_ends_timeout(bool pact)
    {
        await using var rig = await Rig.Start(new() { TurnBound = TimeSpan.FromMinutes(5) });
        using var gate = new Gate();
        var first = rig.Marked("a", ["a"], Step.Wait(gate));
        await gate.Reached();
        var late = rig.Submit("a", [Step.Add()], pact ? ["a"] : null, timeoutMs: 100);
        Rig.Aborted(await Rig.Within(late, "the late one"), AbortReason.Timeout); // long before the first one's turn bound
        gate.Open();
        Rig.Seen(await Rig.Within(first, "the first one"));
        Assert.Equal(0, await rig.Value("a"));
        Assert.Equal(0, rig.Host.Inspection.Status().InFlight);
    }

    /// <summary>
    /// The thread that brings it stands still: for as long as a collection of garbage takes, or where there are more
    /// threads than cores.
    /// </summary>
    [Fact]
    public async Task A_pact_whose_time_is_over_while_it_is_brought_stops_nobody()
    {
        await using var rig = await Rig.Start();
        rig.Policy = new StandStill(() => SpinWait.SpinUntil(() => rig.Failures.Count > 0, TimeSpan.FromSeconds(1)));
        await rig.Restart();

        var late = Task.Factory.StartNew(
            () => rig.Submit("a", [Step.Add()], ["a"], timeoutMs: 1), TaskCreationOptions.LongRunning).Unwrap();

        var told = await Rig.Within(late, "the late one");
        Assert.Empty(rig.Failures);

        // No deadline is looked at for the moment that it takes then.
        Assert.Equal(told.Outcome == Outcome.Committed ? 1 : 0, await rig.Value("a"));
    }

    [Fact]
    public async Task A_pact_that_has_no_number_in_time_ends_timeout()
    {
        await using var rig = await Rig.Start(new() { OpenBatches = 1 });
        rig.Log.Hold();
        var first = rig.Pact("a", ["a"], Step.Add());
        await Rig.Until(() => rig.Log.Held > 0, "its batch waits for the log, and only one may");
        var late = rig.Submit("z", [Step.Add()], ["z"], timeoutMs: 100);
        var envelope = await Rig.Within(late, "the late one");
        Rig.Aborted(envelope, AbortReason.Timeout);
        Assert.Equal(0, envelope.Attempts);
        Assert.Equal(0, envelope.Transaction);
        rig.Log.Release();
        Rig.Seen(await Rig.Within(first, "the first one"));
        Assert.Equal(1, await rig.Value("a"));
        Assert.Equal(0, await rig.Value("z"));
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_running_request_ends_timeout_even_when_the_log_is_away(bool pact)
    {
        await using var rig = await Rig.Start();
        using var gate = new Gate();
        var running = rig.Submit("a", [Step.Add(), Step.Wait(gate)], pact ? ["a"] : null, timeoutMs: 150);
        await gate.Reached();
        rig.Log.Hold();
        Rig.Aborted(await Rig.Within(running, "the running one"), AbortReason.Timeout);
        rig.Log.Release();
        Assert.Equal(0, await rig.Value("a"));
        await Rig.Until(() => rig.Host.Inspection.Status().InFlight == 0, "nothing is in flight");
    }

    [Theory]
    [InlineData(true, "mine")]
    [InlineData(true, null)]
    [InlineData(false, "mine")]
    [InlineData(false, null)]
    public async Task What_has_ended_while_the_log_stalls_is_in_doubt_and_found_by_its_id_later(bool pact, string? id)
    {
        await using var rig = await Rig.Start();
        rig.Log.Hold();
        var stalled = rig.Submit("a", [Step.Add(), Step.Get()], pact ? ["a"] : null, id: id, timeoutMs: 100);
        var doubtful = await Rig.Within(stalled, "the stalled one");
        Assert.Equal(Outcome.InDoubt, doubtful.Outcome);
        Assert.Equal(Outcome.InDoubt, (await rig.Host.Door.Find(doubtful.Id, default))!.Outcome);
        rig.Log.Release();
        await Rig.Until(() => rig.Host.Door.Find(doubtful.Id, default).Result is { Outcome: Outcome.Committed }, "the outcome is known by its id");
        Rig.Saw((await rig.Host.Door.Find(doubtful.Id, default))!, 1);
        await Rig.Until(() => rig.Host.Inspection.Status().InFlight == 0, "nothing is in flight");
    }

    /// <summary>
    /// I4: told "in doubt", whoever asks by the generated id finds the outcome after a restart, whatever became of
    /// the record meanwhile.
    /// </summary>
    [Theory]
    [InlineData(true, false)]
    [InlineData(false, false)]
    [InlineData(true, true)]
    [InlineData(false, true)]
    public async Task What_was_in_doubt_is_found_by_its_generated_id_after_restarts(bool pact, bool checkpointed)
    {
        await using var rig = await Rig.Start();
        rig.Log.Hold();
        var doubtful = await Rig.Within(rig.Submit("a", [Step.Add(), Step.Get()], pact ? ["a"] : null, timeoutMs: 100), "the stalled one");
        Assert.Equal(Outcome.InDoubt, doubtful.Outcome);
        rig.Log.Release();
        await Rig.Until(() => rig.Host.Door.Find(doubtful.Id, default).Result is { Outcome: Outcome.Committed }, "the outcome is known by its id");
        if (checkpointed)
        {
            await rig.Restart(); // it checkpoints at its end, and trims the record
        }
        else
        {
            await rig.Open(); // as after a crash: the record is in the log
        }

        for (var restarts = 0; restarts < 2; restarts++)
        {
            var found = await rig.Host.Door.Find(doubtful.Id, default);
            Assert.True(found is { Outcome: Outcome.Committed }, $"after {restarts + 1} restarts: {found?.Outcome}");
            Rig.Saw(found!, 1);
            await rig.Restart();
        }

        var other = await rig.Submit("a", [Step.Add()], pact ? ["a"] : null, id: doubtful.Id);
        Assert.Equal(Outcome.InDoubt, other.Outcome); // its record, which was on its way, does not say of what it is
        Assert.Equal(1, await rig.Value("a"));
    }

    [Fact]
    public async Task A_doubtful_request_without_effects_is_found_by_its_generated_id()
    {
        await using var rig = await Rig.Start();
        rig.Log.Hold();
        var reader = await Rig.Within(rig.Submit("a", [Step.Get()], ["a"], timeoutMs: 100), "the reader");
        var refused = await Rig.Within(rig.Submit("b", [Step.Abort()], null, timeoutMs: 100), "the one that aborts");
        Assert.Equal((Outcome.InDoubt, Outcome.InDoubt), (reader.Outcome, refused.Outcome));
        rig.Log.Release();
        await Rig.Until(() => rig.Host.Door.Find(reader.Id, default).Result is { Outcome: Outcome.Committed }, "the reader's outcome is known");
        await Rig.Until(() => rig.Host.Door.Find(refused.Id, default).Result is { Abort.Reason: AbortReason.Application }, "the abort is known");
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_client_that_leaves_before_the_number_cancels_and_one_that_leaves_later_does_not(bool pact)
    {
        await using var rig = await Rig.Start(new() { OpenBatches = 1 });
        using var gate = new Gate();
        using var leaves = new CancellationTokenSource();
        var running = rig.Submit("a", [Step.Add(), Step.Wait(gate)], pact ? ["a"] : null, cancellation: leaves.Token);
        await gate.Reached();
        leaves.Cancel();
        if (pact)
        {
            using var leavesEarly = new CancellationTokenSource();
            var waiting = rig.Submit("b", [Step.Add()], ["b"], cancellation: leavesEarly.Token);
            leavesEarly.Cancel();
            var cancelled = await Rig.Within(waiting, "the one that left early");
            Rig.Aborted(cancelled, AbortReason.Cancelled);
            Assert.True(cancelled.Abort!.Retryable);
        }

        gate.Open();
        Rig.Seen(await Rig.Within(running, "the one that left late"));
        Assert.Equal(1, await rig.Value("a"));
        Assert.Equal(0, await rig.Value("b"));
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task While_the_log_is_away_new_requests_are_refused_and_old_ones_end_when_it_is_back(bool refuses)
    {
        await using var rig = await Rig.Start();
        using var gate = new Gate();
        var old = rig.Pact("a", ["a"], Step.Wait(gate), Step.Add());
        await gate.Reached(); // else the worker's own look at its log might have noticed before, and the old request be a new one
        (rig.Log.Refuses, rig.Log.Fails) = (refuses, !refuses);
        gate.Open();
        await Rig.Until(() => rig.Host.Worker.LogOutage is not null, "the outage is noticed");
        var rejected = await rig.Act("b", Step.Add());
        Rig.Rejected(rejected, RejectionKind.Unavailable);
        Assert.NotNull(rejected.Rejection!.RetryAfter);
        Assert.Contains(rig.Host.Inspection.Checks(), check => check is { Name: "log", Healthy: false });
        (rig.Log.Refuses, rig.Log.Fails) = (false, false);
        Rig.Seen(await Rig.Within(old, "the old request"));
        await Rig.Until(() => rig.Host.Worker.LogOutage is null, "the log is available again");
        Assert.Equal(1, await rig.Value("a"));
        Assert.Equal(0, await rig.Value("b"));
    }

    [Fact]
    public async Task A_fenced_worker_fails_once_and_everybody_is_answered()
    {
        await using var rig = await Rig.Start();
        using var gate = new Gate();
        using var other = new Gate();
        var fenced = rig.Host;
        var running = rig.Act("a", Step.Wait(gate));
        var pact = rig.Pact("b", ["b"], Step.Wait(other));
        await gate.Reached();
        await other.Reached(); // what has not begun is known not to be executed, and not in doubt
        await Rig.Until(() => fenced.Inspection.Status().InFlight == 2, "two are in flight");
        await rig.Open();
        var writer = await Rig.Within(Submit(fenced, "c"), "the first to meet the fence", 5);
        Assert.True(writer.Outcome is Outcome.InDoubt or Outcome.Rejected, $"{writer.Outcome}"); // rejected: the probe has met the fence before it
        Assert.Equal(Outcome.InDoubt, (await Rig.Within(running, "the running ACT", 5)).Outcome);
        Assert.Equal(Outcome.InDoubt, (await Rig.Within(pact, "the running PACT", 5)).Outcome);
        Assert.IsType<LogLostFailure>(Assert.Single(rig.Failures));
        Rig.Rejected(await Submit(fenced, "c"), RejectionKind.Unavailable);
        gate.Open();
        other.Open();
        Assert.Equal(0, await rig.Value("c")); // at the new owner: nothing of the old one came through
        Assert.Single(rig.Failures);
    }

    [Fact]
    public async Task A_fold_that_meets_the_fence_ends_the_worker_too()
    {
        await using var rig = await Rig.Start();
        Rig.Seen(await rig.Act("a", Step.Add()));
        var fenced = rig.Host;
        await rig.Open();
        await fenced.Worker.Checkpoints.CheckpointNow();
        await Rig.Until(() => rig.Failures.Count == 1, "the worker has failed");
        Rig.Rejected(await Submit(fenced, "c"), RejectionKind.Unavailable);
    }

    [Fact]
    public async Task A_stop_drains_what_is_under_way_and_refuses_what_comes()
    {
        await using var rig = await Rig.Start(new() { Executors = 2, DrainTimeout = TimeSpan.FromSeconds(10) });
        using var gate = new Gate();
        var running = rig.Pact("a", ["a"], Step.Add(), Step.Wait(gate));
        await gate.Reached();
        var stopping = rig.Host.Stop();
        Rig.Rejected(await rig.Act("b", Step.Add()), RejectionKind.Unavailable);
        gate.Open();
        Rig.Seen(await Rig.Within(running, "the running one"));
        await stopping.WaitAsync(TimeSpan.FromSeconds(10));
        await rig.Open();
        Assert.Equal(1, await rig.Value("a"));
        Assert.Equal(0, await rig.Value("b"));
    }

    [Fact]
    public async Task A_stop_that_cannot_drain_answers_in_doubt()
    {
        await using var rig = await Rig.Start(new() { Executors = 1, DrainTimeout = TimeSpan.FromMilliseconds(100) });
        using var gate = new Gate();
        var running = rig.Act("a", Step.Wait(gate));
        await gate.Reached();
        await rig.Host.Stop().WaitAsync(TimeSpan.FromSeconds(10));
        Assert.Equal(Outcome.InDoubt, (await Rig.Within(running, "the running one")).Outcome);
    }

    private static Task<TransactionEnvelope> Submit(WorkerHost host, string box) => host.Door.Submit(
        new TransactionRequest
        {
            Actor = new("Box", box),
            Method = "Run",
            Input = System.Text.Json.JsonSerializer.SerializeToUtf8Bytes(new Script([Step.Add()])),
            Mode = TransactionMode.Act,
        },
        default);

    /// <summary>Keeps the one who brings a PACT, for once.</summary>
    private sealed class StandStill(Action still) : ISchedulingPolicy
    {
        private int _isOver;

        public bool Takes(SchedulingChoice choice)
        {
            if (choice == SchedulingChoice.PactTakenForMarked && Interlocked.Exchange(ref _isOver, 1) == 0)
            {
                still();
            }

            return false;
        }
    }
}
