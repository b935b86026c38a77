using Snapper.Cluster.Wire;
using Snapper.Protocol.Directory;
using Snapper.Protocol.Identity;
using Snapper.Storage.Log.Records;
using Snapper.Storage.Memory;
using Xunit;

namespace Snapper.Runtime.Tests.Cluster;

/// <summary>
/// R2, L8: what an earlier life of a worker has decided for others, too, stays in its log until they wait for it no
/// more.
/// </summary>
public sealed class RetainedDecisionsTests : IDisposable
{
    private static readonly TransactionId A = TransactionId.Act(1, 1);
    private static readonly TransactionId B = TransactionId.Act(2, 1);
    private readonly ClusterBench _bench = new();

    [Fact]
    public void They_stay_until_every_worker_that_took_part_has_marked_every_one()
    {
        Decided((A, [2, 3]), (B, [2]));
        Assert.Equal([A, B], _bench.Decided());
        Marked(2, A);
        Marked(3, A);
        Assert.Equal([A, B], _bench.Decided()); // w2 has not marked B
        Marked(2, B);
        Assert.Empty(_bench.Decided());
    }

    [Fact]
    public void A_marker_that_is_told_again_stands_for_no_other()
    {
        Decided((A, [2]), (B, [2]));
        Marked(2, A);
        Marked(2, A);
        Marked(2, TransactionId.Act(99, 1));
        Marked(3, B); // had no part in it
        Assert.Equal([A, B], _bench.Decided());
    }

    [Fact]
    public void A_worker_whose_stream_was_resolved_is_waited_for_no_more()
    {
        Decided((A, [2, 3]), (B, [2]));
        Resolved(2);
        Assert.Equal([A, B], _bench.Decided());
        Resolved(3);
        Assert.Empty(_bench.Decided());
    }

    [Fact]
    public void Who_comes_up_is_told_what_it_has_not_marked_and_nothing_else()
    {
        Decided((A, [2, 3]), (B, [2]));
        Marked(2, A);
        var (two, three, four) = (_bench.Peer(2), _bench.Peer(3), _bench.Peer(4));
        Assert.Equal([new ActDecidedMessage(B, true)], two.All<ActDecidedMessage>());
        Assert.Equal([new ActDecidedMessage(A, true)], three.All<ActDecidedMessage>());
        Assert.Empty(four.All<ActDecidedMessage>());
    }

    [Fact]
    public void A_life_that_died_with_what_it_was_told_is_followed_by_one_that_is_told_again()
    {
        Decided((A, [2]));
        _bench.Peer(2);
        var next = _bench.Peer(2);
        next.Single<ActDecidedMessage>();
        Assert.Equal([A], _bench.Decided());
        next.Send(new ActMarkedMessage(A));
        Assert.Empty(_bench.Decided());
    }

    [Fact]
    public void Nothing_is_kept_where_nothing_was_decided_for_others()
    {
        Decided((A, []));
        _bench.Peer(2);
        _bench.Decided();
        Assert.Equal(_bench.Worker.Log.LastSequence + 1, _bench.Worker.Checkpoints.TrimmedBelow);
    }

    [Fact]
    public void A_late_packet_of_an_earlier_life_does_not_make_the_one_that_voted_count_as_resolved()
    {
        // w2/1 stands still, w2/2 takes its place and votes for A, whose root is w1/1. w1/1 commits A and ends; w2/2
        // has not heard of it, since the road between the two is cut.
        var earlier = _bench.Peer(2);
        var voter = new Incarnation(2, _bench.Finish(new MemoryTransactionLog(_bench.Shared.Log(2)).Open(CancellationToken.None), "opening a log").Epoch);
        var root = _bench.Self;
        Decided((A, [2]));

        // w2/1 goes on for a moment: its packet comes to w1/2, which has read the members before w2/2 was one.
        _bench.Node.Gate.Hub.Learn(earlier.Life);
        ClusterBench.Alone(() =>
        {
            var writer = WireWriter.Begin(WireKind.ActMarked);
            new ActMarkedMessage(B).Write(writer);
            earlier.Hub.Send(root, writer.Written);
        });
        _bench.Run();
        Assert.Equal(earlier.Life, _bench.Node.Gate.Hub.Known(2));

        // w1/2 reads the members, and the directory, which names w2/2.
        _bench.Node.Gate.Hub.Learn(voter);
        _bench.On(() => Assert.True(_bench.Node.Directory.Apply(new DirectoryEntry(DirectoryKey.Of(new Partition(7)), voter, 1_000_000))));
        _bench.On(() =>
        {
            _bench.Node.Gone.BeginReading();
            _bench.Node.Gone.EndReading();
        });
        var kept = _bench.Decided();

        // w1 begins anew once more, the connection works again, and the worker that has the stream of w2/2 asks.
        _bench.Restart();
        var next = _bench.Peer(2);
        next.Send(new OutcomeQueryMessage(A.Value, root));
        Assert.True(
            next.All<VerdictMessage>() is [{ Committed: true }],
            $"A is committed, and its voters hear so: {string.Join(", ", next.All<VerdictMessage>())}; the log of w1/2 had kept {kept.Count} decisions");
    }

    public void Dispose() => _bench.Dispose();

    // The present life's decisions pass on what they hear.
    private void Marked(int worker, TransactionId act) => _bench.On(() => _bench.Node.Decisions.OnMarked(new Incarnation(worker, 9), act));

    private void Resolved(int worker) => _bench.On(() => _bench.Node.Decisions.OnResolved(new Incarnation(worker, 9), isLast: true));

    /// <summary>In a life of w1 that is over.</summary>
    private void Decided(params (TransactionId Act, int[] Others)[] acts)
    {
        foreach (var (act, others) in acts)
        {
            _bench.Worker.Log.Enqueue(new ActCommitted { Transaction = act, Changes = [], Participants = others, Outcome = null });
        }

        _bench.Run();
        _bench.Restart();
    }
}
