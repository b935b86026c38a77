using Snapper.Cluster.Branches;
using Snapper.Cluster.Wire;
using Snapper.Protocol.Directory;
using Snapper.Protocol.Identity;

namespace Snapper.Cluster.Migrating;

/// <summary>A node with what it has frozen.</summary>
internal interface IMigratingNode : IBranchNode
{
    /// <summary>
    /// What this worker has frozen, by plan, for each master to know (M3, R3). On the first executor alone.
    /// </summary>
    SortedDictionary<string, IReadOnlyList<DirectoryKey>> OpenFreezes { get; }

    /// <summary>
    /// Takes the master's answers to freezes (M3); null: no migration is under way. On the first executor alone.
    /// </summary>
    Action<FrozenMessage>? MasterFroze { get; set; }

    /// <summary>The master that this worker follows, or will when it has settled what is open here.</summary>
    (Incarnation Worker, long Epoch) LatestMaster { get; }

    /// <summary>
    /// Tells what has moved to all workers that are not known to be fenced, also where a lease seems to have run out:
    /// that one may be the next master, which would number for the old owner (M7). A worker that misses it reads it in
    /// the directory.
    /// </summary>
    void TellMoved(IReadOnlyList<DirectoryEntry> changed, Incarnation master);
}
