using Snapper.Protocol.Directory;
using Snapper.Protocol.Identity;
using Snapper.Storage;
using Snapper.Storage.Membership;
using Snapper.Storage.MigrationPlans;

namespace Snapper.Runtime.Tests.Cluster;

/// <summary>
/// What the workers share, with calls that a test fails, or holds up, before or after they have taken effect. Plans,
/// the master's lease, and what is read of the directory.
/// </summary>
internal sealed class FaultyStore : IClusterStore
{
    /// <summary>How a reading of the directory's page is called here.</summary>
    public const string DirectoryRead = "read of the directory";

    /// <summary>How the renewal of a worker's lease is called here.</summary>
    public const string LeaseRenewed = "renewal of a lease";

    private readonly IClusterStore _inner;

    public FaultyStore(IClusterStore inner)
    {
        _inner = inner;
        Members = new FaultyMembers(this, inner.Members);
        Plans = new FaultyPlans(this, inner.Plans);
        Master = new FaultyMaster(this, inner.Master);
        Directory = new FaultyDirectory(this, inner.Directory);
    }

    /// <summary>Asked before each call, by its name.</summary>
    public Func<string, Task>? Before { get; set; }

    /// <summary>Asked when a call has taken effect and its caller does not know yet.</summary>
    public Func<string, Task>? After { get; set; }

    /// <summary>
    /// The server refuses this call now (READONLY, MISCONF, NOREPLICAS): it certainly has no effect. Of plans'
    /// commits and cancels, and readings of the directory.
    /// </summary>
    public Func<string, bool>? Refuses { get; set; }

    /// <summary>
    /// The log that is to be opened here, a dead worker's or the master's, was deleted alone.
    /// </summary>
    public volatile bool LogsWereDeleted;

    public Incarnation Self => _inner.Self;

    public IClusterMembers Members { get; }

    public IClusterDirectory Directory { get; }

    public IMigrationPlans Plans { get; }

    public IMasterLease Master { get; }

    /// <summary>A hook that fails one kind of call.</summary>
    public static Func<string, Task> Failing(string call) => name => name == call ? Task.FromException(new IOException("planned")) : Task.CompletedTask;

    private Task<ClusterResult<T>> Opens<T>(Func<Task<ClusterResult<T>>> call)
        where T : class =>
        LogsWereDeleted ? Task.FromResult(new ClusterResult<T>(ClusterStatus.Lost, null, "key planned was deleted")) : call();

    private async Task<T> Run<T>(string name, Func<Task<T>> call)
    {
        if (Before is { } before)
        {
            await before(name).ConfigureAwait(false);
        }

        var result = await call().ConfigureAwait(false);
        if (After is { } after)
        {
            await after(name).ConfigureAwait(false);
        }

        return result;
    }

    private sealed class FaultyMembers(FaultyStore store, IClusterMembers inner) : IClusterMembers
    {
        public Task<ClusterResult<ClusterStanding>> Register(MemberAddress address, CancellationToken cancellation) =>
            inner.Register(address, cancellation);

        public Task<ClusterResult<ClusterStanding>> Renew(string id, long version, CancellationToken cancellation) =>
            store.Run(LeaseRenewed, () => inner.Renew(id, version, cancellation));

        public Task<ClusterStanding> Look(CancellationToken cancellation) =>
            store.Run(nameof(Look), () => inner.Look(cancellation));

        public Task<IReadOnlyList<Member>> Read(CancellationToken cancellation) => inner.Read(cancellation);

        public Task<ClusterResult> Leave(CancellationToken cancellation) =>
            store.Run(nameof(Leave), () => inner.Leave(cancellation));

        public Task<ClusterResult<Rescue>> Fence(Incarnation target, FenceWhen when, CancellationToken cancellation) =>
            store.Opens(() => inner.Fence(target, when, cancellation));
    }

    private sealed class FaultyPlans(FaultyStore store, IMigrationPlans inner) : IMigrationPlans
    {
        public Task<ClusterResult> Create(MigrationPlan plan, CancellationToken cancellation) => store.Run(nameof(Create), () => inner.Create(plan, cancellation));

        public Task<ClusterResult<IReadOnlyList<DirectoryEntry>>> Commit(string id, CancellationToken cancellation) =>
            store.Run(nameof(Commit), () => store.Refuses?.Invoke(nameof(Commit)) == true
                ? Task.FromException<ClusterResult<IReadOnlyList<DirectoryEntry>>>(new IOException("NOREPLICAS Not enough good replicas to write."))
                : inner.Commit(id, cancellation));

        public Task<ClusterResult> Cancel(string id, string why, CancellationToken cancellation) =>
            store.Run(nameof(Cancel), () => store.Refuses?.Invoke(nameof(Cancel)) == true
                ? Task.FromException<ClusterResult>(new IOException("NOREPLICAS Not enough good replicas to write."))
                : inner.Cancel(id, why, cancellation));

        public Task<PlanRecord?> Find(string id, CancellationToken cancellation) => store.Run(nameof(Find), () => inner.Find(id, cancellation));

        public Task<IReadOnlyList<PlanRecord>> ReadParts(string migration, CancellationToken cancellation) =>
            store.Run(nameof(ReadParts), () => inner.ReadParts(migration, cancellation));

        public Task<ClusterResult> Note(string id, string note, CancellationToken cancellation) => store.Run(nameof(Note), () => inner.Note(id, note, cancellation));

        public Task<IReadOnlyList<string>> ReadNotes(IReadOnlyList<string> ids, CancellationToken cancellation) => store.Run(nameof(ReadNotes), () => inner.ReadNotes(ids, cancellation));

        public Task<IReadOnlyList<PlanRecord>> ReadOpen(CancellationToken cancellation) => store.Run(nameof(ReadOpen), () => inner.ReadOpen(cancellation));

        public Task<IReadOnlyList<string>> ReadDamaged(CancellationToken cancellation) =>
            store.Run(nameof(ReadDamaged), () => inner.ReadDamaged(cancellation));

        public Task<IReadOnlyList<PlanRecord>> ReadEnded(int most, CancellationToken cancellation) => store.Run(nameof(ReadEnded), () => inner.ReadEnded(most, cancellation));
    }

    private sealed class FaultyMaster(FaultyStore store, IMasterLease inner) : IMasterLease
    {
        public Task<ClusterResult<Mastership>> Take(CancellationToken cancellation) =>
            store.Run(nameof(Take), () => store.Opens(() => inner.Take(cancellation)));

        public Task<ClusterResult> Renew(long masterEpoch, CancellationToken cancellation) => store.Run(nameof(Renew), () => inner.Renew(masterEpoch, cancellation));

        public Task<ClusterResult> Release(long masterEpoch, CancellationToken cancellation) => store.Run(nameof(Release), () => inner.Release(masterEpoch, cancellation));

        public Task<MasterStanding> Read(CancellationToken cancellation) => store.Run(nameof(Read), () => inner.Read(cancellation));
    }

    private sealed class FaultyDirectory(FaultyStore store, IClusterDirectory inner) : IClusterDirectory
    {
        public Task<ClusterResult<DirectoryPage>> Read(DirectoryCursor after, int most, CancellationToken cancellation) =>
            store.Run(DirectoryRead, () => store.Refuses?.Invoke(DirectoryRead) == true
                ? Task.FromException<ClusterResult<DirectoryPage>>(new IOException("BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE."))
                : inner.Read(after, most, cancellation));

        public Task<ClusterResult<PartitionKeys>> Declare(PartitionKeys keys, CancellationToken cancellation) => inner.Declare(keys, cancellation);

        public Task<ClusterResult> AssignAll(IReadOnlyList<Incarnation> owners, CancellationToken cancellation) => inner.AssignAll(owners, cancellation);

        public Task<ClusterResult<IReadOnlyList<DirectoryEntry>>> TakeOver(Rescue rescue, IReadOnlyList<DirectoryKey> keys, Incarnation target, CancellationToken cancellation) =>
            store.Run(nameof(TakeOver), () => inner.TakeOver(rescue, keys, target, cancellation));

        public Task<ClusterResult<IReadOnlyList<DirectoryEntry>>> Reclaim(IReadOnlyList<DirectoryKey> keys, CancellationToken cancellation) => inner.Reclaim(keys, cancellation);
    }
}
