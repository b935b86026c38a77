using System.Text.Json;
using Snapper.Cluster;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;
using Snapper.Runtime.Door;
using Snapper.Runtime.Execution;
using Snapper.Runtime.Tests.Support;
using Snapper.Storage.MigrationPlans;
using Xunit;

namespace Snapper.Runtime.Tests.Cluster;

/// <summary>Programs of two generations side by side, as while the workers are being replaced.</summary>
public sealed class NewerStatesTests
{
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task An_actor_moves_to_the_new_program_and_the_old_one_refuses_it_until_it_is_back(bool pact)
    {
        await using var cluster = await TestCluster.Start(2, types: static worker => [Carts.Of(worker == 1 ? 3 : 2)]);
        string moved = cluster.IdAt(2, "Cart"), stays = cluster.IdAt(2, "Cart", "stays");
        var root = cluster.IdAt(1, "Cart", "root");
        await Add(cluster, moved, "pear", pact);
        await Move(cluster, 2, 1, moved);
        Assert.Equal("1*pear", await Show(cluster, moved)); // version 2, read by the new program
        await Move(cluster, 1, 2, moved);
        Assert.Equal("pear", await Show(cluster, moved)); // and not changed by that
        await Move(cluster, 2, 1, moved);
        await Add(cluster, moved, "fig", pact);
        await Move(cluster, 1, 2, moved);

        IsNewer(await Submit(cluster, moved, "Show", null, pact));
        IsNewer(await Submit(cluster, moved, "Add", "kiwi", pact));
        DeclaredAccess[]? both = pact ? [new(new("Cart", root), 1), new(new("Cart", moved), 1)] : null;
        var over = cluster.Submit("Cart", root, "AddBoth", new AddBoth("kiwi", moved), both);
        IsNewer(await Rig.Within(over, "from the other"));
        Assert.Equal("", await Show(cluster, root)); // nothing of the transaction remains
        await Add(cluster, stays, "fig", pact);

        await Move(cluster, 2, 1, moved);
        Assert.Equal("1*fig 1*pear", await Show(cluster, moved));
        Assert.Equal("fig", await Show(cluster, stays));
        Assert.Empty(cluster.Failures);
    }

    [Fact]
    public async Task An_old_program_takes_over_what_a_new_one_wrote_and_loses_nothing_of_it()
    {
        var generation = 2;
        await using var cluster = await TestCluster.Start(
            2, lease: TimeSpan.FromSeconds(1), types: worker => [Carts.Of(worker == 1 ? 3 : generation)]);
        var id = cluster.IdAt(1, "Cart");
        await Add(cluster, id, "fig", pact: true);
        await cluster.Kill(1);
        var directory = cluster[2].Worker.Cluster!.Directory;
        await Rig.Until(() => directory.Resolve(new ActorKey("Cart", id)).Worker == 2, "w2 has taken over", 20);

        IsNewer(await Submit(cluster, id, "Add", "kiwi", pact: true));

        generation = 3;
        await cluster.Kill(2);
        await cluster.Open(2);
        Assert.Equal("1*fig", await Show(cluster, id));
        Assert.Empty(cluster.Unexpected);
    }

    private static void IsNewer(TransactionEnvelope answer)
    {
        Rig.Aborted(answer, AbortReason.Application);
        var code = answer.Abort!.Code;
        Assert.Equal(("newer_state", """{"stored":3,"known":2}"""), (code?.Code, code?.Details));
    }

    private static async Task Move(TestCluster cluster, int from, int to, string id)
    {
        var plan = $"{id}-{Guid.NewGuid():N}";
        Assert.Equal(PlanState.Done, await cluster.Move(plan, from, to, new ActorKey("Cart", id)));
        await Rig.Until(() => cluster.OwnerOf("Cart", id) == cluster[to], $"w{to} owns it");
    }

    private static async Task Add(TestCluster cluster, string id, string item, bool pact) =>
        Rig.Seen1(await Submit(cluster, id, "Add", item, pact));

    private static async Task<string> Show(TestCluster cluster, string id)
    {
        var answer = await Submit(cluster, id, "Show", null, pact: true);
        Assert.True(answer.Outcome == Outcome.Committed, TestWorker.Describe(answer));
        return JsonSerializer.Deserialize<string>(answer.Result.Span)!;
    }

    private static Task<TransactionEnvelope> Submit(
        TestCluster cluster, string id, string method, object? input, bool pact)
    {
        DeclaredAccess[]? access = pact ? [new(new("Cart", id), 1)] : null;
        return Rig.Within(cluster.Submit("Cart", id, method, input, access), method);
    }
}
