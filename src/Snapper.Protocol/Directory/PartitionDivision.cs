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

    /// <summary>What to move so that the shares of all who live differ by one at most, as little as possible.</summary>
    /// <param name="owners">Owner by number of the partition, <see cref="Partition.Count"/> of them; what those own who do not live stays with them.</param>
    /// <param name="living">Those who shall have a share, each once; their order is part of the result.</param>
    /// <returns>Partitions with their new owners, in the order of the new owners.</returns>
    public static List<(Partition Partition, Incarnation Target)> Rebalance(IReadOnlyList<Incarnation> owners, IReadOnlyList<Incarnation> living)
    {
        ArgumentNullException.ThrowIfNull(owners);
        ArgumentNullException.ThrowIfNull(living);
        var owned = new List<int>[living.Count];
        for (var i = 0; i < owned.Length; i++)
        {
            owned[i] = [];
        }

        var all = 0;
        for (var p = 0; p < owners.Count; p++)
        {
            for (var i = 0; i < living.Count; i++)
            {
                if (living[i] == owners[p])
                {
                    owned[i].Add(p);
                    all++;
                }
            }
        }

        // Those who have most keep the one more that some must have.
        var order = new List<int>();
        for (var i = 0; i < owned.Length; i++)
        {
            order.Add(i);
        }

        order.Sort((one, other) => owned[other].Count != owned[one].Count ? owned[other].Count.CompareTo(owned[one].Count) : one.CompareTo(other));
        var share = new int[owned.Length];
        for (var i = 0; i < order.Count; i++)
        {
            share[order[i]] = (all / order.Count) + (i < all % order.Count ? 1 : 0);
        }

        var moves = new List<(Partition, Incarnation)>();
        var from = 0;
        for (var i = 0; i < owned.Length; i++)
        {
            for (var missing = share[i] - owned[i].Count; missing > 0; missing--)
            {
                while (owned[order[from]].Count <= share[order[from]])
                {
                    from++;
                }

                var rich = owned[order[from]];
                moves.Add((new Partition(rich[^1]), living[i]));
                rich.RemoveAt(rich.Count - 1);
            }
        }

        return moves;
    }
}
