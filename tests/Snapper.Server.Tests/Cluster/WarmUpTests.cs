using Snapper.Server.Hosting;
using Xunit;

namespace Snapper.Server.Tests.Cluster;

public sealed class WarmUpTests
{
    [Fact]
    public async Task It_runs_transactions_that_commit_and_ends_when_the_time_is_up()
    {
        var warm = await WarmUp.Run(TimeSpan.FromMilliseconds(1), Always, CancellationToken.None);

        // One burst at least; one of ten asks for more money than there is, and no ACT may be left behind.
        Assert.InRange(warm.Committed, 120, 199);
        Assert.False(warm.IsDone);
    }

    [Fact]
    public async Task It_ends_when_nothing_is_left_to_compile()
    {
        // What the first one leaves over, the later ones find done: in one of them nothing more is compiled, well before its time is up.
        for (var i = 0; i < 5; i++)
        {
            var warm = await WarmUp.Run(TimeSpan.FromSeconds(20), Always, CancellationToken.None);
            if (warm.IsDone)
            {
                Assert.True(warm.Took < TimeSpan.FromSeconds(20), $"{warm}");
                return;
            }
        }

        Assert.Fail("It never came to its end.");
    }

    [Fact]
    public async Task Whoever_stops_the_worker_stops_it() =>
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => WarmUp.Run(TimeSpan.FromMinutes(1), Always, new CancellationToken(canceled: true)));

    [Fact]
    public async Task It_ends_when_somebody_waits_for_the_worker()
    {
        var warm = await WarmUp.Run(TimeSpan.FromMinutes(1), () => Task.FromResult(false), CancellationToken.None);

        Assert.False(warm.IsDone);
        Assert.InRange(warm.Committed, 120, 199); // one burst
    }

    private static Task<bool> Always() => Task.FromResult(true);
}
