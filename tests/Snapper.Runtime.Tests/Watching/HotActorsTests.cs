using System.Diagnostics;
using Snapper.Protocol.Identity;
using Snapper.Runtime.Inspection.Watching;
using Snapper.Runtime.Tests.Cluster;
using Xunit;

namespace Snapper.Runtime.Tests.Watching;

public sealed class HotActorsTests
{
    private const int Most = 4096;

    [Fact]
    public void When_all_are_in_use_newcomers_are_left_out_until_some_have_not_been_used_for_a_minute()
    {
        var time = new ManualTime();
        var (hot, clock) = Full(time);
        Use(hot, clock, Most);
        Use(hot, clock, Most + 1);
        Assert.DoesNotContain(hot.View(int.MaxValue), static view => view.Actor is "Box/4096" or "Box/4097");

        time.Advance(TimeSpan.FromSeconds(62));
        Use(hot, clock, Most + 2);

        Assert.Equal("Box/4098", Assert.Single(hot.View(int.MaxValue)).Actor);
    }

    [Fact]
    public void The_hottest_come_first_and_no_more_of_them_than_asked_for()
    {
        var (hot, clock) = Full(new ManualTime());
        for (var i = 0; i < 3; i++) Use(hot, clock, 77);
        Use(hot, clock, 5);

        var views = hot.View(3);

        Assert.Equal(["Box/77", "Box/5", "Box/0"], views.Select(static view => view.Actor));
        Assert.Equal([4, 2, 1], views.Select(static view => view.Transactions));
    }

    [Fact]
    public void To_look_at_a_few_of_thousands_costs_memory_for_a_few()
    {
        var (hot, _) = Full(new ManualTime());
        hot.View(20);
        var before = GC.GetAllocatedBytesForCurrentThread();
        hot.View(20);

        // An entry in a list for each of them, and a minute's seconds for those that are shown.
        Assert.InRange(GC.GetAllocatedBytesForCurrentThread() - before, 1, (Most * 32) + 20_000);
    }

    [Fact]
    public void Newcomers_to_a_full_list_do_not_look_at_all_of_it_again_and_again()
    {
        var (hot, clock) = Full(new ManualTime());
        const int Uses = 20_000;
        Time(from: 0);
        var known = Math.Min(Time(from: 0), Time(from: 0));
        var newcomers = Math.Min(Time(from: Most), Time(from: Most));

        // A look at 4,096 for each of them would take hundreds of times as long.
        Assert.True(newcomers < 20 * known, $"{newcomers} ticks for newcomers, {known} for known ones");

        long Time(int from)
        {
            var began = Stopwatch.GetTimestamp();
            for (var i = 0; i < Uses; i++) Use(hot, clock, from + (i % Most));
            return Stopwatch.GetTimestamp() - began;
        }
    }

    private static (HotActors Hot, WatchClock Clock) Full(ManualTime time)
    {
        var clock = new WatchClock(time);
        var hot = new HotActors(clock);
        for (var i = 0; i < Most; i++) Use(hot, clock, i);
        return (hot, clock);
    }

    private static void Use(HotActors hot, WatchClock clock, int box) => hot.Add(new ActorKey("Box", $"{box}"), transactions: 1, waitingMs: 1, executingMs: 1, conflicts: 0, clock.Now);
}
