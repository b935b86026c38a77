using Microsoft.Extensions.DependencyInjection;
using Snapper.Contracts;
using Snapper.Dashboard.Hosting;
using Snapper.Dashboard.Store;
using Snapper.Tests.Support;

namespace Snapper.Dashboard.Tests.Units;

/// <summary>What was asked for before a browser is connected is kept for it, for a while, and not in any number.</summary>
public sealed class HandoverTests
{
    [Fact]
    public async Task It_is_kept_for_its_time_and_not_longer()
    {
        await using var dashboard = DashboardProgram.Build(new DashboardSettings([new Uri("http://127.0.0.1:1")], null, 0, false, 0));
        var (fleet, feeds, streams, time) = (dashboard.Services.GetRequiredService<Fleet>(), dashboard.Services.GetRequiredService<Feeds>(), dashboard.Services.GetRequiredService<Streams>(), new ManualTime());
        using var handover = new Handover(fleet, streams, time);
        handover.Expect();
        time.Advance(TimeSpan.FromSeconds(4));
        handover.Keep(feeds.Watch<HotView>("/v1/hot?limit=50"));
        using (var page = feeds.Watch<HotView>("/v1/hot?limit=50")) Assert.Equal((1, 1, 2), (fleet.Viewers, feeds.Count, handover.Count));
        time.Advance(TimeSpan.FromSeconds(5.9));
        Assert.Equal((1, 1, 2), (fleet.Viewers, feeds.Count, handover.Count));
        time.Advance(TimeSpan.FromSeconds(0.1));
        Assert.Equal((0, 1, 1), (fleet.Viewers, feeds.Count, handover.Count));
        time.Advance(TimeSpan.FromSeconds(4));
        Assert.Equal((0, 0, 0), (fleet.Viewers, feeds.Count, handover.Count));
        Assert.Equal(0, time.Armed);

        // And once more, after it was empty.
        handover.Expect();
        time.Advance(Handover.Longest);
        Assert.Equal(0, fleet.Viewers);
    }

    [Fact]
    public async Task Of_too_many_the_oldest_goes_and_at_the_end_all()
    {
        await using var dashboard = DashboardProgram.Build(new DashboardSettings([new Uri("http://127.0.0.1:1")], null, 0, false, 0));
        var handover = new Handover(dashboard.Services.GetRequiredService<Fleet>(), dashboard.Services.GetRequiredService<Streams>(), new ManualTime());
        var kept = Enumerable.Range(0, Handover.Most + 3).Select(_ => new Told()).ToArray();
        foreach (var one in kept) handover.Keep(one);
        Assert.Equal([.. kept.Take(3)], kept.Where(one => one.IsGone));
        Assert.Equal(Handover.Most, handover.Count);
        handover.Dispose();
        Assert.All(kept, one => Assert.True(one.IsGone));
        var late = new Told();
        handover.Keep(late);
        Assert.True(late.IsGone);
    }

    private sealed class Told : IDisposable
    {
        public bool IsGone { get; private set; }

        public void Dispose() => IsGone = true;
    }
}
