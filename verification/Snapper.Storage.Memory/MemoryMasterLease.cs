using Snapper.Storage.Membership;

namespace Snapper.Storage.Memory;

/// <summary>The master's lease in memory.</summary>
internal sealed class MemoryMasterLease(MemorySession session) : IMasterLease
{
    private readonly MemoryCluster _cluster = session.Cluster;

    public Task<ClusterResult<Mastership>> Take(CancellationToken cancellation) => session.Run(() =>
    {
        if (_cluster.Unfit(session.Self) is { } why)
        {
            return new ClusterResult<Mastership>(ClusterStatus.Stale, null, why);
        }

        var held = _cluster.UnbrokenMs(session.Self.Worker);
        if (held < 0)
        {
            return new ClusterResult<Mastership>(ClusterStatus.NotYet, null, $"the own lease of {session.Self} has run out");
        }

        if (_cluster.Master is { } master && master.Holder != session.Self && _cluster.Unfit(master.Holder) is null)
        {
            if (master.LeaseEndsMs > _cluster.NowMs)
            {
                return new ClusterResult<Mastership>(ClusterStatus.NotYet, null, $"{master.Holder} is master for another {master.LeaseEndsMs - _cluster.NowMs} ms");
            }

            if (master.LeaseEndsMs > 0 && held < _cluster.Options.LeaseMs)
            {
                return new ClusterResult<Mastership>(ClusterStatus.NotYet, null, $"the own lease of {session.Self} has been unbroken for {held} ms only");
            }
        }

        var storage = _cluster.MasterLog();
        var opening = storage.Raise();
        _cluster.Master = new MemoryMaster(session.Self, opening.Epoch, _cluster.NowMs + _cluster.Options.LeaseMs);
        return new ClusterResult<Mastership>(ClusterStatus.Done, new Mastership(opening.Epoch, new MemoryTransactionLog(storage), opening));
    });

    public Task<ClusterResult> Renew(long masterEpoch, CancellationToken cancellation) => Set(masterEpoch, release: false);

    public Task<ClusterResult> Release(long masterEpoch, CancellationToken cancellation) => Set(masterEpoch, release: true);

    public Task<MasterStanding> Read(CancellationToken cancellation) => session.Read(_cluster.MasterStanding);

    private Task<ClusterResult> Set(long masterEpoch, bool release) => session.Run(() =>
    {
        if (_cluster.Master is not { } master || master.Holder != session.Self || master.MasterEpoch != masterEpoch || _cluster.MasterLog().Epoch != masterEpoch)
        {
            return new ClusterResult(
                ClusterStatus.Stale, $"the master is {_cluster.Master?.Holder ?? default} in master epoch {_cluster.MasterLog().Epoch}, not {session.Self} in {masterEpoch}");
        }

        _cluster.Master = master with { LeaseEndsMs = release ? 0 : _cluster.NowMs + _cluster.Options.LeaseMs };
        return new ClusterResult(ClusterStatus.Done);
    });
}
