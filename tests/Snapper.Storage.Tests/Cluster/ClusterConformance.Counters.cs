using Snapper.Storage.Membership;
using Xunit;

namespace Snapper.Storage.Tests.Cluster;

/// <content>How often a worker was fenced by others, and why.</content>
public abstract partial class ClusterConformance
{
    [Fact]
    public async Task Who_is_fenced_alive_counts_as_evicted_and_who_was_expired_as_that_once_each()
    {
        var workers = await StartAll(3);
        var (one, two, three) = (workers[0], workers[1], workers[2]);
        await using (await Done(one.Members.Fence(two.Self, FenceWhen.Always, None)))
        {
            Assert.Equal((0, 1), await Counts(one, 2));
        }

        await using (await Done(three.Members.Fence(two.Self, FenceWhen.Always, None)))
        {
            Assert.Equal((0, 1), await Counts(one, 2)); // a second rescuer of the same life
        }

        var again = await Start(2);
        Assert.Equal((0, 1), await Counts(one, 2));
        await Settle(one, three);
        await using (await Done(one.Members.Fence(again.Self, FenceWhen.LeaseExpired, None)))
        {
            Assert.Equal((1, 1), await Counts(one, 2));
        }

        var third = await Start(2);
        await Settle(one, three);
        await using (await Done(one.Members.Fence(third.Self, FenceWhen.Always, None)))
        {
            Assert.Equal((2, 1), await Counts(one, 2)); // it was dead, whatever was asked for
        }

        Assert.Equal((0, 0), await Counts(one, 1));
    }

    [Fact]
    public async Task Who_has_begun_a_new_life_by_itself_was_fenced_by_nobody()
    {
        var workers = await StartAll(2);
        await Open(2);
        await using (await Done(workers[0].Members.Fence(workers[1].Self, FenceWhen.Always, None)))
        {
            Assert.Equal((0, 0), await Counts(workers[0], 2));
        }
    }

    [Fact]
    public async Task Who_has_begun_a_new_life_but_did_not_register_before_its_lease_had_run_out_counts_as_expired_once()
    {
        var workers = await StartAll(3);
        var (one, two, three) = (workers[0], workers[1], workers[2]);
        await Open(2);
        await Settle(one, three);
        await using (await Done(one.Members.Fence(two.Self, FenceWhen.LeaseExpired, None)))
        {
            Assert.Equal((1, 0), await Counts(one, 2));
        }

        await using (await Done(three.Members.Fence(two.Self, FenceWhen.Always, None)))
        {
            Assert.Equal((1, 0), await Counts(one, 2)); // a second rescuer of the same life
        }
    }

    private static async Task<(long Expirations, long Evictions)> Counts(TestWorker asks, int worker)
    {
        var member = (await asks.Members.Read(None)).Single(m => m.Incarnation.Worker == worker);
        return (member.Expirations, member.Evictions);
    }
}
