using Snapper.Protocol.Messages;
using Snapper.Runtime.Door;
using Snapper.Runtime.Execution;
using Snapper.Runtime.Tests.Support;
using Xunit;

namespace Snapper.Runtime.Tests;

/// <summary>W5: a method that blocks its thread costs its own transaction, not the executor.</summary>
[Collection(Timing.Name)]
public sealed class StuckThreadTests
{
    [Theory]
    [InlineData(true, false)]
    [InlineData(true, true)]
    [InlineData(false, false)]
    [InlineData(false, true)]
    public async Task The_executor_goes_on_with_a_new_thread_and_nothing_of_the_stuck_transaction_remains(bool pact, bool nested)
    {
        await using var rig = await Rig.StartWithShortTurns();
        using var gate = new Gate();

        // Nested: the blocked method was called inline, so its caller's frames are on the stuck thread, too.
        Step[] work = [Step.Add(5), Step.Block(gate), new Step("note", To: "a", Gate: gate.Name)];
        Step[] steps = nested ? [Step.Add(7), Step.Try("b", work), Step.Try("b", Step.Add())] : work;
        var stuck = pact ? rig.Marked("a", ["a", "b", "b"], steps) : rig.Act("a", steps);
        await gate.Reached();
        Rig.Aborted(await Rig.Within(stuck, "the stuck transaction", 5), AbortReason.Timeout);
        Rig.Saw(await Rig.Within(rig.Pact("a", ["a"], Step.Add(), Step.Get()), "a PACT on the same actor"), 1);
        Rig.Saw(await Rig.Within(rig.Act("a", Step.Add(), Step.Get()), "an ACT on the same actor"), 2);

        gate.Open(); // the thread comes back, and its method writes once more
        await Rig.Until(() => gate.Notes.Count == 3, "the late context calls were made");
        Assert.All(gate.Notes, note => Assert.Equal("doomed", note));
        await Rig.Until(() => !gate.Blocked!.IsAlive, "the thread that came back has ended: it pumps the executor no more");
        for (var i = 0; i < 20; i++)
        {
            Rig.Saw(await Rig.Within(rig.Pact("a", ["a", "b"], Step.Add(), Step.Call("b"), Step.Get()), "a PACT after the return"), 3 + i);
        }

        Assert.Equal(0, await rig.Value("b"));
        Assert.Null(rig.Host.Failure);
    }

    [Fact]
    public async Task A_request_whose_timeout_is_shorter_than_the_bound_does_not_hang_when_it_blocks_the_only_executor()
    {
        await using var rig = await Rig.StartWithShortTurns();
        using var gate = new Gate();
        var stuck = rig.Submit("a", [Step.Block(gate)], timeoutMs: 60);
        Rig.Aborted(await Rig.Within(stuck, "the only request", 5), AbortReason.Timeout);
    }

    /// <summary>All threads of a process stand still together, those that look at the others included.</summary>
    [Fact]
    public async Task A_method_is_not_to_blame_for_the_time_in_which_the_process_stood_still()
    {
        var time = new SkewedTime();
        await using var rig = await Rig.Start(
            new WorkerOptions { Executors = 1, DrainTimeout = TimeSpan.FromSeconds(1) }, time: time);
        var look = rig.Host.Worker.Ticked!;
        rig.Host.Worker.Ticked = null;
        using var gate = new Gate();
        var act = rig.Act("a", Step.Add(5), Step.Block(gate), Step.Get());
        await gate.Reached();
        look();
        look();
        time.Advance(TimeSpan.FromSeconds(10));
        look();
        look();
        gate.Open();
        Rig.Saw(await Rig.Within(act, "the ACT"), 5);
        Assert.True(gate.Blocked!.IsAlive, "its thread goes on with the executor");
    }

    [Fact]
    public async Task Too_many_stuck_threads_end_the_worker_and_every_request_is_answered()
    {
        await using var rig = await Rig.StartWithShortTurns(disownedLimit: 1);
        using var first = new Gate();
        using var second = new Gate();
        using var waiting = new Gate();
        Rig.Aborted(await Rig.Within(rig.Act("a", Step.Block(first)), "the first"), AbortReason.Timeout);
        var bystander = rig.Act("c", Step.Wait(waiting));
        await waiting.Reached();
        var last = rig.Act("b", Step.Block(second));
        await Rig.Until(() => rig.Failures.Count == 1, "the worker has failed");
        Assert.Contains("stuck", rig.Failures[0].Message, StringComparison.Ordinal);
        Assert.Equal(Outcome.InDoubt, (await Rig.Within(bystander, "the bystander")).Outcome);
        Assert.NotEqual(Outcome.Committed, (await Rig.Within(last, "the last")).Outcome);
        Rig.Rejected(await rig.Act("d", Step.Get()), RejectionKind.Unavailable);
        Assert.Contains(rig.Host.Inspection.Checks(), check => check is { Name: "worker", Healthy: false });
    }

    [Fact]
    public async Task Threads_that_came_back_do_not_count_as_stuck()
    {
        await using var rig = await Rig.StartWithShortTurns(disownedLimit: 1);
        for (var i = 0; i < 4; i++)
        {
            using var gate = new Gate();
            var stuck = rig.Act("a", Step.Block(gate));
            await gate.Reached();
            Rig.Aborted(await Rig.Within(stuck, "one that blocks for a while"), AbortReason.Timeout);
            gate.Open();
            await Rig.Until(() => gate.Blocked is { IsAlive: false }, "its thread has ended");
        }

        await Task.Delay(100); // ten looks
        Assert.Empty(rig.Failures);
        Rig.Saw(await Rig.Within(rig.Act("a", Step.Add(), Step.Get()), "another"), 1);
    }

    /// <summary>
    /// No other thread can go on for one that stands between two steps. Without it requests do not even end by their
    /// timeouts.
    /// </summary>
    [Fact]
    public async Task A_state_whose_own_code_does_not_return_ends_the_worker()
    {
        await using var rig = await Rig.StartWithShortTurns();
        try
        {
            var stuck = rig.Submit("Odd", "a", "Spoil", "endless", [("a", 1)], timeoutMs: 500);
            await Rig.Until(() => rig.Failures.Count == 1, "the worker has failed", seconds: 30);
            Assert.Contains("stuck", rig.Failures[0].Message, StringComparison.Ordinal);
            Assert.Equal(Outcome.InDoubt, (await Rig.Within(stuck, "the request")).Outcome);
        }
        finally
        {
            OddState.Enough.Set();
        }
    }

    [Theory]
    [InlineData("chain", "p")]
    [InlineData("rounds", "0")]
    public async Task Sixty_calls_deep_is_fine_and_an_endless_chain_is_refused(string chain, string root)
    {
        await using var one = await Rig.Start(new() { Executors = 1 });
        await using var two = await Rig.Start(new() { Executors = 2 });
        foreach (var rig in new[] { one, two })
        {
            Rig.Seen(await Rig.Within(rig.Submit(root, [new Step(chain, N: 60)]), "sixty deep"));
            var endless = await Rig.Within(rig.Submit(root, [new Step(chain, N: 1000)]), "an endless chain");
            Rig.Aborted(endless, AbortReason.Application);
            Assert.Contains("64 calls deep", endless.Abort!.Message, StringComparison.Ordinal);
            Assert.Equal(0, await rig.Value(root + "'"));
        }
    }
}
