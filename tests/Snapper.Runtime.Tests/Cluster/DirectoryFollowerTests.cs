using Snapper.Cluster.Membership;
using Snapper.Cluster.Node;
using Snapper.Protocol.Directory;
using Snapper.Protocol.Identity;
using Snapper.Storage.Membership;
using Snapper.Storage.MigrationPlans;
using Xunit;

namespace Snapper.Runtime.Tests.Cluster;

/// <summary>A directory of more entries than are read at once (M1, R4).</summary>
public sealed class DirectoryFollowerTests : IDisposable
{
    private readonly ClusterBench _bench = new();

    [Fact]
    public void All_of_its_pages_are_known_and_owned()
    {
        Assert.True(ClusterBench.DirectoryPage * 2 < Partition.Count); // else nothing is tested here
        for (var partition = 0; partition < Partition.Count; partition++)
        {
            Assert.Equal(_bench.Self, _bench.Node.Directory.Find(new Partition(partition))?.Owner);
        }

        Assert.Equal(OwnershipState.Open, _bench.Node.Ownership.Look(ClusterBench.Box("x")).State);
    }

    [Fact]
    public void A_new_life_takes_all_pages_of_its_own_again()
    {
        var before = _bench.Self;
        _bench.Restart();
        Assert.NotEqual(before, _bench.Self);
        All_of_its_pages_are_known_and_owned();
    }

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    public void What_changes_between_two_pages_is_known_as_it_is_now(int pages)
    {
        var two = _bench.Peer(2);
        var key = DirectoryKey.Of(new Partition(3)); // on the first page
        var read = 0;
        _bench.Store.After = call =>
        {
            if (call == FaultyStore.DirectoryRead && ++read == pages)
            {
                Assert.True(two.Store.Plans.Create(new MigrationPlan("p", [key], _bench.Self, two.Life, ""), CancellationToken.None).Result.IsDone);
                Assert.True(two.Store.Plans.Commit("p", CancellationToken.None).Result.IsDone);
            }

            return Task.CompletedTask;
        };
        var fresh = new DirectoryFollower(_bench.Worker, _bench.Node, _bench.Store, ClusterBench.DirectoryPage);
        _bench.Finish(fresh.Read(CancellationToken.None), "reading all of it");
        Assert.True(read > 2);
        Assert.Equal(two.Life, _bench.Node.Directory.Find(key.Partition)?.Owner);
        Assert.Equal(_bench.Self, _bench.Node.Directory.Find(new Partition(4))?.Owner);
    }

    [Fact]
    public void What_has_come_here_while_the_last_page_was_on_its_way_is_here()
    {
        var two = _bench.Peer(2);
        var key = DirectoryKey.Of(new Partition(3));
        _bench.On(() => _bench.Node.Ownership.Freeze(key, "there"));
        Move("there", _bench.Self, two.Life);
        _bench.Finish(_bench.Directory.Read(CancellationToken.None), "reading that it is there");
        var read = 0;
        _bench.Store.After = call =>
        {
            if (call == FaultyStore.DirectoryRead && ++read * ClusterBench.DirectoryPage > Partition.Count)
            {
                var moved = Move("back", two.Life, _bench.Self);
                _bench.Node.First.PostRun(() => _bench.Node.Apply(moved)); // the notice is quicker than the page
            }

            return Task.CompletedTask;
        };
        var fresh = new DirectoryFollower(_bench.Worker, _bench.Node, _bench.Store, ClusterBench.DirectoryPage);
        _bench.Finish(fresh.Read(CancellationToken.None), "reading all of it");
        Assert.Equal(3, read);
        Assert.Equal(OwnershipState.Open, _bench.Node.Ownership.Look(key.Partition).State);
        Assert.Equal(_bench.Self, _bench.Node.Directory.Find(key.Partition)?.Owner);

        IReadOnlyList<DirectoryEntry> Move(string plan, Incarnation from, Incarnation to)
        {
            var made = two.Store.Plans.Create(new MigrationPlan(plan, [key], from, to, ""), CancellationToken.None);
            Assert.True(made.Result.IsDone);
            return two.Store.Plans.Commit(plan, CancellationToken.None).Result.Value!;
        }
    }

    [Fact]
    public async Task A_server_that_refuses_to_be_read_for_a_moment_has_lost_nothing()
    {
        _bench.Store.Refuses = call => call == FaultyStore.DirectoryRead;
        Task? reading = null;
        ClusterBench.Alone(() => reading = _bench.Directory.Read(CancellationToken.None));
        var problem = await Record.ExceptionAsync(() => reading!);
        Assert.True(problem is not null && Snapper.Storage.Log.StorageFaults.IsPassing(problem), $"{problem?.GetType().Name}: {problem?.Message}");
    }

    public void Dispose() => _bench.Dispose();
}
