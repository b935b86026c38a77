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
        // What the first one leaves over, the later ones find done: in one of them nothing more is compiled, before its
        // time is up. On a busy machine one may find that with its last transactions, and only then.
        var bound = TimeSpan.FromSeconds(20);
        var warm = new List<WarmUpResult>();
        do
        {
            warm.Add(await WarmUp.Run(bound, Always, CancellationToken.None));
        }
        while (warm.Count < 5 && !(warm[^1].IsDone && warm[^1].Took < bound));

        Assert.True(warm[^1].IsDone && warm[^1].Took < bound, string.Join('\n', warm));
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
