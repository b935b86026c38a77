using Snapper.Storage.Log;
using Snapper.Storage.MigrationPlans;

namespace Snapper.Storage.Memory;

/// <content>A server that comes back with less than it had acknowledged: an older copy of everything, which is a prefix of what was done (L6).</content>
public sealed partial class MemoryCluster
{
    private long _lossesOfDirectory;

    /// <summary>Rises with each server that takes the place of the one before; a life is bound to that on which it began.</summary>
    public long Instance { get; private set; } = 1;

    /// <summary>How often data was found to be lost without that.</summary>
    internal long Generation
    {
        get
        {
            var losses = _lossesOfDirectory;
            foreach (var log in _logs.Values)
            {
                losses += log.Losses;
            }

            return losses;
        }
    }

    /// <summary>A worker knows more of the directory than is here. Needs the gate.</summary>
    internal void NoteLoss() => _lossesOfDirectory++;

    /// <summary>What there is now: all logs, states, leases, entries and plans at one moment.</summary>
    public MemoryClusterCopy Copy()
    {
        lock (Gate)
        {
            var copy = new MemoryCluster(_time, Options);
            copy.Take(this);
            return new MemoryClusterCopy(copy);
        }
    }

    /// <summary>
    /// Another server takes the place of this one, and has what there was at an earlier moment: everything since is gone, of every log and of everything else. What lives does
    /// so no more for it: their epochs are over.
    /// </summary>
    /// <param name="kept">What it has; good for one loss.</param>
    public void Lose(MemoryClusterCopy kept)
    {
        ArgumentNullException.ThrowIfNull(kept);
        lock (Gate)
        {
            var above = _logs.Values.Max(static log => log.HighestEpoch) + 1;
            Take(kept.Cluster);
            Instance++;
            foreach (var log in _logs.Values)
            {
                log.LeapFrom(above);
            }
        }
    }

    private void Take(MemoryCluster other)
    {
        foreach (var log in _logs.Values)
        {
            log.TakeLog(new MemoryStorage());
        }

        foreach (var (name, log) in other._logs)
        {
            Log(name).TakeLog(log);
        }

        Fill(_states, other._states);
        other._partitions.CopyTo(_partitions, 0);
        Fill(_actors, other._actors);
        Changes.Clear();
        Changes.AddRange(other.Changes);
        Fill(Shares, other.Shares);
        Fill(Types, other.Types);
        Fill(PlannedActors, other.PlannedActors);
        Members.Clear();
        foreach (var (worker, member) in other.Members)
        {
            Members.Add(worker, member with { });
        }

        Plans.Clear();
        OpenPlans.Clear();
        EndedPlans.Clear();
        Planned.Clear();
        foreach (var (id, plan) in other.Plans)
        {
            var own = plan.Copy();
            Plans.Add(id, own);
            (own.State == PlanState.Planned ? OpenPlans : EndedPlans).Add(own.Number, own);
            if (own.State == PlanState.Planned)
            {
                foreach (var key in own.Plan.Keys)
                {
                    Planned.Add(key, own);
                }
            }
        }

        (Id, TypesVersion, Master, MembershipVersion, PlanVersion) =
            (other.Id, other.TypesVersion, other.Master, other.MembershipVersion, other.PlanVersion);
    }

    private static void Fill<TKey, TValue>(IDictionary<TKey, TValue> into, IDictionary<TKey, TValue> from)
    {
        into.Clear();
        foreach (var (key, value) in from)
        {
            into.Add(key, value);
        }
    }
}

/// <summary>Everything that a <see cref="MemoryCluster"/> had at one moment.</summary>
public sealed class MemoryClusterCopy
{
    internal MemoryClusterCopy(MemoryCluster cluster) => Cluster = cluster;

    internal MemoryCluster Cluster { get; }
}
