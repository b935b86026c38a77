using Snapper.Runtime.Door;
using Xunit;

namespace Snapper.Runtime.Tests;

public sealed class FirstTransactionTests
{
    [Fact]
    public async Task A_pact_moves_money_between_two_actors()
    {
        await using var worker = await TestWorker.Start();
        var envelope = await worker.Pact("Account", "alice", "Transfer", new { to = "bob", amount = 10 }, ("alice", 1), ("bob", 1));
        Assert.True(envelope.Outcome == Outcome.Committed, TestWorker.Describe(envelope));
        Assert.Equal(19_990, await worker.Total("alice"));
        Assert.Equal(20_010, await worker.Total("bob"));
    }

    [Fact]
    public async Task An_act_moves_money_between_two_actors()
    {
        await using var worker = await TestWorker.Start();
        var envelope = await worker.Act("Account", "alice", "Transfer", new { to = "bob", amount = 10 });
        Assert.True(envelope.Outcome == Outcome.Committed, TestWorker.Describe(envelope));
        Assert.Equal(19_990, await worker.Total("alice"));
        Assert.Equal(20_010, await worker.Total("bob"));
    }

    [Fact]
    public async Task State_is_found_again_after_a_restart()
    {
        await using var worker = await TestWorker.Start();
        await worker.Pact("Account", "alice", "Transfer", new { to = "bob", amount = 10 }, ("alice", 1), ("bob", 1));
        await worker.Restart();
        Assert.Equal(19_990, await worker.Total("alice"));
        Assert.Equal(20_010, await worker.Total("bob"));
    }
}
