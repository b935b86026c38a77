using Snapper.Protocol.Directory;
using Snapper.Protocol.Identity;
using Snapper.Tests.Support;

namespace Snapper.Protocol.Tests.Units;

public sealed class OwnershipTests
{
    private static readonly Incarnation Self = new(1, 5);
    private static readonly Incarnation Other = new(2, 7);
    private static readonly ActorKey Alice = new("Account", "alice");
    private static readonly DirectoryKey Single = DirectoryKey.Of(Alice, Partition.Of(Alice));
    private static readonly DirectoryKey Whole = DirectoryKey.Of(Single.Partition);

    [Fact]
    public void What_the_directory_names_is_opened_before_it_is_used()
    {
        var owned = new Ownership(Self);
        AssertState(owned, OwnershipState.NotOwned);
        Assert.True(owned.Apply(new DirectoryEntry(Whole, Self, 1)));
        AssertState(owned, OwnershipState.Opening);
        Assert.False(owned.Freeze(Whole, "p"));
        owned.OpenNow(Whole);
        owned.OpenNow(Whole);
        AssertState(owned, OwnershipState.Open);
        Assert.False(owned.Apply(new DirectoryEntry(Whole, Self, 2)));
        AssertState(owned, OwnershipState.Open);
        Assert.False(owned.Apply(new DirectoryEntry(Whole, Other, 3)));
        AssertState(owned, OwnershipState.NotOwned);
    }

    [Fact]
    public void Entries_of_an_earlier_life_are_not_owned()
    {
        var owned = new Ownership(Self);
        Assert.False(owned.Apply(new DirectoryEntry(Whole, Self with { Epoch = 4 }, 1)));
        AssertState(owned, OwnershipState.NotOwned);
        Assert.Contains("w1/5", Assert.Throws<ProtocolViolationException>(() => owned.OpenNow(Whole)).Message, StringComparison.Ordinal);
    }

    [Fact]
    public void A_freeze_counts_for_its_own_plan_alone()
    {
        var owned = Opened();
        Assert.True(owned.Freeze(Whole, "p"));
        Assert.True(owned.Freeze(Whole, "p"));
        Assert.False(owned.Freeze(Whole, "q"));
        AssertState(owned, OwnershipState.Frozen, "p");
        Assert.False(owned.Unfreeze(Whole, "q"));
        AssertState(owned, OwnershipState.Frozen, "p");
        Assert.True(owned.Unfreeze(Whole, "p"));
        Assert.False(owned.Unfreeze(Whole, "p"));
        AssertState(owned, OwnershipState.Open);
    }

    [Fact]
    public void A_single_actor_of_an_open_partition_is_frozen_alone_and_moves_alone()
    {
        var owned = Opened();
        Assert.True(owned.Freeze(Single, "p"));
        AssertState(owned, OwnershipState.Frozen, "p");
        Assert.Equal(OwnershipState.Open, owned.Look(Single.Partition).State);
        Assert.True(owned.Unfreeze(Single, "p"));
        AssertState(owned, OwnershipState.Open);

        owned.Freeze(Single, "p");
        owned.Apply(new DirectoryEntry(Single, Other, 2));
        AssertState(owned, OwnershipState.NotOwned);
        Assert.Equal(OwnershipState.Open, owned.Look(Single.Partition).State);

        // It comes back by an entry of its own, and its partition goes.
        Assert.True(owned.Apply(new DirectoryEntry(Single, Self, 3)));
        AssertState(owned, OwnershipState.Opening);
        owned.OpenNow(Single);
        owned.Apply(new DirectoryEntry(Whole, Other, 4));
        AssertState(owned, OwnershipState.Open);
        Assert.True(owned.Freeze(Single, "q"));
        AssertState(owned, OwnershipState.Frozen, "q");
        Assert.True(owned.Unfreeze(Single, "q"));
        AssertState(owned, OwnershipState.Open);
        owned.Apply(new DirectoryEntry(Single, Incarnation.None, 5));
        AssertState(owned, OwnershipState.NotOwned);
    }

    [Fact]
    public void An_actor_frozen_alone_goes_with_its_partition()
    {
        var owned = Opened();
        owned.Freeze(Single, "p");
        owned.Apply(new DirectoryEntry(Whole, Other, 2));
        AssertState(owned, OwnershipState.NotOwned);
        Assert.False(owned.Freeze(Single, "q"));
    }

    [Fact]
    public void An_actor_whose_partition_is_not_open_is_not_frozen()
    {
        var owned = new Ownership(Self);
        Assert.False(owned.Freeze(Single, "p"));
        owned.Apply(new DirectoryEntry(Whole, Self, 1));
        Assert.False(owned.Freeze(Single, "p"));
        owned.OpenNow(Whole);
        owned.Freeze(Whole, "p");
        Assert.False(owned.Freeze(Single, "q"));
        AssertState(owned, OwnershipState.Frozen, "p");
    }

    [Fact]
    public void Looking_allocates_nothing()
    {
        var owned = Opened();
        owned.Freeze(Single, "p");
        var other = new ActorKey("Account", "bob");
        Assert.Equal(0, Allocations.Of(() =>
        {
            for (var i = 0; i < 10_000; i++)
            {
                _ = owned.Look(Alice);
                _ = owned.Look(other);
            }
        }));
    }

    private static Ownership Opened()
    {
        var owned = new Ownership(Self);
        owned.Apply(new DirectoryEntry(Whole, Self, 1));
        owned.OpenNow(Whole);
        return owned;
    }

    private static void AssertState(Ownership owned, OwnershipState state, string? plan = null) => Assert.Equal(new Holding(state, plan), owned.Look(Alice));
}
