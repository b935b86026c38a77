using Snapper.Protocol.Batches;
using Snapper.Protocol.Commitment;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;

namespace Snapper.Protocol.Tests.Units;

/// <summary>H5: floor and ceil.</summary>
public sealed class HybridOrderTests
{
    private static readonly TransactionId T1 = TransactionId.Act(1, 0);
    private static readonly TransactionId T2 = TransactionId.Act(2, 0);
    private static readonly TransactionId T3 = TransactionId.Act(3, 0);
    private readonly HybridOrder _order = new();
    private readonly List<AbortRequested> _doomed = [];

    [Theory]
    [InlineData(3, 4, false)]
    [InlineData(4, 4, true)]
    [InlineData(5, 4, true)]
    public void It_dies_when_floor_meets_ceil(int ahead, int behind, bool dies)
    {
        _order.Visited(T1, At(ahead), _doomed);
        _order.Overtaken(T1, Bid(behind), _doomed);

        Assert.Equal(dies, _order.IsAborting(T1));
        if (dies)
        {
            Assert.Equal(new AbortRequested(T1, AbortReason.Deadlock, Bid(ahead), Bid(behind)), Assert.Single(_doomed));
        }
        else
        {
            Assert.Empty(_doomed);
        }
    }

    [Fact]
    public void The_order_of_the_news_does_not_matter()
    {
        _order.Overtaken(T1, Bid(4), _doomed);
        _order.Visited(T1, At(4), _doomed);

        Assert.True(_order.IsAborting(T1));
    }

    [Fact]
    public void Final_batches_ahead_do_not_count()
    {
        var ahead = At(5);
        _order.Visited(T1, ahead, _doomed);
        Assert.True(_order.IsBehindOpen(T1));
        ahead.Order();
        Assert.False(_order.IsBehindOpen(T1));
        _order.Overtaken(T1, Bid(4), _doomed); // another one was final earlier than a lower one (D2)

        Assert.False(_order.IsAborting(T1));
        _order.Visited(T2, ahead, _doomed);
        Assert.False(_order.IsBehindOpen(T2));
    }

    [Fact]
    public void The_highest_ahead_and_the_lowest_behind_count()
    {
        _order.Visited(T1, At(3), _doomed);
        _order.Visited(T1, At(1), _doomed);
        _order.Overtaken(T1, Bid(7), _doomed);
        Assert.Empty(_doomed);
        Assert.True(_order.IsBehindOpen(T1));

        _order.Overtaken(T1, Bid(3), _doomed);
        Assert.True(_order.IsAborting(T1));
    }

    [Fact]
    public void A_waiter_inherits_the_floor_through_several_waits()
    {
        _order.Overtaken(T1, Bid(5), _doomed);
        _order.Waits(T1, [T2], _doomed);
        _order.Waits(T2, [T3], _doomed);
        Assert.Empty(_doomed);

        _order.Visited(T3, At(5), _doomed);
        Assert.Equal(T1, Assert.Single(_doomed).Tid);
    }

    [Fact]
    public void What_is_inherited_goes_with_the_holder()
    {
        _order.Visited(T2, At(5), _doomed);
        _order.Waits(T1, [T2], _doomed);
        _order.Ended(T2);
        _order.Overtaken(T1, Bid(5), _doomed);

        Assert.Empty(_doomed);
    }

    [Fact]
    public void Waits_that_form_a_ring_end_the_search()
    {
        _order.Waits(T1, [T2], _doomed);
        _order.Waits(T2, [T1], _doomed);
        _order.Overtaken(T1, Bid(2), _doomed);

        Assert.Empty(_doomed);
    }

    [Fact]
    public void Who_has_finished_dies_of_serializability_and_only_once()
    {
        _order.Visited(T1, At(4), _doomed);
        _order.Finished(T1, _doomed);
        _order.Overtaken(T1, Bid(4), _doomed);
        _order.Overtaken(T1, Bid(3), _doomed);

        Assert.Equal(AbortReason.Serializability, Assert.Single(_doomed).Reason);
    }

    [Fact]
    public void Late_news_of_who_has_ended_is_ignored()
    {
        _order.Visited(T1, At(4), _doomed);
        _order.Ended(T1);
        _order.Overtaken(T1, Bid(4), _doomed);
        _order.Visited(T1, At(4), _doomed);

        Assert.Empty(_doomed);
        Assert.Equal(0, _order.Count);
    }

    [Fact]
    public void Late_news_of_who_has_ended_long_ago_is_swept_away_and_nobody_else()
    {
        _order.Visited(T1, At(4), _doomed);
        _order.Ended(T1);
        for (var other = 10; other < 10_000; other++)
        {
            _order.Ended(TransactionId.Act(other, 0));
        }

        _order.Visited(T2, At(4), _doomed);
        _order.Waits(T1, [T2], _doomed); // from an executor that stood still meanwhile
        Assert.Equal(2, _order.Count);

        Assert.All(_order.FindOver(tid => tid == T1), _order.Ended);

        Assert.Equal(1, _order.Count);
        _order.Overtaken(T1, Bid(4), _doomed); // known again as one that has ended
        Assert.Equal(1, _order.Count);
        _order.Overtaken(T2, Bid(4), _doomed);
        Assert.True(_order.IsAborting(T2));
    }

    private static BatchId Bid(long value) => new(value);

    private static SubBatch At(long bid) => new(new ActorKey("T", "a"), Bid(bid), null, 0);
}
