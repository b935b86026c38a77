using Snapper.Protocol.Identity;

namespace Snapper.Protocol.Directory;

/// <summary>Divides all partitions among workers.</summary>
public static class PartitionDivision
{
    /// <summary>The first assignment: partition p goes to the worker whose turn it is, so that shares differ by one at most.</summary>
    /// <param name="members">At least one, each worker once; their order is part of the result.</param>
    /// <returns>Owner by number of the partition, <see cref="Partition.Count"/> of them.</returns>
    public static Incarnation[] Evenly(IReadOnlyList<Incarnation> members)
    {
        ArgumentNullException.ThrowIfNull(members);
        if (members.Count == 0)
        {
            throw new ArgumentException("There is no worker to divide the partitions among.", nameof(members));
        }

        for (var i = 0; i < members.Count; i++)
        {
            for (var j = 0; j < i; j++)
            {
                if (members[i].Worker == members[j].Worker)
                {
                    throw new ArgumentException($"Worker w{members[i].Worker} is named twice.", nameof(members));
                }
            }
        }

        var owners = new Incarnation[Partition.Count];
        for (var p = 0; p < owners.Length; p++)
        {
            owners[p] = members[p % members.Count];
        }

        return owners;
    }
}
