using System.Diagnostics;
using Snapper.Protocol.Messages;
using Snapper.Runtime.Tests.Support;
using Xunit;

namespace Snapper.Runtime.Tests;

/// <summary>
/// W4 for many: a batch commits as a whole, and still a line of slow PACTs holds nobody up who shares no actor with
/// them.
/// </summary>
[Collection(Timing.Name)]
public sealed class SlowPactTests
{
    [Fact]
    public async Task A_pact_waits_for_few_slow_ones_and_not_for_all_in_line()
    {
        await using var rig = await Rig.StartWithShortTurns();
        using var never = new Gate();
        var slow = Enumerable.Range(0, 30).Select(_ => rig.Pact("slow", ["slow"], Step.Wait(never))).ToArray();
        var other = rig.Pact("other", ["other"], Step.Add(), Step.Get());
        await never.Reached();
        var clock = Stopwatch.StartNew();
        Rig.Saw(await Rig.Within(other, "the PACT that shares nothing with them", 5), 1);

        // Each of the thirty ends at its turn bound: in one batch they would take thirty of them.
        Assert.True(clock.Elapsed < 6 * rig.Host.Worker.Options.TurnBound, $"It took {clock.Elapsed.TotalSeconds:0.0} s.");
        Rig.Aborted(await Rig.Within(slow[0], "the first slow one", 5), AbortReason.Timeout);
        for (var i = 0; i < 5; i++)
        {
            clock.Restart();
            Rig.Saw(await Rig.Within(rig.Pact("other", ["other"], Step.Add(), Step.Get()), "another one", 5), i + 2);
            Assert.True(clock.Elapsed < 6 * rig.Host.Worker.Options.TurnBound, $"It took {clock.Elapsed.TotalSeconds:0.0} s.");
        }
    }
}
