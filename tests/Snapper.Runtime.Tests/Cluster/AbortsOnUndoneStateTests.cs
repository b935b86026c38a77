using Snapper.Cluster.Wire;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;
using Snapper.Runtime.Tests.Support;
using Xunit;

namespace Snapper.Runtime.Tests.Cluster;

/// <summary>
/// H7: an ACT's own abort is answered only when nothing that it may have been decided on can be undone any more, on
/// any worker.
/// </summary>
public sealed class AbortsOnUndoneStateTests
{
    private static readonly TransactionId Tid = TransactionId.Act(9, 2);

    [Fact]
    public void A_part_that_an_undo_has_removed_votes_against_the_abort()
    {
        using var bench = new ClusterBench();
        using var gate = new Gate(inline: true);
        var root = bench.Peer(2);
        bench.Submit("x", [Step.Call("y", Step.Add(5)), Step.Wait(gate), Step.Throw()], "x", "y");
        root.Call(Tid, "y", Step.Get());
        Assert.Equal("[5]"u8, root.Single<ResultMessage>().Result);
        gate.Open();
        bench.Run();
        Assert.Equal(AbortReason.Undone, root.Single<BranchFailedMessage>().Failure.Reason);

        root.Send(new ActPrepareMessage(Tid, Committed: false, IsRecorded: false));

        Assert.False(root.Single<ActVotedMessage>().Yes);
    }

    [Fact]
    public void A_part_that_went_with_an_undo_on_a_worker_that_had_called_it_votes_against_the_abort()
    {
        using var bench = new ClusterBench();
        var (root, undone) = (bench.Peer(2), bench.Peer(3));
        bench.Place(ClusterBench.Box("further"), undone.Life);
        root.Call(Tid, "near", Step.Call("further", Step.Get()));
        var call = undone.Single<CallMessage>();
        undone.Send(new ActAbortMessage(Tid)); // it was called from here, has called back, and an undo there took its part; the root has heard nothing of that worker
        Assert.Equal(Tid, call.Tid);

        root.Send(new ActPrepareMessage(Tid, Committed: false, IsRecorded: false));

        Assert.False(root.Single<ActVotedMessage>().Yes);
    }

    /// <summary>A host that reaches neither store nor workers for longer than tombstones are kept.</summary>
    [Fact]
    public void A_part_that_an_undo_elsewhere_took_long_ago_votes_against_the_abort()
    {
        using var bench = new ClusterBench();
        var (root, undone) = (bench.Peer(2), bench.Peer(3));
        bench.Place(ClusterBench.Box("further"), undone.Life);
        root.Call(Tid, "near", Step.Call("further", Step.Get()));
        undone.Send(new ActAbortMessage(Tid)); // what it says to the root is still on its way
        bench.Advance(61_000);
        undone.Send(new ActAbortMessage(TransactionId.Act(11, 2))); // ends here, too

        root.Send(new ActPrepareMessage(Tid, Committed: false, IsRecorded: false));

        Assert.False(root.Single<ActVotedMessage>().Yes);
    }

    [Fact]
    public void A_worker_that_was_not_called_yet_votes_for_the_abort()
    {
        using var bench = new ClusterBench();
        var root = bench.Peer(2);

        root.Send(new ActPrepareMessage(Tid, Committed: false, IsRecorded: false));

        Assert.True(root.Single<ActVotedMessage>().Yes);
    }

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    public void The_root_does_not_count_a_vote_that_comes_right_behind_the_news_of_an_undo(int executors)
    {
        using var bench = new ClusterBench(executors);
        var peer = bench.Peer(2);
        var root = Enumerable.Range(0, 100).Select(static i => "r" + i).First(id => bench.Worker.ExecutorOf(ClusterBench.Box(id)).Index == executors - 1);
        bench.Place(ClusterBench.Box("far"), peer.Life);
        var answer = bench.Submit(root, [Step.Call("far", Step.Get()), Step.Abort()]);
        var call = peer.Single<CallMessage>();
        peer.Answer(call);
        Assert.False(peer.Single<ActPrepareMessage>().Committed);

        peer.Send(new BranchFailedMessage(call.Tid, new BranchFailure(AbortReason.Undone, "Removed.", null, 0)), new ActVotedMessage(call.Tid, true, null, [], []));
        bench.Advance(5);

        Assert.False(answer.IsCompleted, "an abort that was decided on undone state was answered");
        Assert.Equal(2, peer.All<CallMessage>().Count);
    }
}
