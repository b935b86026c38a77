using Snapper.Protocol.Batches;
using Snapper.Protocol.Commitment;
using Snapper.Protocol.Global;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;

namespace Snapper.Protocol.Tests.Units;

/// <summary>H6: gfloor and gceil of an ACT, found on two workers and compared where its root is.</summary>
public sealed class GlobalBoundsTests
{
    private static readonly TransactionId T = TransactionId.Act(1, 1);
    private readonly HybridOrder _root = new();
    private readonly HybridOrder _other = new();
    private readonly List<AbortRequested> _doomed = [];
    private readonly List<GlobalBounds> _news = [];

    [Theory]
    [InlineData(5, 5, true)] // behind a batch here, ahead of it there
    [InlineData(6, 5, true)]
    [InlineData(4, 5, false)]
    public void It_dies_when_its_floor_on_one_worker_meets_its_ceil_on_another(int ahead, int behind, bool dies)
    {
        _root.Visited(T, At(10), _doomed);
        _root.FindGlobalBounds([Part(10, ahead)], _news, _doomed);
        _news.Clear(); // the root's own are known there

        _other.Overtaken(T, Bid(30), _doomed);
        _other.FindGlobalBounds([Part(30, behind)], _news, _doomed);
        Assert.Empty(_doomed);

        _root.Narrow(Assert.Single(_news), _doomed);
        Assert.Equal(dies, _root.IsAborting(T));
        Assert.Equal(dies ? [new AbortRequested(T, AbortReason.Deadlock, Global(ahead), Global(behind))] : [], _doomed);
    }

    [Fact]
    public void Local_batches_between_count_with_the_global_ones_before_and_behind_them()
    {
        _other.Visited(T, At(12), _doomed); // behind a local batch that may be behind the part before it
        _other.Overtaken(T, Bid(20), _doomed); // and a local one behind it, before another part
        _other.FindGlobalBounds([Part(10, 5), Part(25, 7)], _news, _doomed);

        Assert.Equal(new GlobalBounds(T, Global(5), Global(7)), Assert.Single(_news));
    }

    [Fact]
    public void What_is_decided_is_no_floor_and_bounds_are_told_once()
    {
        var part = Part(10, 5);
        part.PartState = PartState.Decided;
        _other.Visited(T, At(12), _doomed);
        _other.FindGlobalBounds([part], _news, _doomed);
        Assert.Empty(_news);

        _other.Overtaken(T, Bid(20), _doomed);
        List<Batch> open = [part, Part(20, 6)];
        _other.FindGlobalBounds(open, _news, _doomed);
        _other.FindGlobalBounds(open, _news, _doomed);
        Assert.Equal(new GlobalBounds(T, BatchId.None, Global(6)), Assert.Single(_news));
    }

    [Fact]
    public void The_floor_of_one_whose_lock_it_waits_for_is_its_own()
    {
        var holder = TransactionId.Act(2, 1);
        _root.Visited(holder, At(10), _doomed);
        _root.Waits(T, [holder], _doomed);
        _root.FindGlobalBounds([Part(10, 5)], _news, _doomed);
        Assert.Contains(new GlobalBounds(T, Global(5), BatchId.None), _news);

        _root.Narrow(new GlobalBounds(T, BatchId.None, Global(5)), _doomed);
        Assert.True(_root.IsAborting(T));
        Assert.False(_root.IsAborting(holder));
    }

    [Fact]
    public void News_of_one_that_has_ended_are_ignored()
    {
        _root.Ended(T);
        _root.Narrow(new GlobalBounds(T, Global(6), Global(5)), _doomed);
        Assert.Empty(_doomed);
        Assert.Equal(0, _root.Count);
    }

    private static BatchId Bid(long number) => new(number);

    private static BatchId Global(long number) => new(number);

    private static Batch Part(long bid, long gbid) => new(Bid(bid), BatchId.None, [], new GlobalPart(Global(gbid), BatchId.None, []));

    private static SubBatch At(long bid) => new(new ActorKey("T", "a"), Bid(bid), null, 0);
}
