using Snapper.Cluster.Control;
using Snapper.Cluster.Membership;
using Snapper.Cluster.Recovering;
using Snapper.Runtime.Door;
using Snapper.Runtime.Execution;
using Snapper.Runtime.Hosting;
using Snapper.Storage.Checkpoints;
using Snapper.Storage.Log;
using Snapper.Storage.Recovery;

namespace Snapper.Cluster;

/// <summary>
/// One worker's life among others: registration, its <see cref="ClusterNode"/>, membership, and the end.
/// </summary>
internal sealed class Peering(ClusterSetup setup, ClusterJoining joining) : IPeering
{
    private Worker? _worker;
    private ClusterNode? _node;
    private ClusterMembership? _membership;

    /// <summary>The workers as one system; null before the worker is a member.</summary>
    public IClusterControl? Control { get; private set; }

    public ITransactionService Service => _node!.Door;

    public Task<SettledRecovery> Settle(
        LogOpening opening, RecoverySummary recovered, CancellationToken cancellation) =>
        joining.Settle(opening, recovered, cancellation);

    public IPeers PeersOf(Worker worker, string idPrefix)
    {
        _worker = worker;
        var parts = new ClusterParts(joining.Gate, joining.Doubts, joining.PartitionOf, idPrefix);
        return _node = new ClusterNode(worker, parts);
    }

    public void Attach(RecoverySummary recovered, LogOpening opening)
    {
        _node!.Decisions.Kept = new RetainedDecisions(_node, _worker!, recovered.ActsWithOthers, opening.FirstSequence);
        joining.Attach(_worker!, _node);
    }

    public async Task Join(CancellationToken cancellation)
    {
        _membership = new ClusterMembership(_worker!, _node!, setup, joining);
        Control = new ClusterControl(_worker!, _node!, joining.Store, joining.Lease);
        _membership.Start();
        var placed = _membership.Placed;
        await Task.WhenAny(placed, _worker!.Over).WaitAsync(cancellation).ConfigureAwait(false);
        if (_worker.Failure is null)
        {
            await placed.WaitAsync(cancellation).ConfigureAwait(false);
        }
    }

    public async ValueTask Stop()
    {
        await (_membership?.DisposeAsync() ?? default).ConfigureAwait(false);
        _node!.Dispose();
        await joining.DisposeAsync().ConfigureAwait(false);
    }

    public Task Leave(CancellationToken cancellation) => joining.Store.Members.Leave(cancellation);

    public void Cut() => joining.Gate.Dispose();

    public async ValueTask Abandon()
    {
        await (_membership?.DisposeAsync() ?? default).ConfigureAwait(false);
        await joining.DisposeAsync().ConfigureAwait(false);
    }
}

/// <summary>The cluster's side of workers.</summary>
public static class WorkerExtensions
{
    extension(WorkerHost host)
    {
        /// <summary>The workers as one system; null: it is alone.</summary>
        public IClusterControl? Control => (host.Peering as Peering)?.Control;
    }

    extension(Worker worker)
    {
        /// <summary>Its place among other workers; null: it is alone.</summary>
        internal ClusterNode? Cluster => worker.Peers as ClusterNode;
    }
}
