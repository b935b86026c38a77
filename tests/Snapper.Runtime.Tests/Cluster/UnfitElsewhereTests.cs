using Snapper.Protocol.Messages;
using Snapper.Runtime.Door;
using Snapper.Runtime.Tests.Support;
using Xunit;

namespace Snapper.Runtime.Tests.Cluster;

/// <summary>States that a worker cannot keep where the root is on another one.</summary>
public sealed class UnfitElsewhereTests
{
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_state_that_another_worker_cannot_keep_ends_its_transaction(bool pact)
    {
        await using var cluster = await TestCluster.Start(2, types: static _ => [OddActorDescriptor.Instance]);
        string from = cluster.IdAt(1, "Odd"), to = cluster.IdAt(2, "Odd");
        var full = (1 << 20) - 60;
        while ((await Grow(cluster, 2, to, new Growth(full, null), null)).Outcome == Outcome.Committed)
        {
            full = 1;
        }

        DeclaredAccess[]? access = pact ? [new(new("Odd", from), 1), new(new("Odd", to), 1)] : null;
        var answer = await Rig.Within(Grow(cluster, 1, from, new Growth(1, to), access), "the answer", 20);
        Rig.Aborted(answer, AbortReason.Application);
        Assert.Contains("the limit is 1048576", answer.Abort!.Message, StringComparison.Ordinal);
        Assert.Empty(cluster.Unexpected);
    }

    private static Task<TransactionEnvelope> Grow(
        TestCluster cluster, int worker, string id, Growth growth, DeclaredAccess[]? access) =>
        TestCluster.SubmitTo(cluster[worker], "Odd", id, "Grow", growth, access);
}
