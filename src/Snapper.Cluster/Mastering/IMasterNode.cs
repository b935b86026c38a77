using Snapper.Cluster.Migrating;

namespace Snapper.Cluster.Mastering;

/// <summary>A node that may be master, and follows the one that is.</summary>
internal interface IMasterNode : IMigratingNode
{
    /// <summary>The master, while this worker is it. Used by the first executor alone.</summary>
    MasterHost? Master { get; }

    /// <summary>What happens when another becomes master.</summary>
    MasterSuccession Succession { get; }

    /// <summary>This worker is master from now on; on the first executor.</summary>
    void BeginMaster(MasterHost master);

    /// <summary>
    /// What came for a master of this worker's that is over, or never began, is for nobody; on the first executor.
    /// </summary>
    void ForgetEarlierMasters(long epoch);
}
