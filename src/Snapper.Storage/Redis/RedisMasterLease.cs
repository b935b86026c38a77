using Snapper.Storage.Membership;

namespace Snapper.Storage.Redis;

/// <summary>The master's lease in Redis, and its log beside those of the workers.</summary>
internal sealed class RedisMasterLease(RedisClusterSession session) : IMasterLease
{
    private readonly RedisKeys _keys = new(session.Connections.Options.KeyPrefix, IMasterLease.LogName);

    public async Task<ClusterResult<Mastership>> Take(CancellationToken cancellation)
    {
        var mark = Guid.NewGuid().ToString("N");
        var answer = await session.RunOnLog(
            ClusterScripts.TakeMaster, _keys, [mark, Guid.NewGuid().ToString("N"), session.Self.Worker, session.Options.LeaseMs], cancellation).ConfigureAwait(false);
        return answer.With(opened =>
        {
            var log = new RedisTransactionLog(session.Connections, IMasterLease.LogName);
            var opening = log.Opened(opened.Values(), mark);
            log.BindToInstance();
            return new Mastership(opening.Epoch, log, opening);
        });
    }

    public Task<ClusterResult> Renew(long masterEpoch, CancellationToken cancellation) => Set(masterEpoch, session.Options.LeaseMs, cancellation);

    public Task<ClusterResult> Release(long masterEpoch, CancellationToken cancellation) => Set(masterEpoch, 0, cancellation);

    public async Task<MasterStanding> Read(CancellationToken cancellation) =>
        RedisClusterMembers.Standing(RedisClusterMembers.Read(await session.Read(ClusterScripts.Look, [], cancellation).ConfigureAwait(false))).Master;

    private async Task<ClusterResult> Set(long masterEpoch, long leaseMs, CancellationToken cancellation) =>
        (await session.RunOnLog(ClusterScripts.RenewMaster, _keys, [session.Self.Worker, masterEpoch, leaseMs], cancellation).ConfigureAwait(false)).Result;
}
