using Snapper.Protocol.Directory;
using Snapper.Protocol.Identity;
using Snapper.Storage.Log;
using Snapper.Storage.Membership;
using Snapper.Storage.MigrationPlans;
using Snapper.Storage.Tests.Support;
using Xunit;

namespace Snapper.Storage.Tests.Cluster;

/// <content>Membership and leases.</content>
public abstract partial class ClusterConformance
{
    [ServerFact]
    public async Task A_worker_that_registered_is_live_with_what_it_said()
    {
        var one = await Start(1);
        var two = await Start(2);

        var members = await one.Members.Read(None);
        Assert.Equal([one.Self, two.Self], members.Select(m => m.Incarnation));
        Assert.All(members, m => Assert.Equal(MemberState.Live, m.State));
        Assert.Equal(Address(2), members[1].Address);
        Assert.InRange(members[1].Remaining, Lease / 2, Lease);
        Assert.Equal((two.Self.Epoch, 0L, Incarnation.None), (members[1].CurrentEpoch, members[1].Entries, members[1].Rescuer));
    }

    [ServerFact]
    public async Task Before_anyone_registers_there_is_nothing()
    {
        var one = await Open(1);

        Assert.Empty(await one.Members.Read(None));
        var standing = await one.Members.Look(None);
        Assert.Equal((0L, 0L, 0L, 0), (standing.DirectoryVersion, standing.MembershipVersion, standing.Generation, standing.Expired));
        Assert.True(standing.Master.Holder.IsNone);
        Assert.Equal(ClusterStatus.Stale, (await one.Members.Renew("", 0, None)).Status);
        Assert.Equal(0, (await one.Members.Look(None)).Generation);
    }

    [ServerFact]
    public async Task A_lease_ends_by_the_servers_clock_and_a_renewal_begins_it_anew()
    {
        var one = await Start(1);
        await Backend.Pass(Lease * 0.6);
        await Done(one.Members.Renew("", 0, None));
        await Backend.Pass(Lease * 0.6);
        var member = Assert.Single(await one.Members.Read(None));
        Assert.Equal(MemberState.Live, member.State);
        Assert.InRange(member.LiveFor, Lease, 2 * Lease);

        await Backend.Pass(Lease);
        member = Assert.Single(await one.Members.Read(None));
        Assert.Equal((MemberState.Expired, TimeSpan.Zero, TimeSpan.Zero), (member.State, member.Remaining, member.LiveFor));
        Assert.Equal(1, (await one.Members.Look(None)).Expired);

        await Done(one.Members.Renew("", 0, None));
        member = Assert.Single(await one.Members.Read(None));
        Assert.Equal(MemberState.Live, member.State);
        Assert.InRange(member.LiveFor, TimeSpan.Zero, Lease / 2);
        Assert.Equal(0, (await one.Members.Look(None)).Expired);
    }

    [ServerFact]
    public async Task A_clock_of_the_server_that_is_put_back_delays_a_takeover_by_no_more_than_a_lease()
    {
        var workers = await StartAll(2);
        Assert.Equal(ClusterStatus.Done, (await workers[1].Master.Take(None)).Status);
        await Backend.Pass(-20 * Lease);
        await Done(workers[0].Members.Renew("", 0, None)); // the other one is dead
        await Settle(workers[0]);
        await using var rescue = await Done(workers[0].Members.Fence(workers[1].Self, FenceWhen.LeaseExpired, None));
        Assert.Equal(ClusterStatus.Done, (await workers[0].Master.Take(None)).Status);
    }

    [ServerFact]
    public async Task A_worker_that_starts_again_replaces_its_earlier_life_which_can_do_nothing_more()
    {
        var old = (await StartAll(2))[0];
        var again = await Open(1);
        Assert.Equal(MemberState.Fenced, (await again.Members.Read(None))[0].State);
        Assert.Equal(again.Self.Epoch, (await again.Members.Read(None))[0].CurrentEpoch);
        Assert.Equal(ClusterStatus.Stale, (await again.Members.Renew("", 0, None)).Status);
        await Done(again.Members.Register(Address(1), None));

        await AssertFenced(old);
        Assert.Equal((again.Self, MemberState.Live), (await again.Members.Read(None)).Select(m => (m.Incarnation, m.State)).First());
    }

    [ServerFact]
    public async Task A_worker_that_was_fenced_can_do_nothing_more()
    {
        var workers = await StartAll(2);
        await using var rescue = await Done(workers[1].Members.Fence(workers[0].Self, FenceWhen.Always, None));

        await AssertFenced(workers[0]);
        var member = (await workers[1].Members.Read(None))[0];
        Assert.Equal((MemberState.Fenced, workers[1].Self, TimeSpan.Zero), (member.State, member.Rescuer, member.Remaining));
        Assert.Equal(rescue.Opened.Epoch, member.CurrentEpoch);
    }

    [ServerFact]
    public async Task Repeating_a_registration_or_a_renewal_does_no_harm()
    {
        var one = await Start(1);
        var first = await Done(one.Members.Register(Address(1), None));
        await Done(one.Members.Renew(first.DirectoryId, 0, None));
        await Done(one.Members.Renew(first.DirectoryId, 0, None));
        Assert.Equal((one.Self, MemberState.Live), (await one.Members.Read(None)).Select(m => (m.Incarnation, m.State)).Single());
    }

    [ServerFact]
    public async Task A_directory_that_ends_before_what_a_worker_has_heard_is_lost()
    {
        var one = (await StartAll(1))[0];
        var standing = await Done(one.Members.Renew("", 0, None));
        await Done(one.Members.Renew(standing.DirectoryId, standing.DirectoryVersion, None));

        Assert.Equal(ClusterStatus.Lost, (await one.Members.Renew(standing.DirectoryId, standing.DirectoryVersion + 1, None)).Status);
        Assert.Equal(ClusterStatus.Lost, (await one.Members.Renew("another", standing.DirectoryVersion, None)).Status);
    }

    [ServerFact]
    public async Task A_worker_leaves_only_without_entries_and_then_gets_none_and_counts_as_gone()
    {
        var workers = await StartAll(2);
        var (one, two) = (workers[0], workers[1]);
        var refused = await two.Members.Leave(None);
        Assert.Equal(ClusterStatus.Conflict, refused.Status);
        Assert.Contains("2048", refused.Detail, StringComparison.Ordinal);
        foreach (var keys in Enumerable.Range(0, 2048).Select(i => Key((2 * i) + 1)).Chunk(ClusterOptions.KeysPerCall))
        {
            await Done(two.Plans.Create(new MigrationPlan($"drain{keys[0].Partition}", keys, two.Self, one.Self, "drain"), None));
            await Done(two.Plans.Commit($"drain{keys[0].Partition}", None));
        }

        await Done(two.Members.Leave(None));
        Assert.Equal(ClusterStatus.AlreadyDone, (await two.Members.Leave(None)).Status);
        Assert.Equal(ClusterStatus.Stale, (await two.Members.Renew("", 0, None)).Status);
        Assert.Equal(ClusterStatus.Stale, (await two.Members.Register(Address(2), None)).Status);
        Assert.Equal(ClusterStatus.Stale, (await two.Master.Take(None)).Status);
        var member = (await one.Members.Read(None))[1];
        Assert.Equal((MemberState.Left, 0L), (member.State, member.Entries));
        Assert.Equal(4096, (await one.Members.Read(None))[0].Entries);
        Assert.Equal(0, (await one.Members.Look(None)).Expired);

        Assert.Equal(ClusterStatus.Stale, (await one.Plans.Create(new MigrationPlan("back", [Key(1)], one.Self, two.Self, "to one that left"), None)).Status);
        await using var rescue = await Done(one.Members.Fence(two.Self, FenceWhen.LeaseExpired, None));
        var again = await Start(2);
        Assert.Equal(MemberState.Live, (await one.Members.Read(None))[1].State);
        Assert.True(again.Self.Epoch > rescue.Opened.Epoch);
    }

    [ServerFact]
    public async Task Versions_at_a_glance_rise_with_what_changes_and_with_nothing_else()
    {
        var workers = await StartAll(2);
        var (one, two) = (workers[0], workers[1]);
        var before = await one.Members.Look(None);
        await Done(two.Members.Renew("", 0, None));
        Assert.Equal(before with { Master = (await one.Members.Look(None)).Master }, await one.Members.Look(None));

        await Done(one.Plans.Create(new MigrationPlan("p", [Key(0)], one.Self, two.Self, ""), None));
        var planned = await one.Members.Look(None);
        Assert.True(planned.PlanVersion > before.PlanVersion);
        Assert.Equal((before.DirectoryVersion, before.MembershipVersion), (planned.DirectoryVersion, planned.MembershipVersion));

        await Done(one.Plans.Commit("p", None));
        var moved = await one.Members.Look(None);
        Assert.Equal(before.DirectoryVersion + 1, moved.DirectoryVersion);
        Assert.True(moved.PlanVersion > planned.PlanVersion);

        await (await Done(one.Members.Fence(two.Self, FenceWhen.Always, None))).DisposeAsync();
        Assert.True((await one.Members.Look(None)).MembershipVersion > moved.MembershipVersion);
    }

    [ServerFact]
    public async Task Arguments_that_no_store_takes_are_named()
    {
        var one = await Start(1);
        var twice = await Assert.ThrowsAsync<ArgumentException>(() => one.Directory.Reclaim([Key(1), Key(1)], None));
        Assert.Contains("partition 1 is named twice", twice.Message, StringComparison.Ordinal);
        var tooMany = await Assert.ThrowsAsync<ArgumentException>(() => one.Directory.Reclaim([.. Enumerable.Range(0, 1025).Select(Key)], None));
        Assert.Contains("1025", tooMany.Message, StringComparison.Ordinal);
        await Assert.ThrowsAsync<ArgumentException>(() => one.Directory.Reclaim([Key(4096)], None));
        await Assert.ThrowsAsync<ArgumentException>(() => one.Members.Fence(default, FenceWhen.Always, None));
        await Assert.ThrowsAsync<ArgumentException>(() => one.Directory.AssignAll([one.Self], None));
        await Assert.ThrowsAsync<ArgumentException>(() => one.Plans.Create(new MigrationPlan("with space", [Key(1)], one.Self, new Incarnation(2, 1), ""), None));
        await Assert.ThrowsAsync<ArgumentException>(() => one.Plans.Create(new MigrationPlan("p", [], one.Self, new Incarnation(2, 1), ""), None));
        await Assert.ThrowsAsync<ArgumentException>(() => one.Plans.Create(new MigrationPlan("p", [Key(1)], one.Self, one.Self, ""), None));
        await Assert.ThrowsAsync<ArgumentOutOfRangeException>(() => one.Directory.Read(DirectoryCursor.Start, 0, None));
    }

    /// <summary>Tries everything that changes something; nothing does.</summary>
    private async Task AssertFenced(TestWorker worker)
    {
        var before = (Standing: await worker.Members.Look(None), Entries: await ReadAll(worker));
        var other = new Incarnation(2, 1);
        var key = Key(0);
        var statuses = new List<ClusterStatus>
        {
            (await worker.Members.Register(Address(1), None)).Status,
            (await worker.Members.Renew("", 0, None)).Status,
            (await worker.Members.Leave(None)).Status,
            (await worker.Members.Fence(other, FenceWhen.Always, None)).Status,
            (await worker.Directory.AssignAll(PartitionDivision.Evenly([worker.Self]), None)).Status,
            (await worker.Directory.Reclaim([key], None)).Status,
            (await worker.Plans.Create(new MigrationPlan("fenced", [key], worker.Self, other, ""), None)).Status,
            (await worker.Plans.Commit("fenced", None)).Status,
            (await worker.Plans.Cancel("fenced", "", None)).Status,
            (await worker.Master.Take(None)).Status,
            (await worker.Master.Renew(1, None)).Status,
            (await worker.Master.Release(1, None)).Status,
        };
        Assert.All(statuses, status => Assert.Equal(ClusterStatus.Fenced, status));
        Assert.Equal(AppendStatus.Fenced, await worker.Write("zombie", 1));
        Assert.Equal(before.Standing.MembershipVersion, (await worker.Members.Look(None)).MembershipVersion);
        Assert.Equal(before.Standing.PlanVersion, (await worker.Members.Look(None)).PlanVersion);
        Assert.Equal(before.Entries, await ReadAll(worker));
    }
}
