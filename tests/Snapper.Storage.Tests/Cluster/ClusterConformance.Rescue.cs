using Snapper.Protocol.Identity;
using Snapper.Storage.Log;
using Snapper.Storage.Log.Writing;
using Snapper.Storage.Membership;
using Snapper.Storage.States;
using Snapper.Storage.Tests.Support;
using Xunit;

namespace Snapper.Storage.Tests.Cluster;

/// <content>The fence, and what follows it (R4, R5).</content>
public abstract partial class ClusterConformance
{
    [ServerFact]
    public async Task A_worker_is_fenced_when_its_lease_has_run_out_and_not_before()
    {
        var workers = await StartAll(2);
        var (dead, rescuer) = (workers[0], workers[1]);
        await dead.Members.Renew("", 0, None);
        var early = await rescuer.Members.Fence(dead.Self, FenceWhen.LeaseExpired, None);
        Assert.Equal(ClusterStatus.NotYet, early.Status);
        Assert.Equal(AppendStatus.Appended, await dead.Write("a", 1));

        await Settle(rescuer);
        await using var rescue = await Done(rescuer.Members.Fence(dead.Self, FenceWhen.LeaseExpired, None));
        Assert.Equal((dead.Self, 1), (rescue.Fenced, rescue.Opened.Worker));
        Assert.True(rescue.Opened.Epoch > dead.Self.Epoch);
        Assert.Equal((rescue.Opened.Epoch, 2, 1), (rescue.Opening.Epoch, rescue.Opening.NextSequence, rescue.Opening.FirstSequence));
        await Assert.ThrowsAsync<InvalidOperationException>(() => rescue.Log.Open(None));
    }

    [ServerFact]
    public async Task Whoever_just_came_back_judges_nobody_until_its_lease_has_been_unbroken_for_a_lease()
    {
        // The store was away: all leases have run out, and one worker is the first to renew.
        var workers = await StartAll(2);
        await Backend.Pass(2 * Lease);
        Assert.Equal(ClusterStatus.NotYet, (await workers[1].Members.Fence(workers[0].Self, FenceWhen.LeaseExpired, None)).Status);
        await Done(workers[1].Members.Renew("", 0, None));
        Assert.Equal(ClusterStatus.NotYet, (await workers[1].Members.Fence(workers[0].Self, FenceWhen.LeaseExpired, None)).Status);

        await Backend.Pass(Lease / 2);
        await Done(workers[1].Members.Renew("", 0, None));
        Assert.Equal(ClusterStatus.NotYet, (await workers[1].Members.Fence(workers[0].Self, FenceWhen.LeaseExpired, None)).Status);
        await Backend.Pass(0.6 * Lease);
        await (await Done(workers[1].Members.Fence(workers[0].Self, FenceWhen.LeaseExpired, None))).DisposeAsync();
    }

    [ServerFact]
    public async Task A_worker_is_evicted_while_its_lease_lives()
    {
        var workers = await StartAll(2);
        await Done(workers[0].Members.Renew("", 0, None));
        await using var rescue = await Done(workers[1].Members.Fence(workers[0].Self, FenceWhen.Always, None));
        Assert.Equal(ClusterStatus.Fenced, (await workers[0].Members.Renew("", 0, None)).Status);
    }

    [ServerFact]
    public async Task Who_is_fenced_is_named_exactly()
    {
        var workers = await StartAll(2);
        var (one, two) = (workers[0], workers[1]);
        Assert.Equal(ClusterStatus.NotFound, (await one.Members.Fence(new Incarnation(9, 1), FenceWhen.Always, None)).Status);
        Assert.Equal(ClusterStatus.Stale, (await one.Members.Fence(one.Self, FenceWhen.Always, None)).Status);
        var again = await Start(2);
        Assert.Equal(ClusterStatus.Stale, (await one.Members.Fence(two.Self, FenceWhen.Always, None)).Status);
        Assert.Equal(AppendStatus.Appended, await again.Write("a", 1));
        var unregistered = await Open(3);
        Assert.Equal(ClusterStatus.Stale, (await unregistered.Members.Fence(one.Self, FenceWhen.Always, None)).Status);
        Assert.Equal(AppendStatus.Appended, await one.Write("a", 1));
    }

    [ServerFact]
    public async Task Everything_that_the_dead_worker_wrote_is_read_and_folded_and_the_zombie_writes_no_more()
    {
        var workers = await StartAll(2);
        var (dead, rescuer) = (workers[0], workers[1]);
        for (var version = 1; version <= 3; version++)
        {
            Assert.Equal(AppendStatus.Appended, await dead.Write("a", version));
        }

        await Settle(rescuer);
        await using var rescue = await Done(rescuer.Members.Fence(dead.Self, FenceWhen.LeaseExpired, None));
        Assert.Equal(AppendStatus.Fenced, await dead.Write("a", 4));
        Assert.Equal(3, (await Recover(rescue)).Records);
        Assert.Equal(3, (await rescuer.States.Load(Some.Actor("a"), None))!.Version);

        // Again, as after a crash of the rescuer's in mid-way: nothing changes.
        await Recover(rescue);
        Assert.Equal(3, (await rescuer.States.Load(Some.Actor("a"), None))!.Version);
        Assert.Equal(AppendStatus.Appended, (await rescue.States.SaveOutcomes(rescue.Opened.Epoch, [Some.Outcome("r", DateTimeOffset.UtcNow.ToUnixTimeMilliseconds())], None)).Status);
        Assert.Equal(AppendStatus.Appended, (await rescue.Log.Append(rescue.Opened.Epoch, 4, 1, Some.Encode(Some.Batch(4, "a", 4)), None)).Status);
        Assert.Equal(AppendStatus.AlreadyThere, (await rescue.Log.Append(rescue.Opened.Epoch, 4, 1, Some.Encode(Some.Batch(4, "a", 4)), None)).Status);
        Assert.Equal(AppendStatus.Appended, (await rescue.Log.CheckEpoch(rescue.Opened.Epoch, None)).Status);
        Assert.Equal(AppendStatus.Appended, (await rescue.Log.Trim(rescue.Opened.Epoch, 5, default, None)).Status);
        Assert.Equal(5, (await Open(1)).Opening.FirstSequence);
    }

    [ServerFact]
    public async Task A_rescuer_that_was_fenced_cannot_go_on_at_any_step()
    {
        var workers = await StartAll(3);
        var (dead, rescuer, third) = (workers[0], workers[1], workers[2]);
        Assert.Equal(AppendStatus.Appended, await dead.Write("a", 1));
        await using var rescue = await Done(rescuer.Members.Fence(dead.Self, FenceWhen.Always, None));
        await using var evicted = await Done(third.Members.Fence(rescuer.Self, FenceWhen.Always, None));

        var epoch = rescue.Opened.Epoch;
        var outcome = Some.Outcome("r", DateTimeOffset.UtcNow.ToUnixTimeMilliseconds());
        Assert.Equal(AppendStatus.RescuerFenced, (await rescue.Log.CheckEpoch(epoch, None)).Status);
        Assert.Equal(AppendStatus.RescuerFenced, (await rescue.Log.Append(epoch, 2, 1, Some.Encode(Some.Batch(2, "a", 2)), None)).Status);
        Assert.Equal(AppendStatus.RescuerFenced, (await rescue.States.Checkpoint(epoch, [new StateCheckpoint(Some.Actor("a"), 0, 1, [])], None)).Status);
        Assert.Equal(AppendStatus.RescuerFenced, (await rescue.States.Checkpoint(epoch, [], None)).Status);
        Assert.Equal(AppendStatus.RescuerFenced, (await rescue.States.SaveOutcomes(epoch, [outcome], None)).Status);
        Assert.Equal(AppendStatus.RescuerFenced, (await rescue.Log.Trim(epoch, 2, default, None)).Status);
        var lost = await Assert.ThrowsAsync<LogLostException>(() => Recover(rescue));
        Assert.Equal(AppendStatus.RescuerFenced, lost.Status);
        Assert.Equal(ClusterStatus.Fenced, (await rescuer.Directory.TakeOver(rescue, [Key(0)], rescuer.Self, None)).Status);
        Assert.Equal(ClusterStatus.Fenced, (await rescuer.Directory.TakeOver(rescue, [Key(0)], third.Self, None)).Status);
        Assert.Null(await third.States.Load(Some.Actor("a"), None));
        Assert.Equal(dead.Self, await Owner(third, Key(0)));

        // Nor when it has started again: what it held was of its earlier life.
        var again = await Start(2);
        Assert.Equal(AppendStatus.RescuerFenced, (await rescue.Log.CheckEpoch(epoch, None)).Status);
        Assert.Equal(ClusterStatus.Fenced, (await rescuer.Directory.TakeOver(rescue, [Key(0)], again.Self, None)).Status);

        // The next one finds everything as it was.
        await using var next = await Done(third.Members.Fence(dead.Self, FenceWhen.Always, None));
        Assert.Equal(1, (await Recover(next)).Records);
        Assert.Equal([third.Self], (await Done(third.Directory.TakeOver(next, [Key(0)], third.Self, None))).Select(e => e.Owner));
    }

    [ServerFact]
    public async Task Of_two_rescuers_the_later_one_goes_on_and_the_former_has_to_stop()
    {
        var workers = await StartAll(3);
        var (dead, first, second) = (workers[0], workers[1], workers[2]);
        await dead.Write("a", 1);
        await Settle(first, second);
        await using var former = await Done(first.Members.Fence(dead.Self, FenceWhen.LeaseExpired, None));
        await Recover(former);

        // Not while the first is alive and at it.
        Assert.Equal(ClusterStatus.NotYet, (await second.Members.Fence(dead.Self, FenceWhen.LeaseExpired, None)).Status);
        await using var later = await Done(second.Members.Fence(dead.Self, FenceWhen.Always, None));
        Assert.True(later.Opened.Epoch > former.Opened.Epoch);
        Assert.Equal(AppendStatus.Fenced, (await former.Log.CheckEpoch(former.Opened.Epoch, None)).Status);
        Assert.Equal(AppendStatus.Fenced, (await Assert.ThrowsAsync<LogLostException>(() => Recover(former))).Status);
        Assert.Equal(ClusterStatus.Stale, (await first.Directory.TakeOver(former, [Key(0)], first.Self, None)).Status);

        await Recover(later);
        Assert.Equal(AppendStatus.Appended, (await later.Log.Trim(later.Opened.Epoch, later.Opening.NextSequence, default, None)).Status);

        // The former one finds records gone that it was told of: that is no damage.
        Assert.Equal(AppendStatus.Fenced, (await Assert.ThrowsAsync<LogLostException>(() => Recover(former))).Status);
        Assert.Single(await Done(second.Directory.TakeOver(later, [Key(0)], second.Self, None)));
        Assert.Equal(second.Self, await Owner(first, Key(0)));
    }

    [ServerFact]
    public async Task A_rescuer_that_died_is_followed_by_another()
    {
        var workers = await StartAll(3);
        var (dead, first, second) = (workers[0], workers[1], workers[2]);
        await Settle(first, second);
        await using var former = await Done(first.Members.Fence(dead.Self, FenceWhen.LeaseExpired, None));
        Assert.Equal(ClusterStatus.NotYet, (await second.Members.Fence(dead.Self, FenceWhen.LeaseExpired, None)).Status);
        await Settle(second);
        await using var later = await Done(second.Members.Fence(dead.Self, FenceWhen.LeaseExpired, None));
        Assert.Equal(second.Self, (await second.Members.Read(None))[0].Rescuer);
    }

    [ServerFact]
    public async Task A_worker_that_comes_back_fences_its_rescuer_and_takes_its_own_entries()
    {
        var workers = await StartAll(2);
        var (dead, rescuer) = (workers[0], workers[1]);
        await dead.Write("a", 1);
        await using var rescue = await Done(rescuer.Members.Fence(dead.Self, FenceWhen.Always, None));
        await Recover(rescue);
        Assert.Single(await Done(rescuer.Directory.TakeOver(rescue, [Key(0)], rescuer.Self, None)));

        var again = await Open(1);
        Assert.Equal(ClusterStatus.Stale, (await rescuer.Directory.TakeOver(rescue, [Key(2)], rescuer.Self, None)).Status);
        Assert.Equal(AppendStatus.Fenced, (await rescue.Log.CheckEpoch(rescue.Opened.Epoch, None)).Status);
        Assert.Equal(ClusterStatus.Stale, (await again.Directory.Reclaim([Key(2)], None)).Status);
        await Done(again.Members.Register(Address(1), None));
        var own = await Done(again.Directory.Reclaim([Key(0), Key(1), Key(2), Key(4)], None));
        Assert.Equal([Key(2), Key(4)], own.Select(e => e.Key));
        Assert.All(own, e => Assert.Equal(again.Self, e.Owner));
        Assert.Empty(await Done(again.Directory.Reclaim([Key(2), Key(4)], None)));
        Assert.Equal([rescuer.Self, rescuer.Self, again.Self], [await Owner(again, Key(0)), await Owner(again, Key(1)), await Owner(again, Key(2))]);
    }

    [ServerFact]
    public async Task A_worker_fenced_between_opening_its_log_and_registering_has_to_begin_again()
    {
        var workers = await StartAll(2);
        await Settle(workers[1]);
        var restarting = await Open(1);
        await using var rescue = await Done(workers[1].Members.Fence(workers[0].Self, FenceWhen.LeaseExpired, None));
        Assert.Equal(ClusterStatus.Fenced, (await restarting.Members.Register(Address(1), None)).Status);
        var again = await Start(1);
        Assert.Equal(AppendStatus.Fenced, (await rescue.Log.CheckEpoch(rescue.Opened.Epoch, None)).Status);
        Assert.NotEmpty(await Done(again.Directory.Reclaim([Key(0)], None)));
    }
}
