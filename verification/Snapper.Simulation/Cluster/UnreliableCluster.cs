using Snapper.Protocol.Directory;
using Snapper.Protocol.Identity;
using Snapper.Simulation.Rules;
using Snapper.Storage;
using Snapper.Storage.Membership;
using Snapper.Storage.MigrationPlans;
using Snapper.Storage.States;

namespace Snapper.Simulation.Cluster;

/// <summary>What all workers share, behind the road of one process.</summary>
internal sealed class UnreliableCluster(StoreLink road, IClusterStore store) : IClusterStore
{
    public Incarnation Self => store.Self;

    public IClusterMembers Members { get; } = new UnreliableMembers(road, store);

    public IClusterDirectory Directory { get; } = new UnreliableDirectory(road, store);

    public IMigrationPlans Plans { get; } = new UnreliablePlans(road, store);

    public IMasterLease Master { get; } = new UnreliableMaster(road, store);

    /// <summary>What is read, wherever this process reads now.</summary>
    private static IClusterStore Readable(StoreLink road, IClusterStore present) =>
        road.Read(present, server => server.Open(present.Self, new StateStoreOptions()));

    private sealed class UnreliableMembers(StoreLink road, IClusterStore store) : IClusterMembers
    {
        private readonly IClusterMembers _members = store.Members;

        public Task<ClusterResult<ClusterStanding>> Register(MemberAddress address, CancellationToken cancellation) =>
            road.Send(
                StoreStep.Register,
                () => _members.Register(address, CancellationToken.None).Result,
                cancellation);

        public Task<ClusterResult<ClusterStanding>> Renew(string directoryId, long directoryVersion, CancellationToken cancellation) =>
            road.Send(
                StoreStep.Renew,
                () => road.Misled is { } status
                    ? new ClusterResult<ClusterStanding>(status, null, "simulated")
                    : _members.Renew(directoryId, directoryVersion, CancellationToken.None).Result,
                cancellation);

        public Task<ClusterStanding> Look(CancellationToken cancellation) =>
            road.Send(
                StoreStep.Look,
                () => Readable(road, store).Members.Look(CancellationToken.None).Result,
                cancellation);

        public Task<IReadOnlyList<Member>> Read(CancellationToken cancellation) =>
            road.Send(
                StoreStep.MembersRead,
                () => Readable(road, store).Members.Read(CancellationToken.None).Result,
                cancellation);

        public Task<ClusterResult> Leave(CancellationToken cancellation) =>
            road.Send(StoreStep.Leave, () => _members.Leave(CancellationToken.None).Result, cancellation);

        public async Task<ClusterResult<Rescue>> Fence(Incarnation target, FenceWhen when, CancellationToken cancellation)
        {
            var fenced = await road.Send(
                StoreStep.Fence,
                () => _members.Fence(target, when, CancellationToken.None).Result,
                cancellation);
            return fenced.Value is { } rescue
                ? fenced with
                {
                    Value = rescue with { Log = new UnreliableLog(road, rescue.Log, LogSteps.Rescued, target.Worker, static () => false), States = new UnreliableStates(road, rescue.States, LogSteps.Rescued, target.Worker) },
                }
                : fenced;
        }
    }

    private sealed class UnreliableDirectory(StoreLink road, IClusterStore store) : IClusterDirectory
    {
        private readonly IClusterDirectory _directory = store.Directory;

        public Task<ClusterResult<DirectoryPage>> Read(DirectoryCursor after, int most, CancellationToken cancellation) =>
            road.Send(
                StoreStep.DirectoryRead,
                () => road.Misled is { } status ? new ClusterResult<DirectoryPage>(status, null, "simulated") : Readable(road, store).Directory.Read(after, most, CancellationToken.None).Result,
                cancellation);

        public Task<ClusterResult<PartitionKeys>> Declare(PartitionKeys keys, CancellationToken cancellation) =>
            road.Send(StoreStep.Declare, () => _directory.Declare(keys, CancellationToken.None).Result, cancellation);

        public Task<ClusterResult> AssignAll(IReadOnlyList<Incarnation> owners, CancellationToken cancellation) =>
            road.Send(
                StoreStep.AssignAll,
                () => _directory.AssignAll(owners, CancellationToken.None).Result,
                cancellation);

        public Task<ClusterResult<IReadOnlyList<DirectoryEntry>>> TakeOver(Rescue rescue, IReadOnlyList<DirectoryKey> keys, Incarnation target, CancellationToken cancellation) =>
            road.Send(
                StoreStep.TakeOver,
                () => _directory.TakeOver(rescue, keys, target, CancellationToken.None).Result,
                cancellation);

        public Task<ClusterResult<IReadOnlyList<DirectoryEntry>>> Reclaim(IReadOnlyList<DirectoryKey> keys, CancellationToken cancellation) =>
            road.Send(StoreStep.Reclaim, () => _directory.Reclaim(keys, CancellationToken.None).Result, cancellation);
    }

    private sealed class UnreliablePlans(StoreLink road, IClusterStore store) : IMigrationPlans
    {
        private readonly IMigrationPlans _plans = store.Plans;

        public Task<ClusterResult> Create(MigrationPlan plan, CancellationToken cancellation) =>
            road.Send(StoreStep.PlanCreate, () => _plans.Create(plan, CancellationToken.None).Result, cancellation);

        public Task<ClusterResult<IReadOnlyList<DirectoryEntry>>> Commit(string id, CancellationToken cancellation)
        {
            road.Messages.Committing(store.Self, id);
            return road.Send(
                StoreStep.PlanCommit,
                () =>
                {
                    var committed = road.Moved(id, _plans.Commit(id, CancellationToken.None).Result);
                    road.Ended(id, committed.Status);
                    return committed;
                },
                cancellation);
        }

        public Task<ClusterResult> Cancel(string id, string why, CancellationToken cancellation) =>
            road.Send(
                StoreStep.PlanCancel,
                () =>
                {
                    var cancelled = _plans.Cancel(id, why, CancellationToken.None).Result;
                    road.Ended(id, cancelled.Status);
                    return cancelled;
                },
                cancellation);

        // For people: nothing is decided by notes, and so no fault meets them.
        public Task<ClusterResult> Note(string id, string note, CancellationToken cancellation) =>
            _plans.Note(id, note, cancellation);

        public Task<IReadOnlyList<string>> ReadNotes(IReadOnlyList<string> ids, CancellationToken cancellation) =>
            _plans.ReadNotes(ids, cancellation);

        public Task<PlanRecord?> Find(string id, CancellationToken cancellation) =>
            road.Send(
                StoreStep.PlanFind,
                () => Readable(road, store).Plans.Find(id, CancellationToken.None).Result,
                cancellation);

        public Task<IReadOnlyList<PlanRecord>> ReadParts(string migration, CancellationToken cancellation) =>
            road.Send(
                StoreStep.PlansRead,
                () => Readable(road, store).Plans.ReadParts(migration, CancellationToken.None).Result,
                cancellation);

        public Task<IReadOnlyList<PlanRecord>> ReadOpen(CancellationToken cancellation) =>
            road.Send(
                StoreStep.PlansRead,
                () => Readable(road, store).Plans.ReadOpen(CancellationToken.None).Result,
                cancellation);

        public Task<IReadOnlyList<string>> ReadDamaged(CancellationToken cancellation) =>
            _plans.ReadDamaged(cancellation);

        public Task<IReadOnlyList<PlanRecord>> ReadEnded(int most, CancellationToken cancellation) =>
            road.Send(
                StoreStep.PlansRead,
                () => Readable(road, store).Plans.ReadEnded(most, CancellationToken.None).Result,
                cancellation);
    }

    private sealed class UnreliableMaster(StoreLink road, IClusterStore store) : IMasterLease
    {
        private readonly IMasterLease _master = store.Master;

        public async Task<ClusterResult<Mastership>> Take(CancellationToken cancellation)
        {
            var taken = await road.Send(
                StoreStep.MasterTake,
                () => Taken(_master.Take(CancellationToken.None).Result),
                cancellation);
            return taken.Value is { } mastership
                ? taken with { Value = mastership with { Log = new UnreliableLog(road, mastership.Log, LogSteps.Master, ClusterLogRules.Master, static () => false) } }
                : taken;
        }

        private ClusterResult<Mastership> Taken(ClusterResult<Mastership> taken)
        {
            if (taken.Value is { } mastership)
            {
                road.Messages.MasterBegins(mastership.MasterEpoch, store.Self);
            }

            return taken;
        }

        public Task<ClusterResult> Renew(long masterEpoch, CancellationToken cancellation) =>
            road.Send(
                StoreStep.MasterRenew,
                () => _master.Renew(masterEpoch, CancellationToken.None).Result,
                cancellation);

        public Task<ClusterResult> Release(long masterEpoch, CancellationToken cancellation) =>
            road.Send(
                StoreStep.MasterRelease,
                () => _master.Release(masterEpoch, CancellationToken.None).Result,
                cancellation);

        public Task<MasterStanding> Read(CancellationToken cancellation) =>
            road.Send(
                StoreStep.MasterStanding,
                () => Readable(road, store).Master.Read(CancellationToken.None).Result,
                cancellation);
    }
}
