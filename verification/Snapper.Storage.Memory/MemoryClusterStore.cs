using Snapper.Protocol.Identity;
using Snapper.Storage.Membership;
using Snapper.Storage.MigrationPlans;
using Snapper.Storage.States;

namespace Snapper.Storage.Memory;

/// <summary>The store of one incarnation in a <see cref="MemoryCluster"/>. Every call completes before it returns.</summary>
internal sealed class MemoryClusterStore : IClusterStore
{
    public MemoryClusterStore(MemoryCluster cluster, Incarnation self, StateStoreOptions states)
    {
        Self = self;
        var session = new MemorySession(cluster, self);
        Members = new MemoryClusterMembers(session, states);
        Directory = new MemoryClusterDirectory(session);
        Plans = new MemoryMigrationPlans(session);
        Master = new MemoryMasterLease(session);
    }

    public Incarnation Self { get; }

    public IClusterMembers Members { get; }

    public IClusterDirectory Directory { get; }

    public IMigrationPlans Plans { get; }

    public IMasterLease Master { get; }
}

/// <summary>Runs the steps of one incarnation, each behind the guard and under the cluster's gate.</summary>
internal sealed class MemorySession(MemoryCluster cluster, Incarnation self)
{
    public MemoryCluster Cluster => cluster;

    public Incarnation Self => self;

    public MemoryGuard Guard { get; } = new(cluster.Log(self.Worker), self.Epoch);

    public Task<ClusterResult> Run(Func<ClusterResult> step)
    {
        lock (cluster.Gate)
        {
            return Task.FromResult(Guard.IsCurrent ? step() : new ClusterResult(ClusterStatus.Fenced, Fenced));
        }
    }

    public Task<ClusterResult<T>> Run<T>(Func<ClusterResult<T>> step)
        where T : class
    {
        lock (cluster.Gate)
        {
            return Task.FromResult(Guard.IsCurrent ? step() : new ClusterResult<T>(ClusterStatus.Fenced, null, Fenced));
        }
    }

    public Task<T> Read<T>(Func<T> step)
    {
        lock (cluster.Gate)
        {
            return Task.FromResult(step());
        }
    }

    private string Fenced => $"epoch {self.Epoch} of w{self.Worker} is not the current one, {Guard.Storage.Epoch}";
}
