using Snapper.Client;
using Snapper.Testing;
using Xunit;

namespace SnapperApp.Tests;

public sealed class CounterTests
{
    [Fact]
    public async Task What_is_moved_is_there_after_a_crash()
    {
        await using var snapper = await SnapperTest.Start(options => options.AddActors(typeof(Counter).Assembly));
        var a = snapper.Actor<ICounter>("a");
        await a.Act(counter => counter.Add(10));
        await a.Pact(counter => counter.MoveTo(new("b", 4)), touches => touches.Actor<ICounter>("b"));

        await snapper.Restart();

        Assert.Equal(6, await a.Act(counter => counter.Read()));
        Assert.Equal(4, await snapper.Actor<ICounter>("b").Act(counter => counter.Read()));
    }

    [Fact]
    public async Task A_refusal_leaves_both_as_they_were()
    {
        await using var snapper = await SnapperTest.Start(options => options.AddActors(typeof(Counter).Assembly));
        var a = snapper.Actor<ICounter>("a");
        await a.Act(counter => counter.Add(10));

        var refused = await Assert.ThrowsAsync<TransactionAbortedException>(
            () => a.Act(counter => counter.MoveTo(new("b", 11))));

        Assert.Equal("10 is less than 11", refused.Detail);
        Assert.Equal(10, await a.Act(counter => counter.Read()));
    }
}
