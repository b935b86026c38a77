using Snapper.Protocol.Directory;
using Snapper.Protocol.Identity;
using Snapper.Runtime.Cluster.Migrating;
using Xunit;

namespace Snapper.Runtime.Tests.Cluster;

/// <summary>M3, R3: what the master must not number for, over changes of the master and deaths of sources.</summary>
public sealed class FrozenKeysTests
{
    private static readonly Incarnation W1 = new(1, 7);
    private static readonly Incarnation W2 = new(2, 3);
    private static readonly ActorKey Alice = new("Account", "alice");
    private readonly FrozenKeys _frozen = new();

    [Fact]
    public void An_actor_is_held_while_a_plan_names_it_or_its_partition()
    {
        Freeze("p1", W1, DirectoryKey.Of(Alice, Partition.Of(Alice)), named: true);
        Freeze("p2", W1, DirectoryKey.Of(Partition.Of(Alice)), named: true);
        Assert.True(Holds());
        _frozen.Unfreeze("p1");
        Assert.True(Holds());
        _frozen.Unfreeze("p2");
        Assert.False(Holds());
    }

    [Fact]
    public void A_new_master_keeps_of_the_open_plans_those_that_their_source_names()
    {
        Freeze("ended", W1, DirectoryKey.Of(Alice, Partition.Of(Alice)), named: false);
        _frozen.KeepNamed(W2);
        Assert.True(Holds());
        _frozen.KeepNamed(W1);
        Assert.False(Holds());

        Freeze("open", W1, DirectoryKey.Of(Alice, Partition.Of(Alice)), named: false);
        Freeze("open", W1, DirectoryKey.Of(Alice, Partition.Of(Alice)), named: true);
        _frozen.KeepNamed(W1);
        Assert.True(Holds());
        _frozen.Unfreeze("open"); // once, though it was frozen twice
        Assert.False(Holds());
    }

    [Fact]
    public void What_a_worker_had_frozen_goes_with_its_life()
    {
        Freeze("p1", W1, DirectoryKey.Of(Alice, Partition.Of(Alice)), named: true);
        _frozen.DropOf(W1 with { Epoch = 6 });
        Assert.True(Holds());
        _frozen.DropOf(W1);
        Assert.False(Holds());
    }

    private void Freeze(string plan, Incarnation source, DirectoryKey key, bool named) => _frozen.Freeze(plan, source, [key], named);

    private bool Holds() => _frozen.Holds(Alice, new DirectoryEntry(DirectoryKey.Of(Partition.Of(Alice)), W1, 1));
}
