using Snapper.Protocol.Messages;
using Snapper.Runtime.Door;
using Snapper.Runtime.Execution;
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

    /// <summary>L6: it alone makes the record of a worker's part larger than a record may be.</summary>
    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    public async Task States_that_are_too_large_together_end_their_transaction(int where)
    {
        var options = new WorkerOptions
        {
            MaxStateBytes = 20_000, MaxResultBytes = 10_000, MaxTransactionBytes = 64_000,
        };
        await using var cluster = await TestCluster.Start(2, options, types: static _ => [BoxActorDescriptor.Instance]);
        string root = cluster.IdAt(1, "Box"), near = cluster.IdAt(1, "Box", "n"), far = cluster.IdAt(2, "Box", "f");
        var boxes = Enumerable.Range(0, 6).Select(i => cluster.IdAt(where, "Box", $"b{i}-")).ToArray();
        var script = new Script(
        [
            Step.Call(near, Step.Add()), Step.Call(far, Step.Add()),
            .. boxes.Select(static box => Step.Call(box, Step.Pad(15_000))),
        ]);
        string[] all = [root, near, far, .. boxes];
        DeclaredAccess[] access = [.. all.Select(static box => new DeclaredAccess(new("Box", box), 1))];

        var answer = await Rig.Within(
            TestCluster.SubmitTo(cluster[1], "Box", root, "Run", script, access), "the answer", 20);

        Rig.Aborted(answer, AbortReason.Application);
        Assert.Contains("changes more than it may", answer.Abort!.Message, StringComparison.Ordinal);
        Assert.Empty(cluster.Unexpected);
    }

    private static Task<TransactionEnvelope> Grow(
        TestCluster cluster, int worker, string id, Growth growth, DeclaredAccess[]? access) =>
        TestCluster.SubmitTo(cluster[worker], "Odd", id, "Grow", growth, access);
}
