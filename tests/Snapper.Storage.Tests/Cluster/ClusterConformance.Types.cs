using Snapper.Protocol.Directory;
using Snapper.Storage.Membership;
using Xunit;

namespace Snapper.Storage.Tests.Cluster;

/// <content>By which keys actors are placed.</content>
public abstract partial class ClusterConformance
{
    [Fact]
    public async Task The_keys_of_types_are_kept_and_told_to_all_who_declare()
    {
        var (one, two) = (await Start(1), await Start(2));
        var first = await Done(one.Directory.Declare(Keys(("Order", '/'), ("Account", null)), None));
        var second = await Done(two.Directory.Declare(Keys(("Box", null)), None));

        Assert.Equal([new("Account", null), new("Order", '/')], first.Types);
        Assert.Equal([new("Account", null), new("Box", null), new("Order", '/')], second.Types);
        Assert.Equal(second.Types, (await Done(one.Directory.Declare(Keys(("Order", '/')), None))).Types);
        Assert.Equal(ClusterStatus.Done, (await one.Members.Renew("", 0, None)).Status);
        Assert.Equal(ClusterStatus.Done, (await two.Members.Renew("", 0, None)).Status);
    }

    [Theory]
    [InlineData('/', ':', "the id up to the first '/'", "the id up to the first ':'")]
    [InlineData('/', null, "the id up to the first '/'", "the whole id")]
    [InlineData(null, '/', "the whole id", "the id up to the first '/'")]
    public async Task Another_key_of_a_type_that_is_known_is_refused_and_both_are_named(char? known, char? declared, string knownText, string declaredText)
    {
        var one = await Start(1);
        await Done(one.Directory.Declare(Keys(("Order", known)), None));
        var two = await Start(2);
        var refused = await two.Directory.Declare(Keys(("Account", null), ("Order", declared)), None);

        Assert.Equal(ClusterStatus.Conflict, refused.Status);
        Assert.Equal($"actors of the type Order are placed by {knownText}, and this worker's program says {declaredText}", refused.Detail);
        Assert.Equal(["Order"], (await Done(one.Directory.Declare(PartitionKeys.None, None))).Types.Keys);
    }

    [Fact]
    public async Task A_new_type_with_a_key_waits_for_those_who_live_and_do_not_know_it()
    {
        var (old, joining) = (await Start(1), await Start(2));
        await Done(old.Directory.Declare(Keys(("Account", null)), None));

        var early = await joining.Directory.Declare(Keys(("Order", '/')), None);
        Assert.Equal(ClusterStatus.NotYet, early.Status);
        Assert.Contains("Order", early.Detail, StringComparison.Ordinal);
        Assert.Contains(old.Self.ToString(), early.Detail, StringComparison.Ordinal);
        await Done(joining.Directory.Declare(Keys(("Box", null)), None)); // one without a key is where everybody takes it to be

        await Settle(joining);
        await Done(joining.Directory.Declare(Keys(("Order", '/')), None));

        var late = await old.Members.Renew("", 0, None);
        Assert.Equal(ClusterStatus.Stale, late.Status);
        Assert.Contains("partition key", late.Detail, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Workers_that_start_together_with_a_new_type_wait_for_nobody()
    {
        var before = await Start(1);
        await Done(before.Directory.Declare(Keys(("Account", null)), None));
        var (one, two) = (await Start(1), await Start(2));

        await Done(two.Directory.Declare(Keys(("Order", '/')), None));
        await Done(one.Directory.Declare(Keys(("Order", '/')), None));
        Assert.Equal(ClusterStatus.Done, (await one.Members.Renew("", 0, None)).Status);
    }

    [Fact]
    public async Task Who_is_not_registered_declares_nothing()
    {
        var one = await Open(1);
        Assert.Equal(ClusterStatus.Stale, (await one.Directory.Declare(Keys(("Order", '/')), None)).Status);
        var two = await Start(2);
        Assert.Empty((await Done(two.Directory.Declare(PartitionKeys.None, None))).Types);
    }

    private static PartitionKeys Keys(params (string Type, char? Separator)[] types) => new(types.Select(type => new KeyValuePair<string, char?>(type.Type, type.Separator)));
}
