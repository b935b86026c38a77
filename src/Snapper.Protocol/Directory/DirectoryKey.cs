using Snapper.Protocol.Identity;

namespace Snapper.Protocol.Directory;

/// <summary>What the directory places: a whole partition, or a single actor that was moved out of its partition (an override).</summary>
/// <param name="Partition">The partition; for an override the one that its actor belongs to.</param>
/// <param name="Actor">Null: the whole partition.</param>
public readonly record struct DirectoryKey(Partition Partition, ActorKey? Actor) : IComparable<DirectoryKey>
{
    /// <summary>A whole partition, but for the actors of it that have an override.</summary>
    public static DirectoryKey Of(Partition partition) => new(partition, null);

    /// <summary>A single actor.</summary>
    /// <param name="actor">The actor.</param>
    /// <param name="partition">Its partition, by its own hash or its type's partition key: it says whose the actor is while it has no override.</param>
    public static DirectoryKey Of(ActorKey actor, Partition partition)
    {
        ArgumentNullException.ThrowIfNull(actor);
        return new DirectoryKey(partition, actor);
    }

    /// <summary>True for a single actor.</summary>
    public bool IsActor => Actor is not null;

    /// <summary>Orders by partition; the partition itself before its actors.</summary>
    public int CompareTo(DirectoryKey other)
    {
        var byPartition = Partition.Number.CompareTo(other.Partition.Number);
        if (byPartition != 0)
        {
            return byPartition;
        }

        return Actor is null ? (other.Actor is null ? 0 : -1) : Actor.CompareTo(other.Actor);
    }

    /// <summary><c>partition 17</c> or <c>Account/alice</c>, for people.</summary>
    public override string ToString() => Actor is null ? "partition " + Partition : Actor.ToString();
}
