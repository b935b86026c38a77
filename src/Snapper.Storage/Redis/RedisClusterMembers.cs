using Snapper.Protocol.Identity;
using Snapper.Storage.Membership;
using Snapper.Storage.States;

namespace Snapper.Storage.Redis;

internal sealed class RedisClusterMembers(RedisClusterSession session, StateStoreOptions states, TimeProvider time) : IClusterMembers
{
    private const string Members = "{cluster}:member";
    private const int ValuesPerMember = 16;
    private volatile bool _registered;

    public async Task<ClusterResult<ClusterStanding>> Register(MemberAddress address, CancellationToken cancellation)
    {
        ArgumentNullException.ThrowIfNull(address);
        address.Validate();
        var answer = await session.RunUrgently(
            ClusterScripts.Register,
            [session.Self.Worker, session.Options.LeaseMs, address.AppId, address.Url, address.ProcessId,
                address.Version, Guid.NewGuid().ToString("N"), address.Link],
            cancellation).ConfigureAwait(false);
        _registered |= answer.Status == ClusterStatus.Done;
        return answer.With(Standing);
    }

    public async Task<ClusterResult<ClusterStanding>> Renew(string directoryId, long directoryVersion, CancellationToken cancellation)
    {
        ArgumentNullException.ThrowIfNull(directoryId);
        var answer = await session.RunUrgently(
            ClusterScripts.Renew, [session.Self.Worker, session.Options.LeaseMs, directoryId, directoryVersion, _registered ? 1 : 0], cancellation).ConfigureAwait(false);
        return answer.With(Standing);
    }

    public async Task<ClusterStanding> Look(CancellationToken cancellation) =>
        Standing(Read(await session.Read(ClusterScripts.Look, [], cancellation).ConfigureAwait(false)));

    public async Task<IReadOnlyList<Member>> Read(CancellationToken cancellation)
    {
        var answer = Read(await session.Read(ClusterScripts.ReadMembers, [], cancellation).ConfigureAwait(false));
        return answer.List(0, ValuesPerMember, at => MemberAt(answer, at));
    }

    public async Task<ClusterResult> Leave(CancellationToken cancellation) =>
        (await session.Run(ClusterScripts.Leave, [session.Self.Worker], cancellation).ConfigureAwait(false)).Result;

    public async Task<ClusterResult<Rescue>> Fence(Incarnation target, FenceWhen when, CancellationToken cancellation)
    {
        ClusterArguments.Worker(target);
        var worker = Incarnation.NameOf(target.Worker);
        var mark = Guid.NewGuid().ToString("N");
        var answer = await session.RunOnLog(
            ClusterScripts.FenceWorker,
            new RedisKeys(session.Connections.Options.KeyPrefix, worker),
            [mark, Guid.NewGuid().ToString("N"), target.Worker, target.Epoch, when == FenceWhen.Always ? 1 : 0, session.Options.LeaseMs, session.Self.Worker],
            cancellation).ConfigureAwait(false);
        return answer.With(opened =>
        {
            var log = new RedisTransactionLog(session.Connections, worker, session.Guard);
            var opening = log.Opened(opened.Values(), mark);
            return new Rescue
            {
                Fenced = target,
                Opened = target with { Epoch = opening.Epoch },
                Log = log,
                States = new RedisStateStore(log, time, states),
                Opening = opening,
                Mark = mark,
            };
        });
    }

    internal static ClusterStanding Standing(ScriptAnswer answer) => new()
    {
        DirectoryId = answer.Text(0),
        DirectoryVersion = answer.Number(1, "{cluster}:meta"),
        MembershipVersion = answer.Number(2, "{cluster}:meta"),
        PlanVersion = answer.Number(3, "{cluster}:meta"),
        Generation = answer.Number(4, "{cluster}:meta"),
        Expired = (int)answer.Number(5, "{cluster}:leases"),
        Master = new MasterStanding(
            answer.Incarnation(6, "{cluster}:master"),
            answer.Number(8, "{cluster}:master"),
            TimeSpan.FromMilliseconds(answer.Number(9, "{cluster}:master")),
            answer.Text(10) == "1"),
    };

    /// <summary>Reading has no status: a server that refuses it is like one that is away.</summary>
    internal static ScriptAnswer Read(ScriptAnswer answer) =>
        answer.Status == ClusterStatus.Done ? answer : throw new IOException($"The cluster's store cannot be read now: {answer.Detail}");

    private static Member MemberAt(ScriptAnswer answer, int at)
    {
        var incarnation = answer.Incarnation(at, Members);
        var current = answer.Number(at + 2, "of the log of w" + answer.Text(at));
        var remaining = TimeSpan.FromMilliseconds(answer.Number(at + 3, "{cluster}:leases"));
        return new Member
        {
            Incarnation = incarnation,
            State = answer.Text(at + 5) == "1" ? MemberState.Left
                : current != incarnation.Epoch ? MemberState.Fenced
                : remaining > TimeSpan.Zero ? MemberState.Live
                : MemberState.Expired,
            CurrentEpoch = current,
            Remaining = remaining,
            LiveFor = TimeSpan.FromMilliseconds(answer.Number(at + 4, Members)),
            Entries = answer.Number(at + 6, "{cluster}:shares"),
            Rescuer = answer.Incarnation(at + 7, Members),
            Expirations = answer.Number(at + 13, Members),
            Evictions = answer.Number(at + 14, Members),
            Address = new MemberAddress(
                answer.Text(at + 9), answer.Text(at + 10), (int)answer.Number(at + 11, Members), answer.Text(at + 12),
                    answer.Text(at + 15)),
        };
    }
}
