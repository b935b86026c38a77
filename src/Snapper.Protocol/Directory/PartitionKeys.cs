using Snapper.Protocol.Identity;

namespace Snapper.Protocol.Directory;

/// <summary>
/// Which types of actors take a partition key from their ids, so that actors that belong together live in one partition: the id up to the first separator, or the whole
/// id when the separator is not in it. Types that name none, and types that are not known, place each actor by the hash of its type and id.
/// </summary>
/// <remarks>
/// Immutable. The key alone decides, not the type: <c>District</c> <c>3/7</c> and <c>Customer</c> <c>3/7/21</c> are where <c>Warehouse</c> <c>3</c> is, if all three name the
/// separator <c>/</c>. All workers must place alike, for good: who owns an actor follows from it.
/// </remarks>
public sealed class PartitionKeys
{
    private readonly SortedDictionary<string, char?> _types = new(StringComparer.Ordinal);
    private readonly Dictionary<string, char> _separators = new(StringComparer.Ordinal);

    /// <summary>No type is known.</summary>
    public static PartitionKeys None { get; } = new([]);

    /// <summary>The keys of these types.</summary>
    /// <param name="types">Each type once, with its separator; null: its actors are placed by the whole id.</param>
    /// <exception cref="ArgumentException">A type is named twice, or a separator cannot be one.</exception>
    public PartitionKeys(IEnumerable<KeyValuePair<string, char?>> types)
    {
        ArgumentNullException.ThrowIfNull(types);
        foreach (var (type, separator) in types)
        {
            if (separator is { } given && !IsSeparator(given))
            {
                throw new ArgumentException($"Actors of the type '{type}' cannot have a partition key that ends at '{given}': a separator is a printable ASCII character, no letter and no digit.", nameof(types));
            }

            if (!_types.TryAdd(type, separator))
            {
                throw new ArgumentException($"The type '{type}' is named twice.", nameof(types));
            }

            if (separator is { } found)
            {
                _separators.Add(type, found);
            }
        }
    }

    /// <summary>All types with their separators, by name; null: the whole id.</summary>
    public IReadOnlyDictionary<string, char?> Types => _types;

    /// <summary>True when some type names a key; else every actor is placed by <see cref="Partition.Of"/>.</summary>
    public bool Any => _separators.Count > 0;

    /// <summary>May it end a key? Printable ASCII without letters, digits and the blank.</summary>
    public static bool IsSeparator(char separator) => separator is > ' ' and < (char)127 && !char.IsAsciiLetterOrDigit(separator);

    /// <summary>The partition of an actor. Allocates nothing.</summary>
    public Partition Of(ActorKey actor)
    {
        ArgumentNullException.ThrowIfNull(actor);
        if (!_separators.TryGetValue(actor.Type, out var separator))
        {
            return Partition.Of(actor);
        }

        var end = actor.Id.IndexOf(separator, StringComparison.Ordinal);
        return Partition.OfKey(end < 0 ? actor.Id : actor.Id.AsSpan(0, end));
    }

    /// <summary>How a type's key is spoken of: <c>the whole id</c> or <c>the id up to the first '/'</c>.</summary>
    public static string Describe(char? separator) => separator is { } given ? $"the id up to the first '{given}'" : "the whole id";
}
