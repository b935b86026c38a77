using Snapper.Cluster.Membership;
using Snapper.Runtime.Hosting;
using Snapper.Storage.Checkpoints;
using Snapper.Storage.Log;

namespace Snapper.Cluster;

/// <summary>Makes a worker one of several.</summary>
public sealed class ClusterSetup : ClusterSettings, IPeeringSetup
{
    async Task<IPeering> IPeeringSetup.Begin(
        WorkerSetup setup, LogOpening opening, RecoverySummary recovered, CancellationToken cancellation)
    {
        var joining = await ClusterJoining.Begin(setup, this, opening, recovered, cancellation).ConfigureAwait(false);
        return new Peering(this, joining);
    }
}
