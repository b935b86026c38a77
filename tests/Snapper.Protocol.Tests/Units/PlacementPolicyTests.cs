using Snapper.Protocol.Directory;
using Snapper.Protocol.Identity;
using Xunit;

namespace Snapper.Protocol.Tests.Units;

public sealed class PlacementPolicyTests
{
    private static readonly Incarnation One = new(1, 5);
    private static readonly Incarnation Two = new(2, 3);
    private static readonly Incarnation Three = new(3, 9);

    private readonly PlacementPolicy _policy = new(new PolicyLimits());

    [Fact]
    public void Partitions_of_the_hottest_worker_go_to_the_coolest_until_it_is_hot_no_more()
    {
        var proposals = _policy.Look([Load(One, 1000, (7, 100), (8, 300), (9, 150)), Load(Two, 500), Load(Three, 100)], []);

        // The mean is 533: 1000 - 300 = 700, - 150 = 550, which is below 1.1 times that.
        Assert.Equal([8, 9], proposals.Select(proposal => proposal.Key.Partition.Number));
        Assert.All(proposals, proposal => Assert.Equal((One, Three, 1, false), (proposal.From, proposal.To, proposal.Confirmed, proposal.IsRipe)));
        Assert.Contains("w1 carries 1000/s", proposals[0].Why, StringComparison.Ordinal);
    }

    [Fact]
    public void A_partition_that_alone_makes_its_worker_hot_stays_where_it_is()
    {
        var proposals = _policy.Look([Load(One, 1000, (7, 900), (8, 60)), Load(Two, 200)], []);

        Assert.Equal([8], proposals.Select(proposal => proposal.Key.Partition.Number));
    }

    [Theory]
    [InlineData(700, 600, 600)]
    [InlineData(90, 1, 1)]
    [InlineData(0, 0, 0)]
    public void Nobody_is_hot_who_is_near_the_mean_or_when_there_is_little_to_do(double one, double two, double three) =>
        Assert.Empty(_policy.Look([Load(One, one, (7, 10)), Load(Two, two), Load(Three, three)], []));

    [Fact]
    public void Nothing_is_proposed_to_workers_that_are_alone_or_not_there()
    {
        Assert.Empty(_policy.Look([], []));
        Assert.Empty(_policy.Look([Load(One, 1000, (7, 10))], [Pair("a", One, "b", Two, 500)]));
    }

    [Fact]
    public void A_proposal_ripens_when_it_is_made_again_and_again_and_not_when_it_was_interrupted()
    {
        for (var round = 0; round < 2; round++)
        {
            Assert.Equal([(1, false), (2, false)], Enumerable.Range(0, 2).Select(_ => Hot()));
            _policy.Look([Load(One, 500), Load(Two, 500)], []);
        }

        Assert.Equal([(1, false), (2, false), (3, true), (4, true)], Enumerable.Range(0, 4).Select(_ => Hot()));
        (int, bool) Hot()
        {
            var first = _policy.Look([Load(One, 1000, (7, 100)), Load(Two, 500)], [])[0];
            return (first.Confirmed, first.IsRipe);
        }
    }

    [Fact]
    public void After_a_move_nothing_ripens_until_its_effect_can_be_seen()
    {
        for (var look = 0; look < 5; look++)
        {
            _policy.Look([Load(One, 1000, (7, 100)), Load(Two, 500)], []);
        }

        _policy.Moved();
        var ripe = Enumerable.Range(0, 8).Select(_ => _policy.Look([Load(One, 1000, (7, 100)), Load(Two, 500)], [])[0].IsRipe);
        Assert.Equal([false, false, false, false, false, true, true, true], ripe);
    }

    [Fact]
    public void Actors_that_are_used_together_are_brought_together_where_there_is_less_to_do()
    {
        var proposals = _policy.Look([Load(One, 400), Load(Two, 390), Load(Three, 400)], [Pair("a", One, "b", Two, 30), Pair("c", Two, "d", Three, 80), Pair("e", Three, "f", Three, 500)]);

        Assert.Equal(["Account/d", "Account/a"], proposals.Select(proposal => proposal.Key.ToString()));
        Assert.Equal([(Three, Two), (One, Two)], proposals.Select(proposal => (proposal.From, proposal.To)));
    }

    [Fact]
    public void An_actor_is_named_in_one_proposal_and_does_not_make_its_new_worker_hot()
    {
        var proposals = _policy.Look(
            [Load(One, 400), Load(Two, 390), Load(Three, 400)],
            [Pair("a", One, "b", Two, 50), Pair("a", One, "c", Three, 40), Pair("x", One, "y", Two, 200)]);

        Assert.Equal(["Account/a"], proposals.Select(proposal => proposal.Key.ToString())); // x would bring w2 to 590, and 1.25 times the mean is 496
    }

    [Fact]
    public void There_are_no_more_proposals_than_asked_for()
    {
        var policy = new PlacementPolicy(new PolicyLimits(Most: 3));
        var hottest = Enumerable.Range(0, 100).Select(number => (number, 10.0)).ToArray();
        Assert.Equal(3, policy.Look([Load(One, 1000, hottest), Load(Two, 100)], [Pair("a", One, "b", Two, 100)]).Count);
    }

    [Fact]
    public void Moving_what_is_proposed_comes_to_rest()
    {
        var random = new Random(7);
        for (var run = 0; run < 200; run++)
        {
            var policy = new PlacementPolicy(new PolicyLimits(Confirmations: 1, Pause: 0));
            Incarnation[] all = [One, Two, Three];
            var owners = Enumerable.Range(0, 60).Select(_ => all[random.Next(3)]).ToArray();
            var loads = owners.Select(_ => random.Next(100) < 5 ? 400.0 : random.Next(1, 40)).ToArray();
            var moves = 0;
            while (policy.Look([.. all.Select(worker => Load(worker, Sum(worker), [.. Of(worker)]))], []) is { Count: > 0 } proposals)
            {
                owners[proposals[0].Key.Partition.Number] = proposals[0].To;
                Assert.True(++moves < 200, $"Run {run} does not come to rest.");
            }

            double Sum(Incarnation worker) => Of(worker).Sum(partition => partition.Item2);
            IEnumerable<(int, double)> Of(Incarnation worker) => Enumerable.Range(0, 60).Where(partition => owners[partition] == worker).Select(partition => (partition, loads[partition]));
        }
    }

    [Theory]
    [InlineData(1, 1, 3)]
    [InlineData(1.2, 1.3, 3)]
    [InlineData(1.2, 1.1, 0)]
    public void Limits_out_of_range_are_refused(double hot, double cool, int confirmations) =>
        Assert.Throws<ArgumentOutOfRangeException>(() => new PlacementPolicy(new PolicyLimits(hot, cool, Confirmations: confirmations)));

    private static WorkerLoad Load(Incarnation worker, double perSecond, params (int Partition, double PerSecond)[] hottest) =>
        new(worker, perSecond, [.. hottest.Select(one => new PartitionLoad(new Partition(one.Partition), one.PerSecond))]);

    private static PairLoad Pair(string one, Incarnation ownerOfOne, string other, Incarnation ownerOfOther, double perSecond)
    {
        var (first, second) = (new ActorKey("Account", one), new ActorKey("Account", other));
        return new PairLoad(DirectoryKey.Of(first, Partition.Of(first)), ownerOfOne, DirectoryKey.Of(second, Partition.Of(second)), ownerOfOther, perSecond);
    }
}
