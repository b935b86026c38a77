using Snapper.Protocol.Directory;
using Snapper.Protocol.Identity;
using Xunit;

namespace Snapper.Protocol.Tests.Units;

public sealed class PartitionRebalanceTests
{
    private static readonly Incarnation One = new(1, 5);
    private static readonly Incarnation Two = new(2, 3);
    private static readonly Incarnation Three = new(3, 9);

    [Fact]
    public void A_worker_that_joins_gets_its_share_and_nothing_else_moves()
    {
        var owners = PartitionDivision.Evenly([One, Two]);
        var moves = PartitionDivision.Rebalance(owners, [One, Two, Three]);

        Assert.Equal(1365, moves.Count);
        Assert.All(moves, move => Assert.Equal(Three, move.Target));
        Assert.Equal([1365, 1365, 1366], After(owners, moves).GroupBy(owner => owner).Select(group => group.Count()).Order());
    }

    [Fact]
    public void What_is_even_already_stays_as_it_is()
    {
        Assert.Empty(PartitionDivision.Rebalance(PartitionDivision.Evenly([One, Two, Three]), [Three, Two, One]));
        Assert.Empty(PartitionDivision.Rebalance(PartitionDivision.Evenly([One]), [One]));
    }

    [Fact]
    public void What_the_dead_own_stays_with_them()
    {
        var owners = PartitionDivision.Evenly([One, Two]);
        Array.Fill(owners, new Incarnation(1, 4), 0, 1000); // an earlier life of w1
        var moves = PartitionDivision.Rebalance(owners, [One, Two]);

        Assert.All(moves, move => Assert.NotEqual(new Incarnation(1, 4), owners[move.Partition.Number]));
        var after = After(owners, moves);
        Assert.Equal((1548, 1548), (after.Count(owner => owner == One), after.Count(owner => owner == Two)));
    }

    [Fact]
    public void Any_division_ends_with_shares_that_differ_by_one_at_most_and_each_partition_moves_once()
    {
        var random = new Random(3);
        for (var run = 0; run < 50; run++)
        {
            Incarnation[] living = [.. Enumerable.Range(1, random.Next(1, 9)).Select(worker => new Incarnation(worker, 1))];
            var owners = Enumerable.Range(0, Partition.Count).Select(_ => living[random.Next(1 + random.Next(living.Length))]).ToArray();
            var moves = PartitionDivision.Rebalance(owners, living);
            var after = After(owners, moves);
            var shares = living.Select(worker => after.Count(owner => owner == worker)).ToArray();

            Assert.True(shares.Max() - shares.Min() <= 1, $"Run {run}: {string.Join(' ', shares)}");
            Assert.Equal(moves.Count, moves.Select(move => move.Partition).Distinct().Count());
            Assert.Equal(living.Sum(worker => Math.Max(0, after.Count(owner => owner == worker) - owners.Count(owner => owner == worker))), moves.Count);
        }
    }

    private static Incarnation[] After(Incarnation[] owners, List<(Partition Partition, Incarnation Target)> moves)
    {
        var after = owners.ToArray();
        foreach (var (partition, target) in moves)
        {
            after[partition.Number] = target;
        }

        return after;
    }
}
