using Snapper.Client.Sending;

namespace Snapper.Client.Tests;

public sealed class GiveUpTests
{
    private static readonly TimeSpan Long = TimeSpan.FromMinutes(5);

    [Fact]
    public void One_that_was_given_back_is_used_again_and_knows_nothing_of_the_time_before()
    {
        using var closing = new CancellationTokenSource();
        var giveUps = new CancellationPool(closing.Token);
        var heard = 0;
        var first = giveUps.After(Long);
        first.Token.UnsafeRegister(_ => heard++, null);
        first.Dispose();

        using var second = giveUps.After(Long);
        using var third = giveUps.After(Long);

        Assert.Same(first, second);
        Assert.NotSame(first, third);
        second.Cancel();
        Assert.Equal((0, false), (heard, third.IsCancellationRequested));
    }

    [Fact]
    public async Task One_whose_time_has_come_is_not_used_again()
    {
        using var closing = new CancellationTokenSource();
        var giveUps = new CancellationPool(closing.Token);
        var first = giveUps.After(TimeSpan.FromMilliseconds(1));
        var come = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        first.Token.UnsafeRegister(_ => come.SetResult(), null);
        await come.Task.WaitAsync(TimeSpan.FromSeconds(30));
        first.Dispose();

        using var second = giveUps.After(Long);

        Assert.NotSame(first, second);
        Assert.False(second.IsCancellationRequested);
    }

    [Fact]
    public void Closing_ends_those_that_are_out_and_those_that_are_taken_later()
    {
        using var closing = new CancellationTokenSource();
        var giveUps = new CancellationPool(closing.Token);
        var kept = giveUps.After(Long);
        using var isOut = giveUps.After(Long);
        kept.Dispose();

        closing.Cancel();

        Assert.True(isOut.IsCancellationRequested);
        using var later = giveUps.After(Long);
        using var another = giveUps.After(Long);
        Assert.Equal((true, true), (later.IsCancellationRequested, another.IsCancellationRequested));
    }
}
