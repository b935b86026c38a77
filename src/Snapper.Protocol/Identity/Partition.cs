using System.Globalization;

namespace Snapper.Protocol.Identity;

/// <summary>
/// A share of all actors: what the directory places (DESIGN 8). An actor belongs to the partition of its own hash, or of the hash of the partition key that its type
/// takes from its id, so that related actors stay together.
/// </summary>
/// <param name="Number">0..<see cref="Count"/>-1.</param>
public readonly record struct Partition(int Number)
{
    /// <summary>Number of partitions, for good: it is part of what the directory means.</summary>
    public const int Count = 4096;

    /// <summary>The partition of an actor whose type names no partition key.</summary>
    public static Partition Of(ActorKey actor)
    {
        ArgumentNullException.ThrowIfNull(actor);
        return OfHash(actor.Hash);
    }

    /// <summary>The partition of all actors with a partition key, of whatever type.</summary>
    /// <param name="partitionKey">Any text, also empty.</param>
    public static Partition OfKey(string partitionKey)
    {
        ArgumentNullException.ThrowIfNull(partitionKey);
        return OfKey(partitionKey.AsSpan());
    }

    /// <summary>The same for a key that is part of an id.</summary>
    public static Partition OfKey(ReadOnlySpan<char> partitionKey) => OfHash(StableHash.Of(string.Empty, partitionKey));

    /// <inheritdoc/>
    public override string ToString() => Number.ToString(CultureInfo.InvariantCulture);

    // Executors take the upper half of the hash.
    private static Partition OfHash(ulong hash) => new((int)(hash & (Count - 1)));
}
