using Snapper.Protocol.Batches;
using Snapper.Protocol.Messages;
using Snapper.Runtime.Door;
using Snapper.Runtime.Execution;
using Snapper.Runtime.Tests.Support;
using Xunit;

namespace Snapper.Runtime.Tests;

/// <summary>I1 to I4: a request with an id has its effects once, and one answer.</summary>
public sealed class IdempotencyTests
{
    private const int Limit = 16_384;

    public enum Between
    {
        Nothing,
        Checkpoint,
        Restart,
        CheckpointAndRestart,
        Kill,
    }

    public static TheoryData<Between, bool> All
    {
        get
        {
            var data = new TheoryData<Between, bool>();
            foreach (var between in Enum.GetValues<Between>())
            {
                data.Add(between, true);
                data.Add(between, false);
            }

            return data;
        }
    }

    [Theory]
    [MemberData(nameof(All))]
    public async Task The_same_id_gets_the_first_answer(Between between, bool pact)
    {
        await using var rig = await Rig.Start();
        string[]? access = pact ? ["a", "b"] : null;
        Step[] writes = [Step.Add(), Step.Call("b", Step.Add()), Step.Get()];
        Step[] reads = [Step.Get()];
        Step[] aborts = [Step.Add(), Step.Abort()];
        var written = await rig.Submit("a", writes, access, id: "writes");
        var read = await rig.Submit("a", reads, access, id: "reads");
        var aborted = await rig.Submit("a", aborts, access, id: "aborts");
        Rig.Saw(written, 1);
        Rig.Saw(read, 1);
        Rig.Aborted(aborted, AbortReason.Application);
        await Pass(rig, between);
        Rig.Seen(await rig.Act("a", Step.Add(10))); // the read-only answer is the first one, not today's
        Same(written, await Rig.Within(rig.Submit("a", writes, access, id: "writes"), "the writer again"));
        Same(read, await Rig.Within(rig.Submit("a", reads, access, id: "reads"), "the reader again"));
        Same(aborted, await Rig.Within(rig.Submit("a", aborts, access, id: "aborts"), "the one that aborts again"));
        Same(written, (await rig.Host.Door.Find("writes", default))!);
        Same(aborted, (await rig.Host.Door.Find("aborts", default))!);
        Rig.Rejected(await rig.Submit("a", aborts, access, id: "writes"), RejectionKind.IdConflict);
        Rig.Rejected(await rig.Submit("b", writes, pact ? ["b", "a"] : null, id: "writes"), RejectionKind.IdConflict);
        Assert.Equal(11, await rig.Value("a"));
        Assert.Equal(1, await rig.Value("b"));
    }

    [Theory]
    [MemberData(nameof(All))]
    public async Task A_large_result_is_for_its_first_answer_and_a_small_one_is_kept(Between between, bool pact)
    {
        await using var rig = await Rig.Start();
        var first = await Big(Limit + 1, "large");
        var small = await Big(Limit, "small");
        Assert.Equal((Limit + 1, false), (first.Result.Length, first.IsResultDropped));
        Assert.Equal((Limit, false), (small.Result.Length, small.IsResultDropped));

        await Pass(rig, between);

        foreach (var later in new[] { await Big(Limit + 1, "large"), (await rig.Host.Door.Find("large", default))! })
        {
            Assert.Equal((Outcome.Committed, first.Transaction), (later.Outcome, later.Transaction));
            Assert.Equal((0, true), (later.Result.Length, later.IsResultDropped));
        }

        Same(small, await Big(Limit, "small"));
        Assert.Equal(1, (await rig.Host.Inspection.Actor(new("Odd", "large"), default))!.Version);

        // Two characters of the JSON are the quotes.
        Task<TransactionEnvelope> Big(int bytes, string id) =>
            Rig.Within(rig.Submit("Odd", id, "Big", bytes - 2, pact ? [(id, 1)] : null, key: id), id);
    }

    [Fact]
    public async Task A_large_result_of_a_generated_id_in_doubt_is_not_kept()
    {
        await using var rig = await Rig.Start();
        rig.Log.Hold();
        var told = await Rig.Within(rig.Submit("Odd", "a", "Big", Limit, null, timeoutMs: 300), "the first");
        Assert.Equal(Outcome.InDoubt, told.Outcome);
        rig.Log.Release();
        await Rig.Until(
            () => rig.Host.Door.Find(told.Id, default).Result is { Outcome: Outcome.Committed }, "it has committed");

        var found = (await rig.Host.Door.Find(told.Id, default))!;
        Assert.Equal((0, true), (found.Result.Length, found.IsResultDropped));
    }

    [Fact]
    public async Task A_request_joins_the_one_that_runs_and_another_one_is_refused()
    {
        await using var rig = await Rig.Start();
        using var gate = new Gate();
        Step[] steps = [Step.Add(), Step.Wait(gate), Step.Get()];
        var first = rig.Submit("a", steps, ["a"], id: "x");
        await gate.Reached();
        var second = rig.Submit("a", steps, ["a"], id: "x");
        Assert.Equal(Outcome.Running, (await rig.Host.Door.Find("x", default))!.Outcome);
        Rig.Rejected(await rig.Submit("b", [Step.Add()], ["b"], id: "x"), RejectionKind.IdConflict);
        Assert.False(second.IsCompleted);
        gate.Open();
        Rig.Saw(await Rig.Within(first, "the first"), 1);
        Same(await first, await Rig.Within(second, "the second"));
        Assert.Equal(1, await rig.Value("a"));
    }

    [Fact]
    public async Task What_has_not_begun_is_cancelled_when_the_last_who_waits_for_its_id_has_left()
    {
        await using var rig = await Rig.Start();
        using var gate = new Gate();
        using var firstCaller = new CancellationTokenSource();
        using var lonely = new CancellationTokenSource();
        var older = rig.Submit("a", [Step.Add(), Step.Wait(gate)]);
        await gate.Reached();
        var first = rig.Submit("a", [Step.Add()], id: "x", cancellation: firstCaller.Token); // younger than the holder: it dies, and waits for its end
        await Rig.Until(() => rig.Host.Inspection.Status().RepeatsByReason["conflict"] == 1, "x waits");
        var second = rig.Submit("a", [Step.Add()], id: "x");
        var alone = rig.Submit("a", [Step.Add()], id: "y", cancellation: lonely.Token);
        await Rig.Until(() => rig.Host.Inspection.Status().RepeatsByReason["conflict"] == 2, "y waits");

        await firstCaller.CancelAsync();
        await lonely.CancelAsync();
        Rig.Aborted(await Rig.Within(alone, "the one that was left"), AbortReason.Cancelled); // behind the cancellation that was not
        Assert.False(second.IsCompleted);
        gate.Open();

        Assert.Equal(Outcome.Committed, (await Rig.Within(older, "the holder")).Outcome);
        Assert.Equal(Outcome.Committed, (await Rig.Within(second, "the second")).Outcome);
        Same(await first, await second);
        Assert.Equal(2, await rig.Value("a"));
    }

    [Fact]
    public async Task An_abort_that_is_retryable_may_run_again_under_its_id()
    {
        await using var rig = await Rig.Start();
        using var gate = new Gate();
        var first = await rig.Submit("a", [Step.Add(), Step.Wait(gate), Step.Get()], ["a"], id: "x", timeoutMs: 100);
        Rig.Aborted(first, AbortReason.Timeout);
        Assert.True(first.Abort!.Retryable);
        gate.Open();
        Rig.Saw(await Rig.Within(rig.Submit("a", [Step.Add(), Step.Wait(gate), Step.Get()], ["a"], id: "x"), "the second"), 1);
        Assert.Equal(1, await rig.Value("a"));
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_retryable_abort_in_place_beside_a_committed_member_may_run_again_under_its_id(bool restart)
    {
        await using var rig = await Rig.Start(new WorkerOptions { Executors = 2, Coordinators = 1, OpenBatches = 1, DrainTimeout = TimeSpan.FromSeconds(1) });
        using var gate = new Gate();
        rig.Log.Hold();
        var ahead = rig.Pact("c", ["c"], Step.Get());
        await Rig.Until(() => rig.Log.Held > 0, "the batch ahead is at the log");

        // No batch is formed while the log has the one ahead: the next one has both, and its record is about the second
        // alone.
        Step[] steps = [Step.Add(), Step.Wait(gate), Step.Get()];
        var late = rig.Submit("a", steps, ["a"], "RunMarked", id: "x", timeoutMs: 2_500);
        var beside = rig.Submit("b", [Step.Add(), Step.Get()], ["b"], id: "y");
        await Rig.Until(
            () => rig.Host.Inspection.Watch!.Ring().Coordinators[0].Waiting == 2, "both wait for the next batch");
        rig.Log.Release();
        await Rig.Within(ahead, "the PACT ahead");
        var timedOut = await Rig.Within(late, "the one that waits too long");
        var committed = await Rig.Within(beside, "its neighbour");
        Rig.Aborted(timedOut, AbortReason.Timeout);
        Rig.Saw(committed, 1);
        Assert.Equal(committed.Batch, timedOut.Batch);
        gate.Open();
        if (restart)
        {
            await rig.Restart();
        }

        Assert.Null(await rig.Host.Door.Find("x", default)); // nothing is kept of it
        Rig.Saw(await Rig.Within(rig.Submit("a", steps, ["a"], "RunMarked", id: "x"), "the second attempt"), 1);
        Same(committed, await Rig.Within(rig.Submit("b", [Step.Add(), Step.Get()], ["b"], id: "y"), "its neighbour again"));
        Assert.Equal(1, await rig.Value("a"));
        Assert.Equal(1, await rig.Value("b"));
    }

    [Fact]
    public async Task An_id_that_nobody_used_is_unknown()
    {
        await using var rig = await Rig.Start();
        Assert.Null(await rig.Host.Door.Find("nobody", default));
        Assert.Null(await rig.Host.Door.Find(new string('x', 200), default));
    }

    [Fact]
    public async Task The_same_id_sent_by_many_at_once_runs_once()
    {
        await using var rig = await Rig.Start();
        var answers = await Rig.Within(
            Task.WhenAll(Enumerable.Range(0, 50).Select(_ => Task.Run(() => rig.Submit("a", [Step.Add(), Step.Get()], ["a"], id: "x")))), "all answers");
        Assert.All(answers, answer => Rig.Saw(answer, 1));
        Assert.Equal(1, await rig.Value("a"));
    }

    private static async Task Pass(Rig rig, Between between)
    {
        if (between is Between.Checkpoint or Between.CheckpointAndRestart)
        {
            await rig.Host.Worker.Checkpoints.CheckpointNow();
        }

        if (between is Between.Restart or Between.CheckpointAndRestart)
        {
            await rig.Restart();
        }

        if (between == Between.Kill)
        {
            await rig.Open();
        }
    }

    private static void Same(TransactionEnvelope first, TransactionEnvelope again)
    {
        Assert.Equal(TestWorker.Describe(first), TestWorker.Describe(again));
        Assert.Equal(
            (first.Id, first.Transaction, first.Batch, first.Mode, first.Attempts, first.Abort?.Actor),
            (again.Id, again.Transaction, again.Batch, again.Mode, again.Attempts, again.Abort?.Actor));
    }
}
