using Snapper.Storage.Log;
using Snapper.Storage.Membership;
using Snapper.Storage.Tests.Support;
using Xunit;

namespace Snapper.Storage.Tests.Cluster;

/// <content>The master's lease and log (R2, R3).</content>
public abstract partial class ClusterConformance
{
    [ServerFact]
    public async Task One_worker_is_master_and_others_wait_until_its_lease_has_run_out()
    {
        var workers = await StartAll(2);
        var (one, two) = (workers[0], workers[1]);
        var first = await Done(one.Master.Take(None));
        Assert.Equal(AppendStatus.Appended, await Append(first, 1));
        var standing = await two.Master.Read(None);
        Assert.Equal((one.Self, first.MasterEpoch, true, false), (standing.Holder, standing.MasterEpoch, standing.IsHeld, standing.IsFenced));
        Assert.InRange(standing.Remaining, Lease / 2, Lease);
        Assert.Equal(standing.Holder, (await two.Members.Look(None)).Master.Holder);
        Assert.Equal(ClusterStatus.NotYet, (await two.Master.Take(None)).Status);

        await Settle(one, two);
        Assert.False((await two.Master.Read(None)).IsHeld);
        await Done(one.Master.Renew(first.MasterEpoch, None));
        Assert.Equal(ClusterStatus.NotYet, (await two.Master.Take(None)).Status);
        await Settle(one, two);

        var second = await Done(two.Master.Take(None));
        Assert.True(second.MasterEpoch > first.MasterEpoch);
        Assert.Equal((second.MasterEpoch, 2), (second.Opening.Epoch, second.Opening.NextSequence));
        Assert.Equal(AppendStatus.Fenced, await Append(first, 2));
        Assert.Equal(AppendStatus.Appended, await Append(second, 2));
        Assert.Equal(ClusterStatus.Stale, (await one.Master.Renew(first.MasterEpoch, None)).Status);
        Assert.Equal(ClusterStatus.Stale, (await one.Master.Release(first.MasterEpoch, None)).Status);
        Assert.Equal(ClusterStatus.NotYet, (await one.Master.Take(None)).Status);
        await first.Log.DisposeAsync();
        await second.Log.DisposeAsync();
    }

    [ServerFact]
    public async Task A_master_that_was_fenced_as_a_worker_is_followed_at_once()
    {
        var workers = await StartAll(2);
        var first = await Done(workers[0].Master.Take(None));
        await using var rescue = await Done(workers[1].Members.Fence(workers[0].Self, FenceWhen.Always, None));
        Assert.True((await workers[1].Master.Read(None)).IsFenced);
        Assert.Equal(ClusterStatus.Fenced, (await workers[0].Master.Renew(first.MasterEpoch, None)).Status);

        var second = await Done(workers[1].Master.Take(None));
        Assert.Equal(AppendStatus.Fenced, await Append(first, 1));
        Assert.Equal(AppendStatus.Appended, await Append(second, 1));
        await first.Log.DisposeAsync();
        await second.Log.DisposeAsync();
    }

    [ServerFact]
    public async Task A_master_that_gave_up_or_started_again_is_followed_at_once_even_by_a_worker_that_just_came()
    {
        var one = await Start(1);
        var first = await Done(one.Master.Take(None));
        await Done(one.Master.Release(first.MasterEpoch, None));
        Assert.False((await one.Master.Read(None)).IsHeld);
        var two = await Start(2);
        var second = await Done(two.Master.Take(None));
        var again = await Start(2);
        var third = await Done(again.Master.Take(None));
        Assert.True(third.MasterEpoch > second.MasterEpoch && second.MasterEpoch > first.MasterEpoch);

        // An answer that was lost: the holder asks again, and gets a master epoch of its own.
        var fourth = await Done(again.Master.Take(None));
        Assert.Equal(ClusterStatus.Stale, (await again.Master.Renew(third.MasterEpoch, None)).Status);
        await Done(again.Master.Renew(fourth.MasterEpoch, None));
        foreach (var mastership in new[] { first, second, third, fourth })
        {
            await mastership.Log.DisposeAsync();
        }
    }

    [ServerFact]
    public async Task After_the_store_was_away_the_master_has_time_to_renew()
    {
        var workers = await StartAll(2);
        var mastership = await Done(workers[0].Master.Take(None));
        await Backend.Pass(2 * Lease);
        Assert.Equal(ClusterStatus.NotYet, (await workers[1].Master.Take(None)).Status);
        await Done(workers[1].Members.Renew("", 0, None));
        Assert.Equal(ClusterStatus.NotYet, (await workers[1].Master.Take(None)).Status);
        await Done(workers[0].Members.Renew("", 0, None));
        await Done(workers[0].Master.Renew(mastership.MasterEpoch, None));
        Assert.True((await workers[1].Master.Read(None)).IsHeld);
        await mastership.Log.DisposeAsync();
    }

    [ServerFact]
    public async Task Who_leaves_is_master_no_more()
    {
        var one = await Start(1);
        var two = await Start(2);
        var mastership = await Done(one.Master.Take(None));
        await Done(one.Members.Leave(None));
        await (await Done(two.Master.Take(None))).Log.DisposeAsync();
        Assert.Equal(two.Self, (await two.Master.Read(None)).Holder);
        await mastership.Log.DisposeAsync();
    }

    private static async Task<AppendStatus> Append(Mastership master, long sequence) =>
        (await master.Log.Append(master.MasterEpoch, sequence, 1, Some.Encode(Some.Batch(sequence, "a", sequence)), None)).Status;
}
