using Snapper.Protocol.Identity;

namespace Snapper.Protocol.Tests.Units;

public sealed class IdentityTests
{
    [Fact]
    public void Numbers_of_acts_are_ordered_by_counter_then_worker_above_all_pacts()
    {
        var first = TransactionId.Act(7, 3);
        Assert.True(first.IsAct);
        Assert.Equal(7, first.Counter);
        Assert.True(first.IsOlderThan(TransactionId.Act(7, 4)));
        Assert.True(TransactionId.Act(7, 1023).IsOlderThan(TransactionId.Act(8, 0)));
        Assert.True(new TransactionId((1L << 52) - 1).IsOlderThan(TransactionId.Act(0, 0)));
        Assert.False(new TransactionId((1L << 52) - 1).IsAct);
        Assert.Equal(0, new TransactionId(5).Counter);
    }

    [Fact]
    public void The_largest_number_fits_into_a_double() =>
        Assert.True(TransactionId.Act((1L << 42) - 1, TransactionId.WorkerLimit - 1).Value < 1L << 53);

    [Theory]
    [InlineData(-1, 0)]
    [InlineData(1L << 42, 0)]
    [InlineData(0, -1)]
    [InlineData(0, 1024)]
    public void A_number_out_of_range_is_refused_with_its_parts(long counter, int worker)
    {
        var failure = Assert.Throws<ProtocolViolationException>(() => TransactionId.Act(counter, worker));
        Assert.Contains($"counter {counter}, worker {worker}", failure.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Global_numbers_are_ordered_by_master_epoch_then_counter_between_local_ones_and_acts()
    {
        var first = TransactionId.Global(1, 0);
        Assert.True(first.IsGlobal);
        Assert.False(first.IsAct);
        Assert.Equal(1, first.MasterEpoch);
        Assert.True(first.IsOlderThan(TransactionId.Global(1, 1)));
        var last = TransactionId.Global(TransactionId.MasterEpochLimit - 1, TransactionId.GlobalCounterLimit - 1);
        Assert.True(TransactionId.Global(1, TransactionId.GlobalCounterLimit - 1).IsOlderThan(TransactionId.Global(2, 0)));
        Assert.True(last.IsGlobal);
        Assert.True(last.IsOlderThan(TransactionId.Act(0, 0)));
        Assert.False(new TransactionId(1).IsGlobal);
        Assert.False(TransactionId.Act(0, 1).IsGlobal);
        Assert.Equal(0, new TransactionId(1).MasterEpoch);
    }

    [Theory]
    [InlineData(0, 0)]
    [InlineData(1L << 20, 0)]
    [InlineData(1, -1)]
    [InlineData(1, 1L << 31)]
    public void A_global_number_out_of_range_is_refused_with_its_parts(long epoch, long counter)
    {
        var failure = Assert.Throws<ProtocolViolationException>(() => TransactionId.Global(epoch, counter));
        Assert.Contains($"master epoch {epoch}, counter {counter}", failure.Message, StringComparison.Ordinal);
    }

    // What the directory says is kept: these values never change.
    [Theory]
    [InlineData("Account", "alice")]
    [InlineData("ListAppend", "k7")]
    public void The_partition_of_an_actor_is_the_low_bits_of_its_hash(string type, string id) =>
        Assert.Equal((int)(new ActorKey(type, id).Hash & 4095), Partition.Of(new ActorKey(type, id)).Number);

    [Fact]
    public void A_partition_key_places_actors_of_all_types_together()
    {
        Assert.Equal(Partition.OfKey("warehouse-3"), Partition.OfKey("warehouse-3"));
        Assert.InRange(Partition.OfKey(string.Empty).Number, 0, Partition.Count - 1);
    }

    [Fact]
    public void An_incarnation_says_worker_and_epoch()
    {
        Assert.Equal("w2/7", new Incarnation(2, 7).ToString());
        Assert.True(Incarnation.None.IsNone);
    }

    // Placement on executors and partitions follows these values: they never change.
    [Theory]
    [InlineData("Account", "alice", 13151151791574987544UL)]
    [InlineData("Account", "bob", 16198825837277525700UL)]
    [InlineData("a", "", 4147740607217510449UL)]
    [InlineData("Konto", "żółć", 7125711064754578772UL)]
    public void Hashes_are_the_same_in_every_process_and_version(string type, string id, ulong hash) =>
        Assert.Equal(hash, StableHash.Of(type, id));

    [Fact]
    public void The_border_between_type_and_id_counts()
    {
        Assert.NotEqual(StableHash.Of("ab", "c"), StableHash.Of("a", "bc"));
        Assert.NotEqual(new ActorKey("ab", "c"), new ActorKey("a", "bc"));
    }

    [Fact]
    public void Ids_that_differ_in_the_last_character_spread_over_executors()
    {
        var counts = new int[8];
        for (var i = 0; i < 8_000; i++)
        {
            counts[StableHash.Of("Account", $"a{i}") % 8]++;
        }

        Assert.All(counts, count => Assert.InRange(count, 850, 1150));
    }

    [Fact]
    public void Keys_compare_ordinally_and_refuse_empty_parts()
    {
        Assert.True(new ActorKey("A", "b").CompareTo(new ActorKey("A", "a")) > 0);
        Assert.True(new ActorKey("A", "b").CompareTo(new ActorKey("B", "a")) < 0);
        Assert.Equal(new ActorKey("A", "b").GetHashCode(), new ActorKey("A", "b").GetHashCode());
        Assert.Throws<ArgumentException>(() => new ActorKey("", "a"));
        Assert.Throws<ArgumentException>(() => new ActorKey("A", ""));
    }
}
