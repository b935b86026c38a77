using Snapper.Cluster;
using Snapper.Cluster.Control;
using Snapper.Contracts;
using Snapper.Protocol.Identity;
using Snapper.Runtime.Inspection;
using Snapper.Runtime.Tests.Support;
using Snapper.Storage.MigrationPlans;
using Xunit;

namespace Snapper.Runtime.Tests.Cluster;

/// <summary>
/// Migrations as they are asked for: each is made whole, or its asker is told, and an id is one migration's alone.
/// </summary>
public sealed class MigrationAskTests
{
    [Fact]
    public async Task One_whose_asker_goes_away_while_it_is_made_is_made_and_carried_out_whole()
    {
        await using var cluster = await TestCluster.Start(3);
        using var asker = new CancellationTokenSource();
        MigrationStatus? shownEarly = null;
        var created = 0;
        cluster.StoreOf(2).After = async call =>
        {
            if (call == nameof(IMigrationPlans.Create) && ++created == 1)
            {
                await asker.CancelAsync();
                shownEarly = await cluster[3].Control!.Migration("drain", CancellationToken.None);
            }
        };

        var made = await cluster[2].Control!.Migrate(Drain("drain"), asker.Token);

        Assert.Null(shownEarly); // one that is shown has all its parts
        Assert.Equal((2, 2), (created, made.Parts.Count));
        Assert.Equal("done", (await Ended(cluster, "drain")).State);
        await Rig.Until(() => cluster[3].Control!.PartitionsOf("w1").Count == 0, "w3 has heard that w1 owns nothing");
    }

    [Fact]
    public async Task One_of_which_the_store_took_a_part_only_is_not_shown_and_what_is_left_can_be_asked_for_under_another_id()
    {
        await using var cluster = await TestCluster.Start(3);
        var asked = 0;
        cluster.StoreOf(2).Before = call => call == nameof(IMigrationPlans.Create) && ++asked == 2 ? Task.FromException(new IOException("planned")) : Task.CompletedTask;
        await Assert.ThrowsAsync<StorageUnavailableException>(() => cluster[2].Control!.Migrate(Drain("drain"), CancellationToken.None));
        cluster.StoreOf(2).Before = null;
        await Rig.Until(() => cluster[3].Control!.PartitionsOf("w1").Count < Partition.Count / 3 - 10, "the part that was made is carried out");
        Assert.Null(await cluster[3].Control!.Migration("drain", CancellationToken.None));

        var refused = await Assert.ThrowsAsync<MigrationRefusedException>(() => cluster[3].Control!.Migrate(Drain("drain"), CancellationToken.None));
        Assert.Equal("Only a part of the migration drain was made when it was asked for before; that part goes on. Ask for what is left under another id.", refused.Message);
        await cluster[3].Control!.Migrate(Drain("rest"), CancellationToken.None);

        Assert.Equal("done", (await Ended(cluster, "rest")).State);
        await Rig.Until(() => cluster[3].Control!.PartitionsOf("w1").Count == 0, "w3 has heard that w1 owns nothing");
    }

    [Fact]
    public async Task An_id_is_one_migrations_alone_and_the_same_asked_for_again_is_answered_with_it()
    {
        await using var cluster = await TestCluster.Start(2);
        var (one, other) = (Actor(cluster.IdAt(1, "Account", "a")), Actor(cluster.IdAt(1, "Account", "b")));
        var first = await cluster[1].Control!.Migrate(Move("m", one, "w2"), CancellationToken.None);
        Assert.Equal("done", (await Ended(cluster, "m")).State);

        var again = await cluster[2].Control!.Migrate(Move("m", one, "w2"), CancellationToken.None);
        Assert.Equal((first.Parts[0].Plan, "done"), (again.Parts.Single().Plan, again.State));
        foreach (var another in (MigrationAsk[])[Move("m", other, "w2"), Move("m", one, "w1"), Drain("m") with { Worker = "w2" }])
        {
            var refused = await Assert.ThrowsAsync<MigrationRefusedException>(() => cluster[1].Control!.Migrate(another, CancellationToken.None));
            Assert.Equal("The id m is another migration's.", refused.Message);
        }

        await Rig.Until(() => cluster[1].Control!.OwnerOf(one) == "w2", "w1 has heard that it has moved");
        Assert.Equal("w1", cluster[1].Control!.OwnerOf(other));
    }

    [Fact]
    public async Task A_worker_that_is_over_says_so_and_to_ask_another_one()
    {
        await using var cluster = await TestCluster.Start(2);
        var over = cluster[1].Control!;
        cluster.StoreOf(1).Before = _ => throw new ObjectDisposedException("connection");
        await cluster.Kill(1);

        var refused = await Assert.ThrowsAsync<StorageUnavailableException>(() => over.Migrate(Drain("drain") with { Worker = "w2" }, CancellationToken.None));

        Assert.Equal("w1 stops, or was fenced, and starts again. What it has begun goes on; ask another worker, or this one later, with the same id if you gave one.", refused.Message);
    }

    [Fact]
    public async Task A_request_under_the_id_of_one_that_asked_for_something_else_is_refused_whatever_has_moved_since()
    {
        await using var cluster = await TestCluster.Start(3);
        var (one, other) = (Actor(cluster.IdAt(1, "Account", "a")), Actor(cluster.IdAt(1, "Account", "b")));
        var ask = new MigrationAsk("m", [one, Actor(cluster.IdAt(1, "Account", "c"))], null, null, "w2", "why", DryRun: false);
        await cluster[1].Control!.Migrate(ask, CancellationToken.None);
        Assert.Equal("done", (await Ended(cluster, "m")).State);

        foreach (var another in (MigrationAsk[])
        [
            ask with { Actors = [.. ask.Actors!, other] }, ask with { Actors = [one] }, ask with { To = "w3" }, ask with { To = null }, ask with { Reason = "another" },
            ask with { Actors = null, Partitions = [cluster[1].Control!.PartitionOf(one)] },
            ask with { Actors = null, Worker = "w1" }, Drain("m") with { Reason = "why" }, ask with { Actors = null, To = null, Rebalance = true },
        ])
        {
            var refused = await Assert.ThrowsAsync<MigrationRefusedException>(() => cluster[3].Control!.Migrate(another, CancellationToken.None));
            Assert.Equal("The id m is another migration's.", refused.Message);
        }

        var again = await cluster[3].Control!.Migrate(ask with { Actors = [.. ask.Actors!.Reverse()] }, CancellationToken.None); // the same in another order
        Assert.Equal(("m", "done", 2), (again.Id, again.State, again.Keys));
        Assert.Equal(["m"], (await cluster[3].Control!.Migrations(100, CancellationToken.None)).Select(migration => migration.Id));
    }

    [Fact]
    public async Task A_drain_that_is_asked_for_again_when_its_worker_owns_nothing_any_more_is_answered_with_the_first()
    {
        await using var cluster = await TestCluster.Start(3);
        var first = await cluster[2].Control!.Migrate(Drain("drain"), CancellationToken.None);
        Assert.Equal("done", (await Ended(cluster, "drain")).State);

        var again = await cluster[3].Control!.Migrate(Drain("drain"), CancellationToken.None);

        Assert.Equal((first.Keys, "done"), (again.Keys, again.State));
        foreach (var another in (MigrationAsk[])[Drain("drain") with { To = "w3" }, Drain("drain") with { Worker = "w2" }])
        {
            await Assert.ThrowsAsync<MigrationRefusedException>(() => cluster[1].Control!.Migrate(another, CancellationToken.None));
        }
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task An_actor_of_a_type_that_is_not_there_does_not_move(bool dryRun)
    {
        await using var cluster = await TestCluster.Start(2);

        var refused = await Assert.ThrowsAsync<MigrationRefusedException>(
            () => cluster[1].Control!.Migrate(Move("m", new ActorKey("Acount", "a"), "w2") with { DryRun = dryRun }, CancellationToken.None));

        Assert.Equal("There is no actor type 'Acount'.", refused.Message);
        Assert.Empty(cluster[1].Control!.Directory().Actors);
    }

    [Fact]
    public async Task Those_that_are_asked_for_without_an_id_at_one_time_have_ids_of_their_own()
    {
        await using var cluster = await TestCluster.Start(2);
        var moves = new List<Task<MigrationStatus>>();
        foreach (var name in (string[])["a", "b", "c"])
        {
            moves.Add(cluster[1].Control!.Migrate(Move("m", Actor(cluster.IdAt(1, "Account", name)), "w2") with { Id = null }, CancellationToken.None));
        }

        var made = await Task.WhenAll(moves);

        Assert.Equal(3, made.Select(migration => migration.Id).Distinct().Count());
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_worker_does_not_give_what_it_owns_to_itself(bool dryRun)
    {
        await using var cluster = await TestCluster.Start(2);

        var refused = await Assert.ThrowsAsync<MigrationRefusedException>(
            () => cluster[2].Control!.Migrate(Drain("drain") with { To = "w1", DryRun = dryRun }, CancellationToken.None));

        Assert.Equal("w1 cannot give what it owns to itself: name another worker to give it to, or none, and it is spread over the others.", refused.Message);
        Assert.Equal(Partition.Count / 2, cluster[1].Control!.PartitionsOf("w1").Count);
    }

    private static ActorKey Actor(string id) => new("Account", id);

    private static MigrationAsk Move(string id, ActorKey actor, string to) => new(id, [actor], null, null, to, "", DryRun: false);

    private static MigrationAsk Drain(string id) => new(id, null, null, "w1", null, "", DryRun: false);

    private static async Task<MigrationStatus> Ended(TestCluster cluster, string id)
    {
        var until = DateTime.UtcNow.AddSeconds(20);
        while (true)
        {
            if (await cluster[2].Control!.Migration(id, CancellationToken.None) is { State: not "planned" } ended)
            {
                return ended;
            }

            Assert.True(DateTime.UtcNow < until, $"Migration {id} has not ended after 20 s.");
            await Task.Delay(5);
        }
    }
}
