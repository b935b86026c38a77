using Snapper.Protocol.Directory;
using Snapper.Protocol.Identity;

namespace Snapper.Storage.Membership;

/// <summary>Arguments that no store takes, with words that say why.</summary>
internal static class ClusterArguments
{
    public static void Worker(Incarnation incarnation)
    {
        if (incarnation.Worker is < 1 or > ClusterOptions.LastWorker || incarnation.Epoch < 1)
        {
            throw new ArgumentException($"'{incarnation}' is no incarnation: workers have numbers from 1 to {ClusterOptions.LastWorker}, epochs begin at 1.");
        }
    }

    public static void Keys(IReadOnlyList<DirectoryKey> keys)
    {
        ArgumentNullException.ThrowIfNull(keys);
        if (keys.Count > ClusterOptions.KeysPerCall)
        {
            throw new ArgumentException($"{keys.Count} entries in one call, more than {ClusterOptions.KeysPerCall}.");
        }

        var once = new HashSet<DirectoryKey>(keys.Count);
        foreach (var key in keys)
        {
            if (key.Partition.Number is < 0 or >= Partition.Count)
            {
                throw new ArgumentException($"There is no partition {key.Partition}.");
            }

            if (!once.Add(key))
            {
                throw new ArgumentException($"{key} is named twice.");
            }
        }
    }

    public static void Owners(IReadOnlyList<Incarnation> owners)
    {
        ArgumentNullException.ThrowIfNull(owners);
        if (owners.Count != Partition.Count)
        {
            throw new ArgumentException($"{owners.Count} owners for {Partition.Count} partitions.");
        }

        foreach (var owner in owners)
        {
            Worker(owner);
        }
    }

    public static string OtherKey(string type, char? known, char? declared) =>
        $"actors of the type {type} are placed by {PartitionKeys.Describe(known)}, and this worker's program says {PartitionKeys.Describe(declared)}";

    public static void Page(int most, int limit)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(most, 1);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(most, limit);
    }
}
