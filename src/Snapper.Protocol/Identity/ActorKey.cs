using System.Text;

namespace Snapper.Protocol.Identity;

/// <summary>The name of one actor: its type and its id. Ordinal, case-sensitive, never empty.</summary>
/// <remarks>
/// A class with a stored hash: keys are made once per access set and looked up many times. The hash is our own
/// (FNV-1a over UTF-16), so that placement on executors is the same in every process and every run.
/// </remarks>
public sealed class ActorKey : IEquatable<ActorKey>, IComparable<ActorKey>
{
    private readonly ulong _hash;

    /// <summary>Names an actor.</summary>
    /// <exception cref="ArgumentException">The type or the id is empty.</exception>
    public ActorKey(string type, string id)
    {
        ArgumentException.ThrowIfNullOrEmpty(type);
        ArgumentException.ThrowIfNullOrEmpty(id);
        Type = type;
        Id = id;
        _hash = StableHash.Of(type, id);
    }

    /// <summary>Name of the actor's type, e.g. <c>Account</c>.</summary>
    public string Type { get; }

    /// <summary>Id within the type.</summary>
    public string Id { get; }

    /// <summary>64-bit hash of type and id, equal in every process.</summary>
    public ulong Hash => _hash;

    /// <inheritdoc/>
    public bool Equals(ActorKey? other) =>
        ReferenceEquals(this, other)
        || (other is not null && _hash == other._hash && Id == other.Id && Type == other.Type);

    /// <inheritdoc/>
    public override bool Equals(object? obj) => Equals(obj as ActorKey);

    /// <inheritdoc/>
    public override int GetHashCode() => (int)(_hash ^ (_hash >> 32));

    /// <summary>Orders by type, then id, ordinally.</summary>
    public int CompareTo(ActorKey? other)
    {
        if (other is null)
        {
            return 1;
        }

        var byType = string.CompareOrdinal(Type, other.Type);
        return byType != 0 ? byType : string.CompareOrdinal(Id, other.Id);
    }

    /// <summary><c>Type/Id</c>, for people; not unique when names contain slashes.</summary>
    public override string ToString() => new StringBuilder(Type).Append('/').Append(Id).ToString();
}
