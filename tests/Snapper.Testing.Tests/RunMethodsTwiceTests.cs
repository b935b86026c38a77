using Microsoft.Extensions.DependencyInjection;
using Snapper.Client;
using Snapper.Protocol.Messages;

namespace Snapper.Testing.Tests;

public sealed class RunMethodsTwiceTests
{
    [Fact]
    public async Task A_method_that_returns_something_else_is_named() =>
        await Named(static sloppy => sloppy.OwnId(), "Sloppy.OwnId", "first it returned \"");

    [Fact]
    public async Task A_method_that_leaves_another_state_is_named() => await Named(
        static sloppy => sloppy.Counts(), "Sloppy.Counts",
        """first it left the state {"numbers":[1]}, then {"numbers":[2]}.""");

    [Fact]
    public async Task A_method_that_makes_other_calls_is_named()
    {
        await Named(static sloppy => sloppy.CallsAnother("w"), "Sloppy.CallsAnother",
            "first it called Wallet/w1.Put(1), then Wallet/w2.Put(1).");
        await Named(static sloppy => sloppy.CallsOnce(), "Sloppy.CallsOnce",
            "only the first time it called Wallet/once.Put(1).");
        await Named(static sloppy => sloppy.ReadsOnce(), "Sloppy.ReadsOnce",
            "only the second time it asked for its state.");
        await Named(static sloppy => sloppy.RefusesOnce(), "Sloppy.RefusesOnce",
            "first it returned, then it failed with 'no'.");
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task Others_do_what_they_do_without_it(bool twice)
    {
        await using var snapper = await Start(twice);
        var sloppy = snapper.Actor<ISloppy>("a");
        await sloppy.Act(a => a.GivenId());
        Assert.Equal(2 * 5, await sloppy.Act(a => a.Clean(5)));
        Assert.Equal((5 + 5) + (7 + 12), await sloppy.Act(a => a.Clean(7)));
        Assert.Equal("""{"numbers":[5,5,7,12]}""", await snapper.GetState(sloppy.Key));
        Assert.Equal([4, 1], await sloppy.Act(a => a.Changes(new List<int> { 4 })));
        var refused = await Assert.ThrowsAsync<TransactionAbortedException>(() => sloppy.Act(a => a.CleanAbort()));
        Assert.Equal("too_little", refused.Code);
        await snapper.Actor<IWallet>("w").Pact(w => w.Pay(new("v", 12)), touches => touches.Actor<IWallet>("v"));
        Assert.Equal(12, await snapper.Actor<IWallet>("v").Act(v => v.Read()));
        await Assert.ThrowsAsync<TransactionAbortedException>(() =>
            snapper.Actor<IWallet>("w").Act(w => w.Pay(new("v", 1))));
        Assert.Equal(1, await snapper.Actor<ITeller>("t").Act(t => t.Ask()));
        Assert.Null(snapper.Failure);
    }

    private static async Task Named(Func<ISloppy, Task> call, string method, string how)
    {
        Sloppy.Reset();
        await using var snapper = await Start(twice: true);
        var refused = await Assert.ThrowsAsync<TransactionAbortedException>(() =>
            snapper.Actor<ISloppy>("a").Act(call));
        Assert.Equal((AbortReason.Application, "not_repeatable"), (refused.Reason, refused.Code));
        Assert.StartsWith(method + " does not do the same", refused.Detail, StringComparison.Ordinal);
        Assert.Contains(how, refused.Detail, StringComparison.Ordinal);
        Assert.Null(await snapper.GetState(snapper.Actor<ISloppy>("a").Key));
    }

    private static Task<SnapperTest> Start(bool twice) => SnapperTest.Start(options =>
    {
        options.AddActors(typeof(Wallet).Assembly);
        options.Services.AddSingleton<ILimits>(new Limits());
        options.Services.AddScoped<Visits>();
        options.RunMethodsTwice = twice;
    });

    private sealed class Limits : ILimits
    {
        public int MostAtOnce => 100;
    }
}
