using Xunit;
using Xunit.Abstractions;

namespace Snapper.Integration.Tests.Fakes;

/// <summary>The loads and their checks pass on a correct system whose connections break, and fail on each kind of broken one. So a pass means something.</summary>
public sealed class HarnessTests(ITestOutputHelper output)
{
    [Fact]
    public async Task A_correct_system_that_hangs_up_now_and_then_passes()
    {
        using var fake = new FakeSnapper(Flaw.None);
        using var client = fake.Client();
        var load = new ListAppendLoad(client, new LoadOptions { Seed = 1, Transactions = 1500 }, "x");
        var bank = new BankLoad(client, new LoadOptions { Seed = 1, Transactions = 500 }, "b");

        await Task.WhenAll(load.Run(), bank.Run());
        var (report, money) = (await load.Judge(), await bank.Judge());

        output.WriteLine(load.Describe(report));
        output.WriteLine(bank.Describe(money));
        Assert.True(report.Passed && load.Problems.IsEmpty, load.Describe(report));
        Assert.True(money.Passed, bank.Describe(money));
        Assert.True(report.Statistics.Committed > 1000, "Too little was committed to prove anything.");
        Assert.True(load.Submitter.Lookups > 5 && load.Submitter.Repeats > 5, "No connection broke, so resolving by id was not tried.");
    }

    [Fact]
    public Task A_system_that_breaks_its_promises_is_caught() => Task.WhenAll(
        new[] { Flaw.LosesAppends, Flaw.KeepsAbortedWrites, Flaw.ForgetsIds, Flaw.ReadsStale, Flaw.LosesUpdates }.Select(async flaw =>
        {
            using var fake = new FakeSnapper(flaw);
            using var client = fake.Client();
            var load = new ListAppendLoad(client, new LoadOptions { Seed = 1, Transactions = 800 }, "x");

            await load.Run();
            var report = await load.Judge();

            Assert.False(report.Passed, $"{flaw}: {load.Describe(report)}");
        }));

    [Fact]
    public async Task Lost_money_is_caught()
    {
        using var fake = new FakeSnapper(Flaw.LosesMoney);
        using var client = fake.Client();
        var bank = new BankLoad(client, new LoadOptions { Seed = 1, Transactions = 800 }, "b");

        await bank.Run();

        Assert.False((await bank.Judge()).Passed);
    }
}
