using Snapper.Protocol.Batches;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;
using Snapper.Runtime.Door;
using Snapper.Runtime.Execution;
using Snapper.Runtime.Tests.Support;
using Xunit;

namespace Snapper.Runtime.Tests.Cluster;

/// <summary>
/// Where tenants are kept apart, a transaction touches actors of its root's tenant alone, on whichever worker they
/// are.
/// </summary>
public sealed class TenantsApartTests
{
    private static readonly WorkerOptions s_apart = new() { Executors = 2, TenantsApart = true, DrainTimeout = TimeSpan.FromSeconds(1) };

    [Theory]
    [InlineData("acme/a", "acme/b", true)]
    [InlineData("acme/a", "acme/b/c", true)]
    [InlineData("alice", "bob", true)]
    [InlineData("acme/a", "umbrella/b", false)]
    [InlineData("acme/a", "bob", false)]
    [InlineData("alice", "acme/b", false)]
    [InlineData("acme/a", "acme2/b", false)]
    [InlineData("acme/a", "Acme/b", false)]
    [InlineData("acme/a", "/b", false)]
    [InlineData("acme", "acme/b", false)]
    public async Task A_call_of_another_tenants_actor_ends_the_transaction_and_nothing_of_it_stays(string root, string called, bool allowed)
    {
        await using var rig = await Rig.Start(s_apart);
        foreach (var envelope in new[]
        {
            await rig.Act(root, Step.Add(), Step.Call(called, Step.Add())),
            await rig.Pact(root, [root, called], Step.Add(), Step.Call(called, Step.Add())),
            await rig.Act(root, Step.Add(), Step.Try(called, Step.Add())),
        })
        {
            if (allowed)
            {
                Assert.Equal(Outcome.Committed, envelope.Outcome);
                continue;
            }

            Assert.Equal(Outcome.Aborted, envelope.Outcome);
            Assert.Equal(AbortReason.Application, envelope.Abort!.Reason);
            Assert.False(envelope.Abort.Retryable);
            Assert.Contains("an actor of another tenant", envelope.Abort.Message, StringComparison.Ordinal);
        }

        Assert.Equal(allowed ? [3] : [0], Seen(await rig.Act(root, Step.Get())));
        Assert.Equal(allowed ? [3] : [0], Seen(await rig.Act(called, Step.Get())));
        Assert.Empty(rig.Failures);
    }

    [Fact]
    public async Task Further_down_the_chain_of_calls_it_holds_as_well_and_without_the_setting_not_at_all()
    {
        await using var rig = await Rig.Start(s_apart);
        var deep = await rig.Act("acme/a", Step.Call("acme/b", Step.Call("acme/c", Step.Call("umbrella/d", Step.Add()))));
        Assert.Equal(AbortReason.Application, deep.Abort!.Reason);

        await using var together = await Rig.Start(new WorkerOptions { Executors = 2, DrainTimeout = TimeSpan.FromSeconds(1) });
        Assert.Equal(Outcome.Committed, (await together.Act("acme/a", Step.Call("umbrella/d", Step.Add()))).Outcome);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task Over_two_workers_the_call_is_refused_where_it_is_made(bool pact)
    {
        await using var cluster = await TestCluster.Start(2, new WorkerOptions { Executors = 1, TenantsApart = true });
        string one = cluster.IdAt(1, "Account", "acme/"), same = cluster.IdAt(2, "Account", "acme/"), other = cluster.IdAt(2, "Account", "umbrella/");
        DeclaredAccess[]? Access(string to) => pact ? [new(new ActorKey("Account", one), 1), new(new ActorKey("Account", to), 1)] : null;

        var moved = await cluster.Submit("Account", one, "Transfer", new { to = same, amount = 10 }, Access(same));
        Assert.True(moved.Outcome == Outcome.Committed, TestWorker.Describe(moved));
        var before = await cluster.Total(other);
        var refused = await cluster.Submit("Account", one, "Transfer", new { to = other, amount = 10 }, Access(other));
        Assert.Equal(AbortReason.Application, refused.Abort!.Reason);
        Assert.Contains("another tenant", refused.Abort.Message, StringComparison.Ordinal);
        Assert.Equal(before, await cluster.Total(other));
    }

    private static int[] Seen(TransactionEnvelope envelope) => Rig.Seen(envelope);
}
