using Snapper.Protocol.Directory;
using Snapper.Protocol.Identity;
using Xunit;

namespace Snapper.Protocol.Tests.Units;

public sealed class FailureDetectorTests
{
    private static readonly Incarnation Two = new(2, 7);
    private static readonly Incarnation Three = new(3, 4);
    private static readonly Incarnation Four = new(4, 4);

    private readonly FailureDetector _judge = new(new EvictionLimits());
    private long _nowMs = 1000;

    [Fact]
    public void A_worker_that_the_master_does_not_reach_for_the_patience_is_evicted_and_not_before()
    {
        Assert.Empty(Silent(2900, Two));
        Assert.Equal([Two], Silent(300, Two));
        Assert.Equal([Two], Silent(300, Two));
    }

    [Fact]
    public void Who_is_not_master_waits_twice_as_long()
    {
        Assert.Empty(Silent(5900, Two, isMaster: false));
        Assert.Equal([Two], Silent(300, Two, isMaster: false));
    }

    [Fact]
    public void A_life_that_never_answered_is_given_five_times_as_long()
    {
        Pass(14_900, () => Assert.Empty(Look(true, true, new PeerSight(Two, 90_000, false))));
        Pass(400, () => Look(true, true, new PeerSight(Two, 90_000, false)));
        Assert.Equal([Two], Look(true, true, new PeerSight(Two, 20_000, false)));
    }

    [Fact]
    public void An_answer_begins_the_silence_anew_also_one_between_two_looks()
    {
        Silent(2900, Two);
        Assert.Empty(Look(true, true, new PeerSight(Two, 0, true)));
        Assert.Empty(Silent(2900, Two));
        Assert.Empty(Look(true, true, new PeerSight(Two, 20, true))); // answered, and asked again 20 ms ago
        Assert.Empty(Silent(2500, Two));
    }

    [Fact]
    public void A_stall_of_whoever_looks_begins_everything_anew()
    {
        Silent(2900, Two);
        _nowMs += 5000;
        Assert.Empty(Look(true, true, new PeerSight(Two, 8000, true)));
        Assert.Equal(1, _judge.Stalls);
        Assert.Empty(Silent(2900, Two));
        Assert.Equal([Two], Silent(400, Two));
    }

    [Fact]
    public void A_machine_that_stalls_again_and_again_evicts_nobody()
    {
        for (var round = 0; round < 50; round++)
        {
            _nowMs += 1001;
            Assert.Empty(Look(true, true, new PeerSight(Two, 1001 * (round + 1), true)));
        }
    }

    [Fact]
    public void Who_does_not_reach_itself_evicts_nobody_and_begins_anew_when_it_does()
    {
        Pass(10_000, () => Assert.Empty(Look(true, ownRoad: false, new PeerSight(Two, 90_000, true))));

        Assert.Empty(Silent(2900, Two));
        Assert.Equal([Two], Silent(300, Two));
    }

    [Fact]
    public void Who_reaches_less_than_half_of_all_evicts_nobody()
    {
        Pass(20_000, () => Assert.Empty(Look(true, true, new PeerSight(Two, 90_000, true), new PeerSight(Three, 90_000, true))));
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void Of_two_halves_the_masters_evicts_the_other_first(bool isMaster)
    {
        IReadOnlyList<Incarnation> evicted = [];
        Pass(4000, () => evicted = [.. Look(isMaster, true, new PeerSight(Two, 9000, true), new PeerSight(Three, 9000, true), new PeerSight(Four, 0, true))]);

        Assert.Equal(isMaster ? [Two, Three] : [], evicted);
    }

    [Fact]
    public void A_new_life_of_a_silent_worker_is_not_taken_for_the_old_one()
    {
        Silent(2900, Two);
        Assert.Empty(Look(true, true, new PeerSight(Two with { Epoch = 8 }, 3100, true)));
        Assert.Empty(Look(true, true)); // it does not live
        Assert.Empty(Silent(2900, Two with { Epoch = 8 }));
    }

    [Theory]
    [InlineData(99, 10)]
    [InlineData(3000, 3000)]
    [InlineData(3000, 0)]
    public void Limits_out_of_range_are_refused(long patienceMs, long gapMs) =>
        Assert.Throws<ArgumentOutOfRangeException>(() => new FailureDetector(new EvictionLimits(patienceMs, gapMs)));

    private IReadOnlyList<Incarnation> Silent(int ms, Incarnation peer, bool isMaster = true)
    {
        IReadOnlyList<Incarnation> evicted = [];
        var began = _nowMs;
        Pass(ms, () => evicted = [.. Look(isMaster, true, new PeerSight(peer, 100_000 + (_nowMs - began), true), new PeerSight(Three with { Worker = 9 }, 0, true))]);
        return evicted;
    }

    private IReadOnlyList<Incarnation> Look(bool isMaster, bool ownRoad, params PeerSight[] living) => _judge.Look(_nowMs, isMaster, ownRoad, living);

    private void Pass(int ms, Action look)
    {
        for (var passed = 0; passed < ms; passed += 100)
        {
            _nowMs += 100;
            look();
        }
    }
}
