using Snapper.Protocol.Directory;
using Snapper.Protocol.Identity;
using Snapper.Storage.Membership;

namespace Snapper.Storage.Memory;

/// <summary>The directory in memory.</summary>
internal sealed class MemoryClusterDirectory(MemorySession session) : IClusterDirectory
{
    private readonly MemoryCluster _cluster = session.Cluster;

    public Task<ClusterResult<DirectoryPage>> Read(DirectoryCursor after, int most, CancellationToken cancellation)
    {
        ClusterArguments.Page(most, IClusterDirectory.LongestPage);
        return session.Read(() =>
        {
            if ((!string.IsNullOrEmpty(after.DirectoryId) && after.DirectoryId != _cluster.Id) || after.Through > _cluster.Version)
            {
                return new ClusterResult<DirectoryPage>(
                    ClusterStatus.Lost, null, $"the directory is '{_cluster.Id}' at version {_cluster.Version}, and was read as '{after.DirectoryId}' up to {after.Through}");
            }

            var (through, since) = (after.Through, after.Since);
            var whole = through == 0;
            if (whole)
            {
                (through, since) = (0, _cluster.Version);
            }

            var entries = new List<DirectoryEntry>();
            for (var i = (int)through; i < _cluster.Changes.Count && entries.Count < most; i++)
            {
                if (_cluster.Changes[i] is var entry && ReferenceEquals(entry, _cluster.Find(entry.Key)))
                {
                    entries.Add(entry);
                }
            }

            var isLast = entries.Count < most;
            var next = isLast
                ? new DirectoryCursor(_cluster.Id, _cluster.Version, _cluster.Version)
                : new DirectoryCursor(_cluster.Id, entries[^1].Version, since);
            return new ClusterResult<DirectoryPage>(ClusterStatus.Done, new DirectoryPage(entries, next, whole, isLast));
        });
    }

    public Task<ClusterResult<PartitionKeys>> Declare(PartitionKeys keys, CancellationToken cancellation)
    {
        ArgumentNullException.ThrowIfNull(keys);
        return session.Run(() =>
        {
            if (_cluster.Unfit(session.Self) is { } why)
            {
                return new ClusterResult<PartitionKeys>(ClusterStatus.Stale, null, why);
            }

            string? added = null;
            foreach (var (type, separator) in keys.Types)
            {
                if (!_cluster.Types.TryGetValue(type, out var known))
                {
                    added ??= separator is null ? null : type;
                }
                else if (known != separator)
                {
                    return new ClusterResult<PartitionKeys>(ClusterStatus.Conflict, null, ClusterArguments.OtherKey(type, known, separator));
                }
            }

            if (added is not null && WhoKnowsLess() is { } other)
            {
                return new ClusterResult<PartitionKeys>(ClusterStatus.NotYet, null, $"the type {added} is new here and names a partition key, and {other} lives and does not know it");
            }

            foreach (var (type, separator) in keys.Types)
            {
                _cluster.Types[type] = separator;
            }

            _cluster.TypesVersion += added is null ? 0 : 1;
            _cluster.Members[session.Self.Worker].TypesVersion = _cluster.TypesVersion;
            return new ClusterResult<PartitionKeys>(ClusterStatus.Done, new PartitionKeys(_cluster.Types));
        });
    }

    /// <summary>Another worker that lives and has read the types already; null: none.</summary>
    private Incarnation? WhoKnowsLess()
    {
        foreach (var member in _cluster.Members.Values)
        {
            if (member.Incarnation != session.Self && member.TypesVersion is not null && _cluster.Unfit(member.Incarnation) is null
                && _cluster.UnbrokenMs(member.Incarnation.Worker) >= 0)
            {
                return member.Incarnation;
            }
        }

        return null;
    }

    public Task<ClusterResult> AssignAll(IReadOnlyList<Incarnation> owners, CancellationToken cancellation)
    {
        ClusterArguments.Owners(owners);
        return session.Run(() =>
        {
            if (_cluster.Version > 0)
            {
                return new ClusterResult(ClusterStatus.AlreadyDone);
            }

            foreach (var owner in owners)
            {
                if (_cluster.Unfit(owner) is { } why)
                {
                    return new ClusterResult(ClusterStatus.Stale, why);
                }
            }

            if (_cluster.UnregisteredLogs().FirstOrDefault(static log => log.NextSequence > 1) is { } unread)
            {
                return new ClusterResult(ClusterStatus.NotYet, $"the log of worker {unread.Id} holds what may be in no state yet, and {unread.Id} has not joined: start it");
            }

            foreach (var idle in _cluster.UnregisteredLogs())
            {
                idle.Epoch++;
            }

            for (var p = 0; p < owners.Count; p++)
            {
                _cluster.Set(DirectoryKey.Of(new Partition(p)), owners[p]);
            }

            return new ClusterResult(ClusterStatus.Done);
        });
    }

    public Task<ClusterResult<IReadOnlyList<DirectoryEntry>>> TakeOver(
        Rescue rescue, IReadOnlyList<DirectoryKey> keys, Incarnation target, CancellationToken cancellation)
    {
        ArgumentNullException.ThrowIfNull(rescue);
        ClusterArguments.Worker(target);
        return Move(rescue.Opened, keys, target);
    }

    public Task<ClusterResult<IReadOnlyList<DirectoryEntry>>> Reclaim(IReadOnlyList<DirectoryKey> keys, CancellationToken cancellation) =>
        Move(session.Self, keys, session.Self);

    private static ClusterResult<IReadOnlyList<DirectoryEntry>> Done(IReadOnlyList<DirectoryEntry> entries) => new(ClusterStatus.Done, entries);

    private Task<ClusterResult<IReadOnlyList<DirectoryEntry>>> Move(Incarnation opened, IReadOnlyList<DirectoryKey> keys, Incarnation target)
    {
        ClusterArguments.Keys(keys);
        return session.Run(() =>
        {
            if (_cluster.Log(opened.Worker).Epoch != opened.Epoch)
            {
                return new ClusterResult<IReadOnlyList<DirectoryEntry>>(
                    ClusterStatus.Stale, null, $"the log of worker w{opened.Worker} was opened again, its epoch is {_cluster.Log(opened.Worker).Epoch}, not {opened.Epoch}");
            }

            if (_cluster.Unfit(target) is { } why)
            {
                return new ClusterResult<IReadOnlyList<DirectoryEntry>>(ClusterStatus.Stale, null, why);
            }

            var moved = new List<DirectoryEntry>();
            foreach (var key in keys)
            {
                if (_cluster.Find(key) is { } entry && entry.Owner.Worker == opened.Worker && entry.Owner.Epoch < opened.Epoch)
                {
                    moved.Add(_cluster.Set(key, target));
                }
            }

            return Done(moved);
        });
    }
}
