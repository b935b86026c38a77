using Snapper.Protocol.Directory;
using Snapper.Protocol.Identity;
using Snapper.Tests.Support;
using Xunit;

namespace Snapper.Protocol.Tests.Units;

public sealed class PartitionKeysTests
{
    private static readonly PartitionKeys Shop = new(
    [
        new("Warehouse", '/'),
        new("District", '/'),
        new("Order", ':'),
        new("Account", null),
    ]);

    [Theory]
    [InlineData("Warehouse", "3")]
    [InlineData("Warehouse", "3/")]
    [InlineData("District", "3/7")]
    [InlineData("District", "3/7/21")]
    [InlineData("Order", "3:99/1")]
    public void Actors_whose_ids_begin_with_one_key_are_in_one_partition_whatever_their_types(string type, string id) =>
        Assert.Equal(Partition.OfKey("3"), Shop.Of(new ActorKey(type, id)));

    [Theory]
    [InlineData("Order", "3/7")]
    [InlineData("District", "3:7")]
    [InlineData("District", "/3")]
    public void The_key_ends_at_the_separator_of_the_type_alone(string type, string id) =>
        Assert.Equal(Partition.OfKey(type == "District" && id[0] == '/' ? "" : id), Shop.Of(new ActorKey(type, id)));

    [Theory]
    [InlineData("Account")]
    [InlineData("Unheard")]
    public void Types_without_a_key_and_types_that_are_not_known_go_by_the_whole_id(string type)
    {
        var actor = new ActorKey(type, "3/7");

        Assert.Equal(Partition.Of(actor), Shop.Of(actor));
        Assert.Equal(Partition.Of(actor), PartitionKeys.None.Of(actor));
    }

    [Fact]
    public void It_says_whether_any_type_names_a_key()
    {
        Assert.True(Shop.Any);
        Assert.False(PartitionKeys.None.Any);
        Assert.False(new PartitionKeys([new("Account", null)]).Any);
        Assert.Equal(["Account", "District", "Order", "Warehouse"], Shop.Types.Keys);
    }

    [Theory]
    [InlineData('a')]
    [InlineData('0')]
    [InlineData(' ')]
    [InlineData('\t')]
    [InlineData('ä')]
    [InlineData((char)127)]
    public void What_cannot_end_a_key_is_refused_by_its_type(char separator) =>
        Assert.Contains("'Order'", Assert.Throws<ArgumentException>(() => new PartitionKeys([new("Order", separator)])).Message, StringComparison.Ordinal);

    [Fact]
    public void A_type_that_is_named_twice_is_refused() =>
        Assert.Contains("'Order'", Assert.Throws<ArgumentException>(() => new PartitionKeys([new("Order", '/'), new("Order", null)])).Message, StringComparison.Ordinal);

    [Fact]
    public void Looking_allocates_nothing()
    {
        var actor = new ActorKey("District", "3/7");
        Assert.Equal(0, Allocations.Of(() =>
        {
            for (var i = 0; i < 1000; i++)
            {
                Shop.Of(actor);
            }
        }));
    }
}
