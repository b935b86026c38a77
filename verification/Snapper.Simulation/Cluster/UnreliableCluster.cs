using Snapper.Protocol.Directory;
using Snapper.Protocol.Identity;
using Snapper.Simulation.Rules;
using Snapper.Storage;
using Snapper.Storage.Membership;
using Snapper.Storage.MigrationPlans;

namespace Snapper.Simulation.Cluster;

/// <summary>What all workers share, behind the road of one process.</summary>
internal sealed class UnreliableCluster(StoreLink road, IClusterStore store) : IClusterStore
{
    public Incarnation Self => store.Self;

    public IClusterMembers Members { get; } = new UnreliableMembers(road, store.Members);

    public IClusterDirectory Directory { get; } = new UnreliableDirectory(road, store.Directory);

    public IMigrationPlans Plans { get; } = new UnreliablePlans(road, store.Self, store.Plans);

    public IMasterLease Master { get; } = new UnreliableMaster(road, store.Self, store.Master);

    private sealed class UnreliableMembers(StoreLink road, IClusterMembers members) : IClusterMembers
    {
        public Task<ClusterResult<ClusterStanding>> Register(MemberAddress address, CancellationToken cancellation) =>
            road.Send(StoreStep.Register, () => members.Register(address, CancellationToken.None).Result, cancellation);

        public Task<ClusterResult<ClusterStanding>> Renew(string directoryId, long directoryVersion, CancellationToken cancellation) =>
            road.Send(
                StoreStep.Renew,
                () => road.Misled is { } status
                    ? new ClusterResult<ClusterStanding>(status, null, "simulated")
                    : members.Renew(directoryId, directoryVersion, CancellationToken.None).Result,
                cancellation);

        public Task<ClusterStanding> Look(CancellationToken cancellation) => road.Send(StoreStep.Look, () => members.Look(CancellationToken.None).Result, cancellation);

        public Task<IReadOnlyList<Member>> Read(CancellationToken cancellation) => road.Send(StoreStep.MembersRead, () => members.Read(CancellationToken.None).Result, cancellation);

        public Task<ClusterResult> Leave(CancellationToken cancellation) => road.Send(StoreStep.Leave, () => members.Leave(CancellationToken.None).Result, cancellation);

        public async Task<ClusterResult<Rescue>> Fence(Incarnation target, FenceWhen when, CancellationToken cancellation)
        {
            var fenced = await road.Send(StoreStep.Fence, () => members.Fence(target, when, CancellationToken.None).Result, cancellation);
            return fenced.Value is { } rescue
                ? fenced with
                {
                    Value = rescue with { Log = new UnreliableLog(road, rescue.Log, LogSteps.Rescued, target.Worker, static () => false), States = new UnreliableStates(road, rescue.States, LogSteps.Rescued) },
                }
                : fenced;
        }
    }

    private sealed class UnreliableDirectory(StoreLink road, IClusterDirectory directory) : IClusterDirectory
    {
        public Task<ClusterResult<DirectoryPage>> Read(DirectoryCursor after, int most, CancellationToken cancellation) =>
            road.Send(
                StoreStep.DirectoryRead,
                () => road.Misled is { } status ? new ClusterResult<DirectoryPage>(status, null, "simulated") : directory.Read(after, most, CancellationToken.None).Result,
                cancellation);

        public Task<ClusterResult<PartitionKeys>> Declare(PartitionKeys keys, CancellationToken cancellation) =>
            road.Send(StoreStep.Declare, () => directory.Declare(keys, CancellationToken.None).Result, cancellation);

        public Task<ClusterResult> AssignAll(IReadOnlyList<Incarnation> owners, CancellationToken cancellation) =>
            road.Send(StoreStep.AssignAll, () => directory.AssignAll(owners, CancellationToken.None).Result, cancellation);

        public Task<ClusterResult<IReadOnlyList<DirectoryEntry>>> TakeOver(Rescue rescue, IReadOnlyList<DirectoryKey> keys, Incarnation target, CancellationToken cancellation) =>
            road.Send(StoreStep.TakeOver, () => directory.TakeOver(rescue, keys, target, CancellationToken.None).Result, cancellation);

        public Task<ClusterResult<IReadOnlyList<DirectoryEntry>>> Reclaim(IReadOnlyList<DirectoryKey> keys, CancellationToken cancellation) =>
            road.Send(StoreStep.Reclaim, () => directory.Reclaim(keys, CancellationToken.None).Result, cancellation);

        public Task<ClusterResult<IReadOnlyList<DirectoryEntry>>> DropOverrides(IReadOnlyList<DirectoryKey> keys, CancellationToken cancellation) =>
            road.Send(StoreStep.DropOverrides, () => directory.DropOverrides(keys, CancellationToken.None).Result, cancellation);
    }

    private sealed class UnreliablePlans(StoreLink road, Incarnation self, IMigrationPlans plans) : IMigrationPlans
    {
        public Task<ClusterResult> Create(MigrationPlan plan, CancellationToken cancellation) =>
            road.Send(StoreStep.PlanCreate, () => plans.Create(plan, CancellationToken.None).Result, cancellation);

        public Task<ClusterResult<IReadOnlyList<DirectoryEntry>>> Commit(string id, CancellationToken cancellation)
        {
            road.Messages.Committing(self, id);
            return road.Send(StoreStep.PlanCommit, () => road.Moved(id, plans.Commit(id, CancellationToken.None).Result), cancellation);
        }

        public Task<ClusterResult> Cancel(string id, string why, CancellationToken cancellation) =>
            road.Send(StoreStep.PlanCancel, () => plans.Cancel(id, why, CancellationToken.None).Result, cancellation);

        // For people: nothing is decided by notes, and so no fault meets them.
        public Task<ClusterResult> Note(string id, string note, CancellationToken cancellation) => plans.Note(id, note, cancellation);

        public Task<IReadOnlyList<string>> ReadNotes(IReadOnlyList<string> ids, CancellationToken cancellation) => plans.ReadNotes(ids, cancellation);

        public Task<PlanRecord?> Find(string id, CancellationToken cancellation) => road.Send(StoreStep.PlanFind, () => plans.Find(id, CancellationToken.None).Result, cancellation);

        public Task<IReadOnlyList<PlanRecord>> ReadParts(string migration, CancellationToken cancellation) =>
            road.Send(StoreStep.PlansRead, () => plans.ReadParts(migration, CancellationToken.None).Result, cancellation);

        public Task<IReadOnlyList<PlanRecord>> ReadOpen(CancellationToken cancellation) =>
            road.Send(StoreStep.PlansRead, () => plans.ReadOpen(CancellationToken.None).Result, cancellation);

        public Task<IReadOnlyList<PlanRecord>> ReadEnded(int most, CancellationToken cancellation) =>
            road.Send(StoreStep.PlansRead, () => plans.ReadEnded(most, CancellationToken.None).Result, cancellation);
    }

    private sealed class UnreliableMaster(StoreLink road, Incarnation self, IMasterLease master) : IMasterLease
    {
        public async Task<ClusterResult<Mastership>> Take(CancellationToken cancellation)
        {
            var taken = await road.Send(StoreStep.MasterTake, () => Taken(master.Take(CancellationToken.None).Result), cancellation);
            return taken.Value is { } mastership
                ? taken with { Value = mastership with { Log = new UnreliableLog(road, mastership.Log, LogSteps.Master, ClusterLogRules.Master, static () => false) } }
                : taken;
        }

        private ClusterResult<Mastership> Taken(ClusterResult<Mastership> taken)
        {
            if (taken.Value is { } mastership)
            {
                road.Messages.MasterBegins(mastership.MasterEpoch, self);
            }

            return taken;
        }

        public Task<ClusterResult> Renew(long masterEpoch, CancellationToken cancellation) =>
            road.Send(StoreStep.MasterRenew, () => master.Renew(masterEpoch, CancellationToken.None).Result, cancellation);

        public Task<ClusterResult> Release(long masterEpoch, CancellationToken cancellation) =>
            road.Send(StoreStep.MasterRelease, () => master.Release(masterEpoch, CancellationToken.None).Result, cancellation);

        public Task<MasterStanding> Read(CancellationToken cancellation) => road.Send(StoreStep.MasterStanding, () => master.Read(CancellationToken.None).Result, cancellation);
    }
}
