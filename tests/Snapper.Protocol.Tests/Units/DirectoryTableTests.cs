using Snapper.Protocol.Directory;
using Snapper.Protocol.Identity;
using Snapper.Tests.Support;

namespace Snapper.Protocol.Tests.Units;

public sealed class DirectoryTableTests
{
    private static readonly Incarnation One = new(1, 5);
    private static readonly Incarnation Two = new(2, 7);
    private static readonly ActorKey Alice = new("Account", "alice");
    private static readonly Partition Home = Partition.Of(Alice);

    [Fact]
    public void An_actor_is_where_its_partition_is_unless_it_has_an_entry_of_its_own()
    {
        var table = new DirectoryTable();
        Assert.True(table.Resolve(Alice).IsNone);
        Assert.True(table.Apply(Whole(One, 1)));
        Assert.Equal(One, table.Resolve(Alice));
        Assert.True(table.Apply(Own(Two, 2)));
        Assert.Equal(Two, table.Resolve(Alice));
        Assert.True(table.Apply(Whole(Two with { Epoch = 8 }, 3)));
        Assert.Equal(Two, table.Resolve(Alice));
    }

    [Fact]
    public void Notices_in_any_order_and_any_number_of_times_give_the_same_table()
    {
        DirectoryEntry[] notices = [Whole(One, 1), Own(Two, 2), Own(One, 3), Own(Two, 4), Whole(Two, 5), Own(One, 6)];
        for (var seed = 1; seed <= 300; seed++)
        {
            var random = new Random(seed);
            var table = new DirectoryTable();
            var known = 0;
            for (var i = 0; i < 30; i++)
            {
                if (random.Next(4) == 0 && known < notices.Length)
                {
                    // The changes as read, in their order, beside the notices.
                    var page = notices[known..random.Next(known, notices.Length + 1)];
                    known += page.Length;
                    table.Advance(page, known);
                }
                else
                {
                    table.Apply(notices[random.Next(notices.Length)]);
                }
            }

            table.Advance(notices[known..], notices.Length);
            Assert.Equal((One, Two, 6L, 1), (table.Resolve(Alice), table.Find(Home)!.Owner, table.Version, table.Overrides));
        }
    }

    [Fact]
    public void Two_owners_for_one_version_are_a_broken_invariant()
    {
        var table = new DirectoryTable();
        table.Apply(Whole(One, 3));
        Assert.False(table.Apply(Whole(One, 3)));
        var broken = Assert.Throws<ProtocolViolationException>(() => table.Apply(Whole(Two, 3)));
        Assert.Contains("version 3", broken.Message, StringComparison.Ordinal);
        table.Advance([], 5);
        Assert.Throws<ProtocolViolationException>(() => table.Advance([], 4));
    }

    [Fact]
    public void A_directory_that_was_read_anew_replaces_what_was_known()
    {
        var table = new DirectoryTable();
        table.Advance([Whole(One, 8), Own(Two, 9)], 9);
        table.Replace([Whole(Two, 2)], 2);
        Assert.Equal((Two, 2L, 0), (table.Resolve(Alice), table.Version, table.Overrides));
    }

    [Fact]
    public void What_names_a_worker_is_listed_in_the_order_of_its_keys()
    {
        var table = new DirectoryTable();
        var bob = new ActorKey("Account", "bob");
        var entries = new[]
        {
            new DirectoryEntry(DirectoryKey.Of(new Partition(7)), One, 1), new DirectoryEntry(DirectoryKey.Of(new Partition(3)), One with { Epoch = 4 }, 2),
            new DirectoryEntry(DirectoryKey.Of(bob, new Partition(3)), One, 3), new DirectoryEntry(DirectoryKey.Of(Alice, new Partition(3)), One, 4),
            new DirectoryEntry(DirectoryKey.Of(new Partition(1)), Two, 5),
        };
        table.Advance(entries, 5);
        var owned = new List<DirectoryEntry>();
        table.AddOwnedBy(1, owned);
        Assert.Equal([entries[1], entries[3], entries[2], entries[0]], owned);
    }

    [Fact]
    public void A_type_may_name_a_partition_key()
    {
        var table = new DirectoryTable(static actor => Partition.OfKey(actor.Id.Split('-')[0]));
        table.Apply(new DirectoryEntry(DirectoryKey.Of(Partition.OfKey("acme")), Two, 1));
        Assert.Equal(Two, table.Resolve(new ActorKey("Account", "acme-1")));
        Assert.Equal(Two, table.Resolve(new ActorKey("Order", "acme-77")));
        Assert.Equal(Partition.OfKey("acme"), table.KeyOf(new ActorKey("Order", "acme-77")).Partition);
    }

    [Fact]
    public void Resolving_allocates_nothing()
    {
        var table = new DirectoryTable();
        table.Apply(Whole(One, 1));
        table.Apply(Own(Two, 2));
        var other = new ActorKey("Account", "bob");
        Assert.Equal(0, Allocations.Of(() =>
        {
            for (var i = 0; i < 10_000; i++)
            {
                _ = table.Resolve(Alice);
                _ = table.Resolve(other);
            }
        }));
    }

    [Fact]
    public async Task Readers_see_each_entry_before_or_after_a_change_and_never_go_back()
    {
        var table = new DirectoryTable();
        table.Apply(Own(new Incarnation(1, 1), 1));
        using var stop = new CancellationTokenSource();
        var reader = Task.Run(() =>
        {
            var last = 0L;
            while (!stop.IsCancellationRequested)
            {
                var entry = table.Find(Alice)!;
                Assert.Equal(entry.Version, entry.Owner.Epoch);
                Assert.True(entry.Version >= last, $"{entry} after version {last}");
                last = entry.Version;
            }
        });
        for (var version = 2; version <= 20_000; version++)
        {
            table.Apply(Own(new Incarnation(1 + (version % 3), version), version));
        }

        await stop.CancelAsync();
        await reader;
    }

    [Fact]
    public void Partitions_are_divided_evenly()
    {
        var members = new[] { One, Two, new Incarnation(3, 1) };
        var owners = PartitionDivision.Evenly(members);
        Assert.Equal(Partition.Count, owners.Length);
        Assert.All(members, m => Assert.InRange(owners.Count(o => o == m), 1365, 1366));
        Assert.Throws<ArgumentException>(() => PartitionDivision.Evenly([]));
        Assert.Throws<ArgumentException>(() => PartitionDivision.Evenly([One, One with { Epoch = 6 }]));
    }

    private static DirectoryEntry Whole(Incarnation owner, long version) => new(DirectoryKey.Of(Home), owner, version);

    private static DirectoryEntry Own(Incarnation owner, long version) => new(DirectoryKey.Of(Alice, Home), owner, version);
}
