using System.Diagnostics;
using Microsoft.Extensions.DependencyInjection;
using Snapper.Client;
using Snapper.Client.Calls;
using Snapper.Protocol.Messages;
using Xunit.Abstractions;

namespace Snapper.Testing.Tests;

public sealed class SnapperTestTests(ITestOutputHelper output)
{
    [Fact]
    public async Task What_has_committed_is_there_after_a_crash()
    {
        await using var snapper = await Start();
        await snapper.Actor<IWallet>("a").Act(a => a.Put(10));
        await snapper.Actor<IWallet>("a").Pact(a => a.Pay(new("b", 4)), touches => touches.Actor<IWallet>("b"));

        await snapper.Crash();
        await snapper.Restart();

        Assert.Equal(6, await snapper.Actor<IWallet>("a").Act(a => a.Read()));
        Assert.Equal(4, await snapper.Actor<IWallet>("b").Act(b => b.Read()));
        Assert.Null(snapper.Failure);
    }

    [Theory]
    [InlineData("""{"count":2,"last":"pear"}""")]
    [InlineData("""{"$stateVersion":2,"items":["pear","pear"]}""")]
    public async Task What_an_earlier_program_stored_is_read(string stored)
    {
        await using var snapper = await Start();
        var cart = snapper.Actor<ICart>("a/b c");
        Assert.Null(await snapper.GetState(cart.Key));
        await snapper.PutState(cart.Key, stored);
        await snapper.Crash();
        await snapper.Restart();

        Assert.Equal(2, await cart.Act(c => c.Count("pear")));
        await cart.Act(c => c.Add("fig"));
        Assert.Equal("""{"$stateVersion":3,"lines":{"fig":1,"pear":2}}""", await snapper.GetState(cart.Key));
    }

    [Fact]
    public async Task What_no_program_stored_is_refused()
    {
        await using var snapper = await Start();
        var cart = snapper.Actor<ICart>("a");
        var refused = await Assert.ThrowsAsync<OperationRefusedException>(() =>
            snapper.PutState(cart.Key, """{"$stateVersion":4}"""));
        Assert.Contains("this program's Cart knows versions up to 3", refused.Detail, StringComparison.Ordinal);
        Assert.Equal(400, refused.Status);
        Assert.Null(await snapper.GetState(cart.Key));
    }

    [Fact]
    public async Task An_abort_undoes_all_of_it()
    {
        await using var snapper = await Start(most: 5);
        await snapper.Actor<IWallet>("a").Act(a => a.Put(5));
        await snapper.Actor<IWallet>("a").Act(a => a.Put(5));

        var aborted =
            await Assert.ThrowsAsync<TransactionAbortedException>(() =>
            snapper.Actor<IWallet>("a").Act(a => a.Pay(new("b", 6))));

        Assert.Equal(AbortReason.Application, aborted.Reason);
        Assert.Equal("at most 5", aborted.Detail);
        Assert.Equal(10, await snapper.Actor<IWallet>("a").Act(a => a.Read()));
        Assert.Equal(0, await snapper.Actor<IWallet>("b").Act(b => b.Read()));
    }

    [Fact]
    public async Task A_call_during_a_crash_has_its_outcome_from_the_next_life()
    {
        await using var snapper = await Start();
        var wallet = snapper.Actor<IWallet>("a");
        var puts =
            Enumerable.Range(0, 50).Select(i =>
            wallet.Act(a => a.Put(1), new CallOptions { Id = $"put-{i}" })).ToArray();
        await puts[0];

        await snapper.Crash();
        var whileDown = wallet.Act(a => a.Put(1));
        Assert.False(whileDown.IsCompleted);
        await snapper.Restart();

        await Task.WhenAll(puts);
        await whileDown;
        Assert.Equal(51, await wallet.Act(a => a.Read()));
    }

    [Fact]
    public async Task An_id_runs_once_over_lives()
    {
        await using var snapper = await Start();
        var wallet = snapper.Actor<IWallet>("a");
        var once = new CallOptions { Id = "once" };

        await wallet.Act(a => a.Put(1), once);
        await snapper.Restart();
        await wallet.Act(a => a.Put(1), once);

        Assert.Equal(1, await wallet.Act(a => a.Read()));
    }

    [Fact]
    public async Task Actors_see_the_clock_of_the_test()
    {
        var start = new DateTimeOffset(2030, 1, 1, 0, 0, 0, TimeSpan.Zero);
        await using var snapper = await Start(start: start);
        var wallet = snapper.Actor<IWallet>("a");
        await wallet.Act(a => a.Put(1));
        Assert.InRange(await wallet.Act(a => a.LastPut()), start, start.AddMinutes(1));

        snapper.Clock.Advance(TimeSpan.FromDays(30));
        await wallet.Act(a => a.Put(1));
        Assert.InRange(await wallet.Act(a => a.LastPut()), start.AddDays(30), start.AddDays(30).AddMinutes(1));
    }

    [Fact]
    public async Task A_method_that_waits_goes_on_when_the_clock_is_put_forward()
    {
        await using var snapper = await Start();
        var waits = snapper.Actor<IWallet>("a").Act(a => a.Wait(20_000));
        while (!waits.IsCompleted)
        {
            snapper.Clock.Advance(TimeSpan.FromSeconds(1)); // below the bound of its turn, and it may not have begun
            await Task.Delay(1);
        }

        await waits;
    }

    [Fact]
    public async Task A_missing_service_is_named_at_the_start()
    {
        var wrong =
            await Assert.ThrowsAsync<InvalidOperationException>(() =>
            SnapperTest.Start(options =>
            options.AddActors(typeof(Wallet).Assembly).Services.AddScoped<Visits>()));

        Assert.Contains("Wallet", wrong.Message, StringComparison.Ordinal);
        Assert.Contains(nameof(ILimits), wrong.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Nothing_to_host_or_hosted_twice_is_refused()
    {
        await Assert.ThrowsAsync<ArgumentException>(() => SnapperTest.Start(static _ => { }));
        await Assert.ThrowsAsync<ArgumentException>(() =>
            SnapperTest.Start(options => options.AddActors(typeof(string).Assembly)));
        var twice = await Assert.ThrowsAsync<ArgumentException>(() => SnapperTest.Start(options =>
            options.AddActors(typeof(Wallet).Assembly).AddActors(typeof(Wallet).Assembly)));
        Assert.Contains("Cart", twice.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_read_of_several_is_one_cut()
    {
        await using var snapper = await Start();
        var (a, b, never) = (snapper.Actor<IWallet>("a"), snapper.Actor<IWallet>("b"), snapper.Actor<IWallet>("never"));
        await a.Act(wallet => wallet.Put(10));
        await a.Act(wallet => wallet.Pay(new("b", 4)));

        var read = await snapper.Client.Read([a.Key, b.Key, never.Key]);

        Assert.Equal(6, read.StateOf<Money>(a.Key)!.Amount);
        Assert.Equal(4, read.StateOf<Money>(b.Key)!.Amount);
        Assert.Null(read.StateOf<Money>(never.Key));
        Assert.Equal([2, 1, 0], new[] { a, b, never }.Select(wallet => read.VersionOf(wallet.Key)));
        await Assert.ThrowsAsync<ArgumentException>(() => snapper.Client.Read([]));
        var refused =
            await Assert.ThrowsAsync<OperationRefusedException>(() => snapper.Client.Read([new("Nothing", "a")]));
        Assert.Equal(404, refused.Status);
    }

    [Fact]
    public async Task Each_call_has_a_scope_as_in_a_worker_and_loggers_are_there()
    {
        await using var snapper = await Start();
        var teller = snapper.Actor<ITeller>("t");

        Assert.Equal(1, await teller.Act(actor => actor.Ask()));
        Assert.Equal(1, await teller.Act(actor => actor.Ask()));
    }

    [Fact]
    public async Task Two_tests_know_nothing_of_each_other()
    {
        await using var one = await Start();
        await using var other = await Start();

        await one.Actor<IWallet>("a").Act(a => a.Put(1));

        Assert.Equal(0, await other.Actor<IWallet>("a").Act(a => a.Read()));
    }

    /// <summary>
    /// Tells what a start and a thousand transactions take; the figures stand in the log, and no bound but a generous
    /// one is held here.
    /// </summary>
    [Fact]
    public async Task It_is_quick()
    {
        for (var i = 0; i < 3; i++)
        {
            await using var warm = await Start();
            await Thousand(warm);
        }

        var began = Stopwatch.GetTimestamp();
        await using var snapper = await Start();
        output.WriteLine($"start {Stopwatch.GetElapsedTime(began).TotalMilliseconds:0.0} ms");
        began = Stopwatch.GetTimestamp();
        await Thousand(snapper);
        output.WriteLine(
            $"1,000 transactions, one after the other {Stopwatch.GetElapsedTime(began).TotalMilliseconds:0.0} ms");
        began = Stopwatch.GetTimestamp();
        await Task.WhenAll(
            Enumerable.Range(0, 1000).Select(i => snapper.Actor<IWallet>($"b{i % 100}").Pact(a => a.Put(1))));
        output.WriteLine($"1,000 transactions at once {Stopwatch.GetElapsedTime(began).TotalMilliseconds:0.0} ms");
        Assert.Equal(1000, await snapper.Actor<IWallet>("a").Act(a => a.Read()));
    }

    private static async Task Thousand(SnapperTest snapper)
    {
        for (var i = 0; i < 1000; i++)
        {
            await snapper.Actor<IWallet>("a").Pact(a => a.Put(1));
        }
    }

    private static Task<SnapperTest> Start(int most = int.MaxValue, DateTimeOffset? start = null) =>
        SnapperTest.Start(options =>
    {
        options.AddActors(typeof(Wallet).Assembly);
        options.Services.AddSingleton<ILimits>(new Limits(most));
        options.Services.AddScoped<Visits>();
        options.StartsAt = start ?? options.StartsAt;
    });

    private sealed record Limits(int MostAtOnce) : ILimits;
}
