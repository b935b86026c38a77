using System.Diagnostics;
using Snapper.Protocol.Messages;
using Snapper.Runtime.Tests.Support;
using Xunit;

namespace Snapper.Runtime.Tests;

/// <summary>A transaction that waits holds up those that share an actor with it, and no others (D1, D2, W4).</summary>
[Collection(Timing.Name)]
public sealed class SlowPactTests
{
    [Fact]
    public async Task Others_commit_while_a_pact_waits_and_it_is_not_ended_for_them()
    {
        await using var rig = await Rig.StartWithShortTurns();
        using var gate = new Gate();
        var slow = rig.Pact("slow", ["slow"], Step.Wait(gate), Step.Add(), Step.Get());
        await gate.Reached();
        var clock = Stopwatch.StartNew();
        var seen = 0;
        while (clock.Elapsed < 3 * rig.Host.Worker.Options.TurnBound || seen < 10)
        {
            var pact = rig.Pact("other", ["other"], Step.Add(), Step.Get());
            Rig.Saw(await Rig.Within(pact, "a PACT that shares nothing with it", 5), ++seen);
            var act = rig.Act("other", Step.Add(), Step.Get());
            Rig.Saw(await Rig.Within(act, "an ACT that shares nothing with it", 5), ++seen);
        }

        gate.Open();
        Rig.Saw(await Rig.Within(slow, "the one that waited", 5), 1);
    }

    [Fact]
    public async Task A_pact_does_not_wait_for_a_line_of_others()
    {
        await using var rig = await Rig.StartWithShortTurns();
        using var never = new Gate();
        var slow = Enumerable.Range(0, 30).Select(_ => rig.Pact("slow", ["slow"], Step.Wait(never))).ToArray();
        var other = rig.Pact("other", ["other"], Step.Add(), Step.Get());
        await never.Reached();
        Rig.Saw(await Rig.Within(other, "the PACT that shares nothing with them", 5), 1);

        // Those behind it wait for it, so that each of the thirty ends at its turn bound.
        Assert.False(slow[^1].IsCompleted);
        Rig.Aborted(await Rig.Within(slow[0], "the first of them", 5), AbortReason.Timeout);
    }
}
