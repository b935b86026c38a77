using Snapper.Runtime.Execution;
using Snapper.Runtime.Requests;
using Snapper.Runtime.Tests.Cluster;
using Xunit;

namespace Snapper.Runtime.Tests;

/// <summary>The wheel alone, on a clock that the test turns.</summary>
public sealed class DeadlineWheelTests
{
    private static readonly TimeSpan s_tick = TimeSpan.FromMilliseconds(50);

    [Fact]
    public void A_request_is_looked_at_each_second_after_its_deadline_until_it_is_removed()
    {
        var time = new ManualTime(DateTimeOffset.UnixEpoch);
        var looks = new List<long>();
        using var wheel = new DeadlineWheel(time, s_tick, _ => looks.Add(time.GetTimestamp()), static () => { });
        var request = Due(time, TimeSpan.FromMilliseconds(500));
        wheel.Add(request);
        time.Advance(TimeSpan.FromMilliseconds(499));
        Assert.Empty(looks);
        time.Advance(TimeSpan.FromMilliseconds(3_501));
        Assert.Equal(4, looks.Count);
        for (var i = 0; i < looks.Count; i++)
        {
            // Never early, and late by no more than two ticks for each look.
            Assert.InRange(looks[i], TimeSpan.FromMilliseconds(500 + (1_000 * i)).Ticks, TimeSpan.FromMilliseconds(500 + (1_000 * i) + (100 * (i + 1))).Ticks);
        }

        Assert.Equal(1, wheel.Count);
        wheel.Remove(request);
        time.Advance(TimeSpan.FromSeconds(5));
        Assert.Equal(4, looks.Count);
        Assert.Equal(0, wheel.Count);
        Assert.Equal(0, time.Armed); // an idle worker has no timer
    }

    private static Request Due(TimeProvider time, TimeSpan after) =>
        new(new() { Actor = new("Box", "a"), Method = "Run", Timeout = after }, null!, null, "x", default, null, answersInline: true)
        {
            Deadline = time.GetTimestamp() + after.Ticks,
        };
}
