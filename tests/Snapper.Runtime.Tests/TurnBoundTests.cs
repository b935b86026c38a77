using System.Diagnostics;
using Snapper.Protocol.Messages;
using Snapper.Runtime.Tests.Support;
using Xunit;

namespace Snapper.Runtime.Tests;

/// <summary>W4: user code keeps others waiting only so long.</summary>
[Collection(Timing.Name)]
public sealed class TurnBoundTests
{
    // A marked run fails at once, an unmarked one twice (A4): both with room for a busy machine.
    private const double Soon = 5;

    [Fact]
    public async Task A_pact_that_awaits_for_ever_times_out_and_the_pact_behind_it_goes_on()
    {
        await using var rig = await Rig.StartWithShortTurns();
        using var gate = new Gate();
        var stuck = rig.Marked("a", ["a", "b"], Step.Add(), Step.Wait(gate));
        await gate.Reached();
        var behind = rig.Pact("b", ["b"], Step.Add(), Step.Get());
        Rig.Saw(await Rig.Within(behind, "the PACT behind", Soon), 1);
        Rig.Aborted(await Rig.Within(stuck, "the stuck PACT", Soon), AbortReason.Timeout);
        Assert.Equal(0, await rig.Value("a"));
    }

    [Fact]
    public async Task An_unmarked_pact_that_awaits_for_ever_times_out_too()
    {
        await using var rig = await Rig.StartWithShortTurns(executors: 2);
        using var gate = new Gate();
        var stuck = rig.Pact("a", ["a", "b", "c"], Step.Call("b", Step.Add()), Step.Wait(gate));
        await gate.Reached();
        var behind = rig.Pact("b", ["b"], Step.Add(), Step.Get());
        Rig.Saw(await Rig.Within(behind, "the PACT behind", Soon), 1);
        Rig.Aborted(await Rig.Within(stuck, "the stuck PACT", Soon), AbortReason.Timeout);
    }

    [Fact]
    public async Task A_pact_behind_an_act_that_awaits_for_ever_goes_on()
    {
        await using var rig = await Rig.StartWithShortTurns();
        using var gate = new Gate();
        var stuck = rig.Act("a", Step.Add(5), Step.Wait(gate));
        await gate.Reached();
        var behind = rig.Pact("a", ["a"], Step.Add(), Step.Get());
        Rig.Saw(await Rig.Within(behind, "the PACT behind", Soon), 1);
        Rig.Aborted(await Rig.Within(stuck, "the stuck ACT", Soon), AbortReason.Timeout);
    }

    [Fact]
    public async Task An_act_behind_a_pact_that_awaits_for_ever_goes_on()
    {
        await using var rig = await Rig.StartWithShortTurns();
        using var gate = new Gate();
        var stuck = rig.Marked("a", ["a"], Step.Add(5), Step.Wait(gate));
        await gate.Reached();
        var behind = rig.Act("a", Step.Add(), Step.Get());
        Rig.Saw(await Rig.Within(behind, "the ACT behind", Soon), 1);
        Rig.Aborted(await Rig.Within(stuck, "the stuck PACT", Soon), AbortReason.Timeout);
    }

    [Fact]
    public async Task An_act_that_waits_for_the_lock_of_one_that_awaits_for_ever_goes_on()
    {
        await using var rig = await Rig.StartWithShortTurns();
        using var older = new Gate();
        using var stuckAt = new Gate();
        var waiter = rig.Act("x", Step.Wait(older), Step.Call("a", Step.Add(), Step.Get()));
        await older.Reached();
        var stuck = rig.Act("a", Step.Add(5), Step.Wait(stuckAt));
        await stuckAt.Reached();
        older.Open(); // the older one waits for the younger one's lock (W1)
        Rig.Saw(await Rig.Within(waiter, "the waiter", Soon), 1);
        Rig.Aborted(await Rig.Within(stuck, "the stuck ACT", Soon), AbortReason.Timeout);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task Nobody_is_doomed_while_nobody_waits(bool pact)
    {
        await using var rig = await Rig.StartWithShortTurns();
        using var gate = new Gate();
        var alone = pact ? rig.Pact("a", ["a"], Step.Wait(gate), Step.Add(), Step.Get()) : rig.Act("a", Step.Wait(gate), Step.Add(), Step.Get());
        await gate.Reached();
        var since = Stopwatch.GetTimestamp();
        await Rig.Until(() => Stopwatch.GetElapsedTime(since) > 3 * Rig.ShortBound, "three turn bounds have passed");
        Assert.False(alone.IsCompleted);
        gate.Open();
        Rig.Saw(await Rig.Within(alone, "the lone transaction"), 1);
    }

    [Fact]
    public async Task Whoever_waits_itself_is_not_blamed()
    {
        await using var rig = await Rig.StartWithShortTurns();
        using var gate = new Gate();
        var stuck = rig.Marked("a", ["a"], Step.Wait(gate));
        await gate.Reached();

        // Runs on b, waits for its turn on a; a third waits for it on b.
        var middle = rig.Pact("b", ["b", "a"], Step.Call("a", Step.Add()), Step.Add(), Step.Get());
        var last = rig.Pact("b", ["b"], Step.Add(), Step.Get());
        Rig.Aborted(await Rig.Within(stuck, "the stuck PACT", Soon), AbortReason.Timeout);
        var envelope = await Rig.Within(middle, "the one in the middle", Soon);
        Rig.Saw(envelope, 1);
        Assert.Equal(1, envelope.Attempts);
        Rig.Saw(await Rig.Within(last, "the last one", Soon), 2);
    }

    [Fact]
    public async Task A_declared_actor_that_is_never_called_blocks_nobody()
    {
        await using var rig = await Rig.StartWithShortTurns(executors: 2);
        Rig.Seen(await Rig.Within(rig.Pact("a", ["a", "b", "b", "c"], Step.Add()), "the PACT that declared too much"));
        Rig.Saw(await Rig.Within(rig.Pact("b", ["b"], Step.Add(), Step.Get()), "a PACT on what was declared"), 1);
        Rig.Saw(await Rig.Within(rig.Act("c", Step.Add(), Step.Get()), "an ACT on what was declared"), 1);
        Assert.Equal(0, rig.Host.Inspection.Status().Aborted);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_pact_whose_turn_elsewhere_is_over_holds_the_commits_behind_it_up_no_longer_than_the_bound(bool act)
    {
        // D2, H3: what has executed behind it on the other actor has its turn behind it, and waits for it all the same.
        await using var rig = await Rig.StartWithShortTurns();
        using var gate = new Gate();
        var stuck = rig.Pact("a", ["a", "z"], Step.Call("z", Step.Add()), Step.Wait(gate));
        await gate.Reached();
        var other = act ? rig.Act("z", Step.Add(), Step.Get()) : rig.Pact("z", ["z"], Step.Add(), Step.Get());
        Rig.Saw(await Rig.Within(other, "the one behind it", Soon), 1);
        Rig.Aborted(await Rig.Within(stuck, "the stuck PACT", Soon), AbortReason.Timeout);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task Calls_that_wait_for_another_call_of_their_own_transaction_excuse_nobody(bool pact)
    {
        await using var rig = await Rig.StartWithShortTurns(executors: 2);
        using var gate = new Gate();
        Step[] steps = [Step.Together(Step.Call("b", Step.Add(), Step.Wait(gate)), Step.Call("b", Step.Add()))];
        var stuck = pact ? rig.Marked("a", ["a", "b", "b"], steps) : rig.Act("a", steps);
        await gate.Reached();
        var behind = rig.Pact("b", ["b"], Step.Add(), Step.Get());
        Rig.Saw(await Rig.Within(behind, "the PACT behind", Soon), 1);
        Rig.Aborted(await Rig.Within(stuck, "the stuck transaction", Soon), AbortReason.Timeout);
    }

    [Fact]
    public async Task A_transaction_that_waits_for_itself_in_a_ring_times_out()
    {
        await using var rig = await Rig.StartWithShortTurns(executors: 2);
        using var y = new Gate();
        using var z = new Gate();
        var stuck = rig.Marked(
            "x",
            ["x", "y", "z", "y", "z"],
            Step.Together(Step.Call("y", Step.Wait(y), Step.Call("z", Step.Add())), Step.Call("z", Step.Wait(z), Step.Call("y", Step.Add()))));
        await y.Reached();
        await z.Reached();
        y.Open();
        z.Open();
        var behind = rig.Pact("y", ["y"], Step.Add(), Step.Get());
        Rig.Saw(await Rig.Within(behind, "the PACT behind", Soon), 1);
        Rig.Aborted(await Rig.Within(stuck, "the ring", Soon), AbortReason.Timeout);
    }
}
