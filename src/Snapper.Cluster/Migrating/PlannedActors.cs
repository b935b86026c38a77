using Snapper.Protocol.Directory;
using Snapper.Protocol.Identity;
using Snapper.Storage.MigrationPlans;

namespace Snapper.Cluster.Migrating;

/// <summary>What a plan names, to be asked often. Actors in a partition of the plan count even if they have a place of their own elsewhere. Thread-safe.</summary>
internal sealed class PlannedActors
{
    private readonly DirectoryTable _directory;
    private readonly bool[] _partitions = new bool[Partition.Count];
    private readonly HashSet<ActorKey> _actors = [];

    public PlannedActors(MigrationPlan plan, DirectoryTable directory)
    {
        _directory = directory;
        foreach (var key in plan.Keys)
        {
            if (key.Actor is { } actor)
            {
                _actors.Add(actor);
            }
            else
            {
                _partitions[key.Partition.Number] = true;
            }
        }
    }

    public bool Contains(ActorKey actor) => _partitions[_directory.PartitionOf(actor).Number] || _actors.Contains(actor);
}
