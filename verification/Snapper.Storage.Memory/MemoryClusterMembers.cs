using Snapper.Protocol.Identity;
using Snapper.Storage.Membership;
using Snapper.Storage.States;

namespace Snapper.Storage.Memory;

/// <summary>Membership in memory.</summary>
internal sealed class MemoryClusterMembers(MemorySession session, StateStoreOptions states) : IClusterMembers
{
    private readonly MemoryCluster _cluster = session.Cluster;

    public Task<ClusterResult<ClusterStanding>> Register(MemberAddress address, CancellationToken cancellation)
    {
        ArgumentNullException.ThrowIfNull(address);
        address.Validate();
        return session.Run(() =>
        {
            if (_cluster.Members.GetValueOrDefault(session.Self.Worker) is { Left: true } before && before.Incarnation == session.Self)
            {
                return Stale($"{session.Self} has left");
            }

            var earlier = _cluster.Members.GetValueOrDefault(session.Self.Worker);
            _cluster.Id = "memory";
            _cluster.Members[session.Self.Worker] = new MemoryMember
            {
                Incarnation = session.Self,
                Address = address,
                SinceMs = _cluster.NowMs,
                LeaseEndsMs = _cluster.NowMs + _cluster.Options.LeaseMs,
                Expirations = earlier?.Expirations ?? 0,
                Evictions = earlier?.Evictions ?? 0,
            };
            _cluster.MembershipVersion++;
            return new ClusterResult<ClusterStanding>(ClusterStatus.Done, _cluster.Standing());
        });
    }

    public Task<ClusterResult<ClusterStanding>> Renew(string directoryId, long directoryVersion, CancellationToken cancellation)
    {
        ArgumentNullException.ThrowIfNull(directoryId);
        return session.Run(() =>
        {
            if (_cluster.Members.GetValueOrDefault(session.Self.Worker) is not { } member || member.Incarnation != session.Self || member.Left)
            {
                return Stale($"{session.Self} is not registered, or has left");
            }

            if (member.TypesVersion < _cluster.TypesVersion)
            {
                return Stale($"{session.Self} does not know the partition key of a type that was declared while its lease had run out");
            }

            if ((directoryId.Length > 0 && directoryId != _cluster.Id) || directoryVersion > _cluster.Version)
            {
                _cluster.NoteLoss();
                return new ClusterResult<ClusterStanding>(
                    ClusterStatus.Lost, null, $"the directory is '{_cluster.Id}' at version {_cluster.Version}, this worker has heard of '{directoryId}' at {directoryVersion}");
            }

            if (_cluster.UnbrokenMs(session.Self.Worker) < 0)
            {
                member.SinceMs = _cluster.NowMs;
            }

            member.LeaseEndsMs = _cluster.NowMs + _cluster.Options.LeaseMs;
            _cluster.EndLeasesBy(member.LeaseEndsMs.Value);
            return new ClusterResult<ClusterStanding>(ClusterStatus.Done, _cluster.Standing());
        });
    }

    public Task<ClusterStanding> Look(CancellationToken cancellation) => session.Read(_cluster.Standing);

    public Task<IReadOnlyList<Member>> Read(CancellationToken cancellation) => session.Read<IReadOnlyList<Member>>(() =>
    {
        var members = new List<Member>(_cluster.Members.Count);
        foreach (var member in _cluster.Members.Values)
        {
            var worker = member.Incarnation.Worker;
            var current = _cluster.Log(worker).Epoch;
            var remaining = Math.Max(0, (member.LeaseEndsMs ?? 0) - _cluster.NowMs);
            members.Add(new Member
            {
                Incarnation = member.Incarnation,
                State = member.Left ? MemberState.Left
                    : current != member.Incarnation.Epoch ? MemberState.Fenced
                    : remaining > 0 ? MemberState.Live
                    : MemberState.Expired,
                CurrentEpoch = current,
                Remaining = TimeSpan.FromMilliseconds(remaining),
                LiveFor = TimeSpan.FromMilliseconds(Math.Max(0, _cluster.UnbrokenMs(worker))),
                Entries = _cluster.Shares.GetValueOrDefault(worker),
                Rescuer = member.Rescuer,
                Expirations = member.Expirations,
                Evictions = member.Evictions,
                Address = member.Address,
            });
        }

        return members;
    });

    public Task<ClusterResult> Leave(CancellationToken cancellation) => session.Run(() =>
    {
        if (_cluster.Members.GetValueOrDefault(session.Self.Worker) is not { } member || member.Incarnation != session.Self)
        {
            return new ClusterResult(ClusterStatus.Stale, $"{session.Self} is not registered");
        }

        if (member.Left)
        {
            return new ClusterResult(ClusterStatus.AlreadyDone);
        }

        if (_cluster.Shares.GetValueOrDefault(session.Self.Worker) is var entries and > 0)
        {
            return new ClusterResult(ClusterStatus.Conflict, $"the directory still names worker w{session.Self.Worker} in {entries} entries");
        }

        member.Left = true;
        member.LeaseEndsMs = null;
        if (_cluster.Master?.Holder == session.Self)
        {
            _cluster.Master = _cluster.Master with { LeaseEndsMs = 0 };
        }

        _cluster.MembershipVersion++;
        return new ClusterResult(ClusterStatus.Done);
    });

    public Task<ClusterResult<Rescue>> Fence(Incarnation target, FenceWhen when, CancellationToken cancellation)
    {
        ClusterArguments.Worker(target);
        return session.Run(() =>
        {
            if (Refusal(target, when) is { } refusal)
            {
                return new ClusterResult<Rescue>(refusal.Status, null, refusal.Detail);
            }

            var member = _cluster.Members[target.Worker];
            var expired = !member.Left && member.LeaseEndsMs <= _cluster.NowMs;
            if (_cluster.Log(target.Worker).Epoch == target.Epoch || expired)
            {
                // Not a second rescuer, who finds no lease; nor a worker that has begun a new life by itself, unless its lease has run out before that life could register.
                var lives = !member.Left && member.LeaseEndsMs > _cluster.NowMs;
                member.Evictions += lives ? 1 : 0;
                member.Expirations += lives ? 0 : 1;
            }

            member.Rescuer = session.Self;
            member.LeaseEndsMs = null;
            _cluster.MembershipVersion++;
            var storage = _cluster.Log(target.Worker);
            var log = new MemoryTransactionLog(storage, session.Guard);
            var opening = storage.Raise();
            return new ClusterResult<Rescue>(ClusterStatus.Done, new Rescue
            {
                Fenced = target,
                Opened = target with { Epoch = opening.Epoch },
                Log = log,
                States = new MemoryStateStore(storage, _cluster.Time, states, session.Guard),
                Opening = opening,
            });
        });
    }

    private static ClusterResult<ClusterStanding> Stale(string why) => new(ClusterStatus.Stale, null, why);

    private ClusterResult? Refusal(Incarnation target, FenceWhen when)
    {
        if (target.Worker == session.Self.Worker)
        {
            return new ClusterResult(ClusterStatus.Stale, "a worker does not fence itself");
        }

        if (!_cluster.Members.TryGetValue(target.Worker, out var member))
        {
            return new ClusterResult(ClusterStatus.NotFound, $"worker w{target.Worker} never registered");
        }

        if (member.Incarnation != target)
        {
            return new ClusterResult(ClusterStatus.Stale, $"worker w{target.Worker} is registered as {member.Incarnation}, not as {target}");
        }

        if (_cluster.Unfit(session.Self) is { } why)
        {
            return new ClusterResult(ClusterStatus.Stale, why);
        }

        var held = _cluster.UnbrokenMs(session.Self.Worker);
        if (held < 0)
        {
            return new ClusterResult(ClusterStatus.NotYet, $"the own lease of {session.Self} has run out");
        }

        if (when == FenceWhen.Always || member.Left)
        {
            return null;
        }

        if (member.LeaseEndsMs > _cluster.NowMs)
        {
            return new ClusterResult(ClusterStatus.NotYet, $"the lease of {target} has {member.LeaseEndsMs - _cluster.NowMs} ms to go");
        }

        if (held < _cluster.Options.LeaseMs)
        {
            return new ClusterResult(ClusterStatus.NotYet, $"the own lease of {session.Self} has been unbroken for {held} ms only");
        }

        return !member.Rescuer.IsNone && member.Rescuer.Worker != session.Self.Worker && _cluster.Unfit(member.Rescuer) is null && _cluster.UnbrokenMs(member.Rescuer.Worker) >= 0
            ? new ClusterResult(ClusterStatus.NotYet, $"{target} is being rescued by {member.Rescuer}")
            : null;
    }
}
