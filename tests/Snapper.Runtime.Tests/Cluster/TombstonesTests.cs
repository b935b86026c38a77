using Snapper.Cluster.Branches;
using Snapper.Protocol.Identity;
using Xunit;

namespace Snapper.Runtime.Tests.Cluster;

/// <summary>W3: an abort may overtake a call on its way.</summary>
public sealed class TombstonesTests
{
    private static readonly TransactionId First = TransactionId.Act(1, 2);
    private static readonly TransactionId Second = TransactionId.Act(2, 2);
    private readonly ManualTime _time = new();
    private readonly Tombstones _stones;

    public TombstonesTests() => _stones = new Tombstones(_time);

    [Fact]
    public void Those_that_were_aborted_are_known_and_no_others()
    {
        _stones.Add(First);
        Assert.True(_stones.Contains(First));
        Assert.False(_stones.Contains(Second));
    }

    [Fact]
    public void They_are_kept_for_a_minute_whatever_else_is_aborted()
    {
        _stones.Add(First);
        _time.Advance(TimeSpan.FromSeconds(60));
        _stones.Add(Second);
        Assert.True(_stones.Contains(First));
    }

    [Fact]
    public void They_are_forgotten_after_that_when_others_come()
    {
        _stones.Add(First);
        _time.Advance(TimeSpan.FromSeconds(61));
        _stones.Add(Second);
        Assert.False(_stones.Contains(First));
        Assert.True(_stones.Contains(Second));
    }

    [Fact]
    public void What_may_have_been_forgotten_is_as_old_as_what_was()
    {
        var (older, newer) = (TransactionId.Act(3, 2), TransactionId.Act(5, 2));
        _stones.Add(TransactionId.Act(4, 2));
        Assert.False(_stones.MayContain(older));
        _time.Advance(TimeSpan.FromSeconds(61));
        _stones.Add(newer);
        Assert.True(_stones.MayContain(older));
        Assert.True(_stones.MayContain(newer)); // it is there
        Assert.False(_stones.MayContain(TransactionId.Act(6, 2)));
        Assert.False(_stones.MayContain(TransactionId.Act(3, 3))); // another worker's
    }

    [Fact]
    public void One_that_was_aborted_twice_is_forgotten_once()
    {
        _stones.Add(First);
        _time.Advance(TimeSpan.FromSeconds(30));
        _stones.Add(First);
        _time.Advance(TimeSpan.FromSeconds(31));
        _stones.Add(First); // the stone of a minute ago is gone, and this one is new
        _time.Advance(TimeSpan.FromSeconds(40));
        _stones.Add(Second);
        Assert.True(_stones.Contains(First));
    }
}
