using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;
using Snapper.Runtime.Door;
using Snapper.Runtime.Execution;
using Snapper.Runtime.Tests.Support;
using Xunit;

namespace Snapper.Runtime.Tests.Cluster;

/// <summary>
/// W5 on a worker that has no requests of its own: what others' transactions run there may block its threads, too.
/// </summary>
[Collection(Timing.Name)]
public sealed class StuckThreadOfBranchTests
{
    [Theory]
    [InlineData(true, 1)]
    [InlineData(false, 1)]
    [InlineData(true, 3)]
    [InlineData(false, 3)]
    public async Task The_worker_goes_on_with_a_new_thread(bool pact, int executors)
    {
        await using var cluster = await TestCluster.Start(
            2, new WorkerOptions { Executors = executors, TurnBound = TimeSpan.FromMilliseconds(200) },
            types: static _ => [BoxActorDescriptor.Instance]);
        using var gate = new Gate();
        string root = cluster.IdAt(1, "Box"), there = cluster.IdAt(2, "Box");
        var stuck = Run(cluster, root, pact ? there : null, Step.Call(there, Step.Add(5), Step.Block(gate)));
        await gate.Reached();

        Rig.Aborted(await Rig.Within(stuck, "the stuck transaction", 10), AbortReason.Timeout);
        var next = Run(cluster, root, pact ? there : null, Step.Call(there, Step.Add(), Step.Get()));
        Rig.Saw(await Rig.Within(next, "another on the same actors", 10), 1);
        Assert.False(gate.Blocked!.Join(0), "the thread is blocked all the time");
        Assert.Empty(cluster.Unexpected);
    }

    private static Task<TransactionEnvelope> Run(TestCluster cluster, string root, string? there, Step step) =>
        TestCluster.SubmitTo(
            cluster[1], "Box", root, there is null ? "Run" : "RunMarked", new Script([step]),
            there is null ? null : [new(new ActorKey("Box", root), 1), new(new ActorKey("Box", there), 1)],
            timeoutMs: 8_000);
}
