using Snapper.Cluster;
using Snapper.Cluster.Balancing;
using Snapper.Cluster.Wire;
using Snapper.Protocol.Directory;
using Snapper.Protocol.Identity;
using Snapper.Runtime.Door;
using Snapper.Runtime.Tests.Support;
using Xunit;

namespace Snapper.Runtime.Tests.Cluster;

/// <summary>
/// The policy that proposes moves, on real workers: what it counts, what it proposes, and what it does when it is
/// told to.
/// </summary>
public sealed class BalancingTests
{
    private static readonly PolicyLimits s_eager = new(LeastPerSecond: 1, PairPerSecond: 5, Confirmations: 2, Pause: 2);

    [Fact]
    public async Task While_it_is_off_nothing_is_counted_or_proposed()
    {
        await using var cluster = await TestCluster.Start(2);
        Assert.Null(cluster[1].Worker.Cluster!.Balancer);
        Assert.Equal("off", cluster[1].Control!.Proposals().Mode);
    }

    [Theory]
    [InlineData(BalancingMode.Propose)]
    [InlineData(BalancingMode.Execute)]
    public async Task Actors_that_are_used_together_are_proposed_and_moved_only_when_it_may(BalancingMode mode)
    {
        await using var cluster = await TestCluster.Start(2, balancing: Options(mode, s_eager with { LeastPerSecond = 1e9 }));
        string one = cluster.IdAt(1, "Account"), two = cluster.IdAt(2, "Account");
        var ending = new CancellationTokenSource();
        var load = Task.WhenAll(Enumerable.Range(0, 4).Select(_ => Task.Run(async () =>
        {
            while (!ending.IsCancellationRequested)
            {
                var moved = await cluster.Submit(
                    "Account", one, "Transfer", new { to = two, amount = 1 }, [new(new ActorKey("Account", one), 1), new(new ActorKey("Account", two), 1)]);
                Assert.True(moved.Outcome is Outcome.Committed or Outcome.Aborted, TestWorker.Describe(moved));
            }
        })));
        if (mode == BalancingMode.Execute)
        {
            await Rig.Until(() => cluster.OwnerOf("Account", one) == cluster.OwnerOf("Account", two), "the two actors are together", 40);
        }
        else
        {
            await Rig.Until(
                () => Enumerable.Range(1, 2).All(worker => cluster[worker].Control!.Proposals().Proposals.Any(proposal => proposal.Ripe)), "both workers see a ripe proposal", 40);
            var proposal = cluster[1].Control!.Proposals().Proposals[0];
            Assert.Equal("Account", proposal.Type);
            Assert.Contains(proposal.Id, new[] { one, two });
            Assert.NotEqual(cluster.OwnerOf("Account", one), cluster.OwnerOf("Account", two));
        }

        await ending.CancelAsync();
        await load;
        Assert.Empty(cluster.Failures);
        Assert.Equal(mode == BalancingMode.Execute ? 1 : 0, cluster[1].Control!.Proposals().Moves + cluster[2].Control!.Proposals().Moves);
        Assert.Equal(40_000, await cluster.Total(one) + await cluster.Total(two));
    }

    [Fact]
    public async Task A_hot_worker_gives_partitions_away_until_it_is_hot_no_more()
    {
        await using var cluster = await TestCluster.Start(2, balancing: Options(BalancingMode.Execute, s_eager with { PairPerSecond = 1e9 }));
        var hot = Enumerable.Range(0, 200).Select(i => "h" + i).Where(id => cluster.OwnerOf("Account", id) == cluster[1]).Take(6).ToArray();
        var ending = new CancellationTokenSource();
        var load = Task.WhenAll(hot.Select(id => Task.Run(async () =>
        {
            while (!ending.IsCancellationRequested)
            {
                var read = await cluster.Submit("Account", id, "Balance", null, [new(new ActorKey("Account", id), 1)]);
                Assert.True(read.Outcome == Outcome.Committed, TestWorker.Describe(read));
                await Task.Delay(5); // a steady load, the same on all of them
            }
        })));
        await Rig.Until(() => hot.Count(id => cluster.OwnerOf("Account", id) == cluster[2]) >= 2, "w1 has given two of its hot partitions away", 60);
        await ending.CancelAsync();
        await Task.WhenAny(load);
        Assert.Empty(cluster.Failures); // ahead of what clients were told because of them
        await load;
        Assert.InRange(hot.Count(id => cluster.OwnerOf("Account", id) == cluster[2]), 2, 4);
    }

    [Fact]
    public async Task Reports_that_come_in_while_it_looks_do_not_stop_a_worker()
    {
        var often = new BalancingOptions { Mode = BalancingMode.Propose, Interval = TimeSpan.FromMilliseconds(100) };
        await using var cluster = await TestCluster.Start(2, balancing: often);
        var balancer = cluster[1].Worker.Cluster!.Balancer!;
        var ending = new CancellationTokenSource();
        var reports = Task.Run(() =>
        {
            // Of workers that are not there: it forgets them at each look, and so the table grows during each copy.
            for (var number = 100; !ending.IsCancellationRequested; number++)
            {
                balancer.OnLoad(new Incarnation(number, 1), new LoadMessage([], [], []));
                Thread.SpinWait(200);
            }
        });
        for (var looks = 0; looks < 10; looks++)
        {
            var before = balancer.View;
            await Rig.Until(() => balancer.View != before || cluster.Failures.Count > 0, "it has looked again", 20);
        }

        await ending.CancelAsync();
        await reports;
        Assert.Empty(cluster.Failures);
    }

    [Fact]
    public void Pairs_that_come_often_are_kept_in_bounded_memory()
    {
        var sketch = new PairSketch(16);
        var random = new Random(1);
        ActorKey a = new("Account", "a"), b = new("Account", "b");
        for (var i = 0; i < 10_000; i++)
        {
            if (i % 4 == 0)
            {
                sketch.Add(i % 8 == 0 ? a : b, i % 8 == 0 ? b : a);
            }
            else
            {
                sketch.Add(new ActorKey("Account", "x" + random.Next(100_000)), new ActorKey("Account", "y" + random.Next(100_000)));
            }

            Assert.InRange(sketch.Count, 0, 16);
        }

        var (one, other, count) = sketch.Take(4)[0];
        Assert.Equal((a, b), (one, other));
        Assert.InRange(count, 1500, 2500);
        Assert.Equal(0, sketch.Count);
    }

    private static BalancingOptions Options(BalancingMode mode, PolicyLimits limits) => new() { Mode = mode, Interval = TimeSpan.FromMilliseconds(300), Limits = limits };
}
