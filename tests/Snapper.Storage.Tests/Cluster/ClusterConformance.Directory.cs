using Snapper.Protocol.Directory;
using Snapper.Protocol.Identity;
using Snapper.Storage.Log;
using Snapper.Storage.Membership;
using Snapper.Storage.MigrationPlans;
using Snapper.Storage.Tests.Support;
using Xunit;

namespace Snapper.Storage.Tests.Cluster;

/// <content>The directory.</content>
public abstract partial class ClusterConformance
{
    [ServerFact]
    public async Task An_empty_directory_is_divided_once()
    {
        var (one, two) = (await Start(1), await Start(2));
        Assert.Empty(await ReadAll(one));
        Assert.Equal(ClusterStatus.Stale, (await one.Directory.AssignAll(PartitionDivision.Evenly([one.Self, new Incarnation(2, 77)]), None)).Status);
        Assert.Equal(ClusterStatus.Stale, (await one.Directory.AssignAll(PartitionDivision.Evenly([one.Self, new Incarnation(3, 1)]), None)).Status);
        Assert.Empty(await ReadAll(one));

        await Done(one.Directory.AssignAll(PartitionDivision.Evenly([one.Self, two.Self]), None));
        Assert.Equal(ClusterStatus.AlreadyDone, (await two.Directory.AssignAll(PartitionDivision.Evenly([two.Self]), None)).Status);
        var entries = await ReadAll(two);
        Assert.Equal(Enumerable.Range(0, Partition.Count).Select(Key), entries.Select(e => e.Key));
        Assert.All(entries, e => Assert.Equal(e.Key.Partition.Number % 2 == 0 ? one.Self : two.Self, e.Owner));
        Assert.Equal(Partition.Count, entries.Select(e => e.Version).Distinct().Count());
        Assert.Equal([2048L, 2048L], (await one.Members.Read(None)).Select(m => m.Entries));
    }

    [ServerFact]
    public async Task What_a_worker_logged_alone_is_brought_in_before_the_first_division()
    {
        var alone = await Open(3);
        Assert.Equal(AppendStatus.Appended, (await alone.Log.Append(alone.Self.Epoch, 1, 1, Some.Encode(Some.Batch(1, "a", 1)), None)).Status);
        var one = await Start(1);
        var refused = await one.Directory.AssignAll(PartitionDivision.Evenly([one.Self]), None);
        Assert.Equal(ClusterStatus.NotYet, refused.Status);
        Assert.Contains("w3 has not joined", refused.Detail, StringComparison.Ordinal);
        Assert.Empty(await ReadAll(one));
        Assert.Equal(AppendStatus.Appended, (await alone.Log.Append(alone.Self.Epoch, 2, 1, Some.Encode(Some.Batch(2, "a", 2)), None)).Status); // it goes on as before

        var begins = await Open(3); // it has checkpointed, and is about to register
        Assert.Equal(ClusterStatus.NotYet, (await one.Directory.AssignAll(PartitionDivision.Evenly([one.Self]), None)).Status);
        Assert.Equal(ClusterStatus.Done, (await begins.Members.Register(Address(3), None)).Status);
        await Done(one.Directory.AssignAll(PartitionDivision.Evenly([one.Self]), None));
    }

    [ServerFact]
    public async Task A_worker_that_runs_alone_and_has_logged_nothing_is_fenced_by_the_first_division()
    {
        var (alone, one) = (await Open(3), await Start(1));
        await Done(one.Directory.AssignAll(PartitionDivision.Evenly([one.Self]), None));
        Assert.Equal(AppendStatus.Fenced, (await alone.Log.Append(alone.Self.Epoch, 1, 1, Some.Encode(Some.Batch(1, "a", 1)), None)).Status);
        Assert.Equal(ClusterStatus.Fenced, (await alone.Members.Register(Address(3), None)).Status);
        Assert.Equal(ClusterStatus.Done, (await one.Members.Renew("", 0, None)).Status);
    }

    [ServerFact]
    public async Task The_directory_is_read_in_pages_and_then_only_what_changed()
    {
        var workers = await StartAll(2);
        Assert.Equal(await ReadAll(workers[0]), await ReadAll(workers[0], page: 1000));
        Assert.Equal(await ReadAll(workers[0]), await ReadAll(workers[0], page: 1024));

        var whole = (await Done(workers[0].Directory.Read(DirectoryCursor.Start, IClusterDirectory.LongestPage, None)));
        Assert.True(whole.IsWhole && whole.IsLast);
        var still = await Done(workers[0].Directory.Read(whole.Next, 10, None));
        Assert.Equal((0, false, true, whole.Next), (still.Entries.Count, still.IsWhole, still.IsLast, still.Next));

        await Move(workers[0], workers[1], Key(0), Key("a"), Key(2));
        var changes = await Done(workers[0].Directory.Read(whole.Next, 2, None));
        Assert.Equal([Key(0), Key("a")], changes.Entries.Select(e => e.Key));
        Assert.False(changes.IsLast);
        var rest = await Done(workers[0].Directory.Read(changes.Next, 2, None));
        Assert.Equal([Key(2)], rest.Entries.Select(e => e.Key));
        Assert.True(rest.IsLast);
        Assert.Equal((await workers[0].Members.Look(None)).DirectoryVersion, rest.Next.Through);
    }

    [ServerFact]
    public async Task A_table_that_follows_the_changes_is_the_directory()
    {
        var workers = await StartAll(2);
        var table = new DirectoryTable();
        var cursor = await Follow(workers[0], table, DirectoryCursor.Start);
        Assert.Equal(workers[1].Self, table.Find(new Partition(1))!.Owner);

        await Move(workers[0], workers[1], Key("a"));
        cursor = await Follow(workers[0], table, cursor);
        Assert.Equal(workers[1].Self, table.Resolve(Some.Actor("a")));
        var owned = new List<DirectoryEntry>();
        table.AddOwnedBy(2, owned);
        Assert.Equal(2049, owned.Count);
        Assert.Equal((await ReadAll(workers[0])).Where(e => e.Owner.Worker == 2), owned);
    }

    [ServerFact]
    public async Task Only_entries_of_the_fenced_worker_are_taken_over_and_each_once()
    {
        var workers = await StartAll(3);
        var (dead, rescuer, other) = (workers[0], workers[1], workers[2]);
        await Move(other, dead, Key("moved"));
        await using var rescue = await Done(rescuer.Members.Fence(dead.Self, FenceWhen.Always, None));
        var before = (await rescuer.Members.Look(None)).DirectoryVersion;

        var own = await Done(rescuer.Directory.TakeOver(rescue, [Key(0), Key(1), Key(2), Key("moved"), Key("unknown")], rescuer.Self, None));
        Assert.Equal([Key(0), Key("moved")], own.Select(e => e.Key));
        Assert.Equal([before + 1, before + 2], own.Select(e => e.Version));
        Assert.Empty(await Done(rescuer.Directory.TakeOver(rescue, [Key(0), Key("moved")], rescuer.Self, None)));
        var given = await Done(rescuer.Directory.TakeOver(rescue, [Key(0), Key(3), Key(6)], other.Self, None));
        Assert.Equal([(Key(3), other.Self), (Key(6), other.Self)], given.Select(e => (e.Key, e.Owner)));
        Assert.Equal([rescuer.Self, rescuer.Self, other.Self], [await Owner(other, Key(0)), await Owner(other, Key("moved")), await Owner(other, Key(6))]);
        var counted = await other.Members.Read(None);
        var entries = await ReadAll(other);
        Assert.Equal(counted.Select(m => m.Entries), counted.Select(m => (long)entries.Count(e => e.Owner.Worker == m.Incarnation.Worker)));
    }

    [ServerFact]
    public async Task Entries_are_given_only_to_an_incarnation_that_is_current()
    {
        var workers = await StartAll(3);
        var (dead, rescuer, target) = (workers[0], workers[1], workers[2]);
        await using var rescue = await Done(rescuer.Members.Fence(dead.Self, FenceWhen.Always, None));
        await using var second = await Done(rescuer.Members.Fence(target.Self, FenceWhen.Always, None));

        Assert.Equal(ClusterStatus.Stale, (await rescuer.Directory.TakeOver(rescue, [Key(0)], target.Self, None)).Status);
        Assert.Equal(ClusterStatus.Stale, (await rescuer.Directory.TakeOver(rescue, [Key(0)], target.Self with { Epoch = second.Opened.Epoch }, None)).Status);
        var again = await Open(3);
        Assert.Equal(ClusterStatus.Stale, (await rescuer.Directory.TakeOver(rescue, [Key(0)], again.Self, None)).Status);
        Assert.Equal(dead.Self, await Owner(rescuer, Key(0)));
        await Done(again.Members.Register(Address(3), None));
        Assert.Single(await Done(rescuer.Directory.TakeOver(rescue, [Key(0)], again.Self, None)));
    }

    [ServerFact]
    public async Task A_cursor_beyond_the_end_or_into_another_directory_means_that_something_was_lost()
    {
        var one = (await StartAll(1))[0];
        var page = await Done(one.Directory.Read(DirectoryCursor.Start, IClusterDirectory.LongestPage, None));
        Assert.Equal(ClusterStatus.Lost, (await one.Directory.Read(page.Next with { Through = page.Next.Through + 1 }, 10, None)).Status);
        Assert.Equal(ClusterStatus.Lost, (await one.Directory.Read(page.Next with { DirectoryId = "another" }, 10, None)).Status);
    }

    [ServerFact]
    public async Task Names_of_actors_come_back_as_they_are()
    {
        var workers = await StartAll(2);
        var keys = new[] { ("Type/with%slash", "id/with/slashes"), ("T%2F", "%25"), ("Ünïcode", "日本 語:1"), ("A", ":") }
            .Select(n => new ActorKey(n.Item1, n.Item2)).Select(a => DirectoryKey.Of(a, new Partition(0))).ToArray();
        await Move(workers[0], workers[1], keys);
        Assert.Equal(keys.Order(), (await ReadAll(workers[0])).Where(e => e.Key.IsActor).Select(e => e.Key));
    }

    private static DirectoryKey ActorIn(int partitionParity, int from = 0)
    {
        for (var i = from; ; i++)
        {
            if (Key($"actor{i}") is var key && key.Partition.Number % 2 == partitionParity)
            {
                return key;
            }
        }
    }

    /// <summary>Moves keys from one worker to another, whoever of the two owns their partitions.</summary>
    private protected static async Task Move(TestWorker from, TestWorker to, params DirectoryKey[] keys)
    {
        var id = Guid.NewGuid().ToString("N");
        var partitions = (await ReadAll(from)).ToDictionary(e => e.Key, e => e.Owner);
        foreach (var key in keys)
        {
            // An actor whose partition is elsewhere is moved to where the test wants it first.
            var owner = partitions.GetValueOrDefault(key) is { IsNone: false } own ? own : partitions[DirectoryKey.Of(key.Partition)];
            if (owner != from.Self)
            {
                await Done(from.Plans.Create(new MigrationPlan(id + key.GetHashCode(), [key], owner, from.Self, "prepare"), None));
                await Done(from.Plans.Commit(id + key.GetHashCode(), None));
            }
        }

        await Done(from.Plans.Create(new MigrationPlan(id, keys, from.Self, to.Self, "test"), None));
        await Done(to.Plans.Commit(id, None));
    }

    private static async Task<DirectoryCursor> Follow(TestWorker worker, DirectoryTable table, DirectoryCursor cursor, int page = 1000)
    {
        List<DirectoryEntry>? whole = null;
        while (true)
        {
            var read = await Done(worker.Directory.Read(cursor, page, None));
            cursor = read.Next;
            whole = read.IsWhole ? [] : whole;
            whole?.AddRange(read.Entries);
            if (whole is null)
            {
                table.Advance(read.Entries, cursor.Through);
            }
            else if (read.IsLast)
            {
                table.Replace(whole, cursor.Through);
            }

            if (read.IsLast)
            {
                return cursor;
            }
        }
    }
}
