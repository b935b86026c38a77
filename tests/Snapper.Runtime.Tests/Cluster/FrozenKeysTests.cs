using Snapper.Cluster.Migrating;
using Snapper.Protocol.Directory;
using Snapper.Protocol.Identity;
using Xunit;

namespace Snapper.Runtime.Tests.Cluster;

/// <summary>M3: what the master must not number for.</summary>
public sealed class FrozenKeysTests
{
    private static readonly ActorKey Alice = new("Account", "alice");
    private static readonly DirectoryKey Own = DirectoryKey.Of(Alice, Partition.Of(Alice));
    private static readonly DirectoryKey Around = DirectoryKey.Of(Partition.Of(Alice));
    private readonly FrozenKeys _frozen = new();

    [Fact]
    public void An_actor_is_held_while_a_plan_names_it_or_its_partition()
    {
        _frozen.Freeze("p1", [Own]);
        _frozen.Freeze("p2", [Around]);
        Assert.True(Holds());
        _frozen.Unfreeze("p1");
        Assert.True(Holds());
        _frozen.Unfreeze("p2");
        Assert.False(Holds());
    }

    [Fact]
    public void A_plan_that_is_named_again_ends_once()
    {
        _frozen.Freeze("p1", [Own]);
        _frozen.Freeze("p1", [Own]);
        Assert.Equal(["p1"], _frozen.Plans);
        _frozen.Unfreeze("p1");
        Assert.False(Holds());
        Assert.Empty(_frozen.Plans);
        _frozen.Unfreeze("p1");
    }

    private bool Holds() => _frozen.Holds(Alice, new DirectoryEntry(Around, new Incarnation(1, 7), 1));
}
