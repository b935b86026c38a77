using Snapper.Actors.Generated;
using Snapper.Cluster;
using Snapper.Cluster.Membership;
using Snapper.Protocol.Directory;
using Snapper.Protocol.Identity;
using Snapper.Runtime.Door;
using Snapper.Runtime.Tests.Support;
using Xunit;

namespace Snapper.Runtime.Tests.Cluster;

/// <summary>
/// Types that name a partition key: actors with one key live together, at all workers alike, and a worker that would
/// place them elsewhere does not join.
/// </summary>
public sealed class PartitionKeyTests
{
    private static readonly ActorTypeDescriptor[] Shop = [ShelfActorDescriptor.Instance, WarehouseActorDescriptor.Instance];

    [Fact]
    public async Task Transactions_over_actors_of_one_key_are_of_one_worker_and_others_are_not()
    {
        await using var cluster = await TestCluster.Start(3, types: static _ => Shop);
        var owners = new HashSet<int>();
        for (var warehouse = 0; warehouse < 20; warehouse++)
        {
            string[] shelves = [$"{warehouse}/1", $"{warehouse}/2", $"{warehouse}/2/left"];
            var owner = cluster.OwnerOf("Warehouse", $"{warehouse}");
            owners.Add(owner.Worker.Options.Number);
            Assert.All(shelves, shelf => Assert.Same(owner, cluster.OwnerOf("Shelf", shelf)));

            Assert.Equal(1, await WorkersOf(cluster, "Warehouse", $"{warehouse}", shelves));
        }

        Assert.Equal(3, owners.Count);
        var (here, there) = (0, 1);
        while (cluster.OwnerOf("Warehouse", $"{there}") == cluster.OwnerOf("Warehouse", $"{here}"))
        {
            there++;
        }

        Assert.Equal(2, await WorkersOf(cluster, "Warehouse", $"{here}", [$"{there}/1"]));
    }

    [Fact]
    public async Task A_worker_that_does_not_host_a_type_finds_its_actors_all_the_same()
    {
        await using var cluster = await TestCluster.Start(3, types: static worker => worker == 3 ? [] : Shop);
        var without = cluster[3].Worker.Cluster!;
        for (var warehouse = 0; warehouse < 50; warehouse++)
        {
            Assert.Equal(
                cluster[1].Worker.Cluster!.Directory.KeyOf(new ActorKey("Shelf", $"{warehouse}/1")),
                without.Directory.KeyOf(new ActorKey("Shelf", $"{warehouse}/1")));
        }
    }

    [Fact]
    public async Task A_worker_whose_type_has_another_key_is_refused_and_the_others_go_on()
    {
        var elsewhere = new[] { ShelfActorDescriptor.Instance with { PartitionSeparator = ':' }, WarehouseActorDescriptor.Instance };
        var wrong = false;
        await using var cluster = await TestCluster.Start(2, types: worker => worker == 2 && Volatile.Read(ref wrong) ? elsewhere : Shop);
        var (shelf, before) = ("7/1", await Take(cluster, "Shelf", "7/1", []));
        Assert.Equal(Outcome.Committed, before.Outcome);

        await cluster.Kill(2);
        Volatile.Write(ref wrong, true);
        var refused = await Assert.ThrowsAsync<PlacementMismatchException>(() => cluster.Open(2).WaitAsync(TimeSpan.FromSeconds(20)));
        Assert.True(refused.IsForGood);
        Assert.Contains("Shelf", refused.Message, StringComparison.Ordinal);
        Assert.Contains("the id up to the first '/'", refused.Message, StringComparison.Ordinal);
        Assert.Contains("the id up to the first ':'", refused.Message, StringComparison.Ordinal);

        await Rig.Until(() => cluster[1].Worker.Cluster!.Directory.Resolve(new ActorKey("Shelf", shelf)).Worker == 1, "w1 has what w2 had", 20);
        var after = await TestCluster.SubmitTo(cluster[1], "Shelf", shelf, "Take", new Delivery(1, []), null);
        Assert.Equal("2", System.Text.Encoding.UTF8.GetString(after.Result.Span));
    }

    [Fact]
    public async Task A_new_type_with_a_key_is_refused_while_workers_live_that_do_not_know_it()
    {
        await using var cluster = await TestCluster.Start(2, lease: TimeSpan.FromSeconds(1), types: static worker => worker == 3 ? Shop : []);
        cluster.Workers = 3;

        var refused = await Assert.ThrowsAsync<PlacementMismatchException>(() => cluster.Open(3).WaitAsync(TimeSpan.FromSeconds(20)));
        Assert.False(refused.IsForGood);
        Assert.Contains("lives and does not know it", refused.Message, StringComparison.Ordinal);
        Assert.Empty(cluster.Failures);
    }

    [Fact]
    public async Task A_single_actor_of_a_type_with_a_key_can_move_alone_and_its_partition_with_the_rest()
    {
        await using var cluster = await TestCluster.Start(2, types: static _ => Shop);
        var owner = cluster.OwnerOf("Warehouse", "3").Worker.Options.Number;
        var other = 3 - owner;
        await Take(cluster, "Warehouse", "3", ["3/1", "3/2"]);
        var alone = new ActorKey("Shelf", "3/1");
        Assert.Equal(Storage.MigrationPlans.PlanState.Done, await cluster.Move("alone", owner, other, DirectoryKey.Of(alone, Partition.OfKey("3"))));
        await Rig.Until(() => cluster.OwnerOf("Shelf", "3/1") == cluster[other] && cluster.OwnerOf("Shelf", "3/2") == cluster[owner], "one shelf has moved");
        Assert.Equal(2, await WorkersOf(cluster, "Warehouse", "3", ["3/1", "3/2"]));

        Assert.Equal(Storage.MigrationPlans.PlanState.Done, await cluster.Move("rest", owner, other, DirectoryKey.Of(Partition.OfKey("3"))));
        await Rig.Until(() => cluster.OwnerOf("Warehouse", "3") == cluster[other] && cluster.OwnerOf("Shelf", "3/2") == cluster[other], "the rest has moved");
        Assert.Equal(1, await WorkersOf(cluster, "Warehouse", "3", ["3/1", "3/2"]));
    }

    /// <summary>Runs a PACT, and counts the workers that made a batch of it or of its part.</summary>
    private static async Task<long> WorkersOf(TestCluster cluster, string type, string id, string[] shelves)
    {
        long Batches() => Enumerable.Range(1, cluster.Workers).Sum(worker => cluster[worker].Worker.Batches.Count);
        var before = Batches();
        await Take(cluster, type, id, shelves);
        return Batches() - before;
    }

    private static async Task<TransactionEnvelope> Take(TestCluster cluster, string type, string id, string[] shelves)
    {
        var taken = await cluster.Submit(
            type, id, "Take", new Delivery(1, shelves), [new(new ActorKey(type, id), 1), .. shelves.Select(shelf => new DeclaredAccess(new ActorKey("Shelf", shelf), 1))]);
        Assert.True(taken.Outcome == Outcome.Committed, TestWorker.Describe(taken));
        return taken;
    }
}
