using Snapper.Protocol.Identity;

namespace Snapper.Storage.States;

/// <summary>A state store that can say which actors it holds.</summary>
public interface IActorListing
{
    /// <summary>Stored actors of one type, in the order of their ids (ordinal), without holding up anybody who loads or checkpoints.</summary>
    /// <returns>At most <see cref="ActorListQuery.Limit"/>. What is checkpointed or removed meanwhile may be among them or not; what was there all the time is.</returns>
    /// <exception cref="ListingBusyException">It takes long, and too many ask.</exception>
    Task<IReadOnlyList<StoredActor>> List(ActorListQuery query, CancellationToken cancellation);
}

/// <summary>Others wait for a list already, as many as may; nothing was done. Asking again later may succeed.</summary>
/// <param name="waiting">How many those are.</param>
public sealed class ListingBusyException(int waiting) : Exception($"{waiting} others wait for a list of actors already.");

/// <summary>Which actors.</summary>
/// <param name="Type">Their type.</param>
/// <param name="After">Only ids behind this one; null: from the first.</param>
/// <param name="Prefix">Only ids that begin so; empty: all.</param>
/// <param name="Limit">At most so many, 1 or more.</param>
/// <param name="Only">Only those for which this is true; null: all. Asked for each stored actor of the type and prefix, from any thread.</param>
public sealed record ActorListQuery(string Type, string? After, string Prefix, int Limit, Func<ActorKey, bool>? Only = null);

/// <summary>A stored actor.</summary>
/// <param name="Id">Its id.</param>
/// <param name="Version">Null when what is stored has none: it is damaged, or went meanwhile.</param>
/// <param name="HasState">False: it was deleted, and only its version is kept, so that the next state has a higher one (L7).</param>
public sealed record StoredActor(string Id, long? Version, bool HasState);

/// <summary>The first ids of many, in order, in memory for no more than are asked for.</summary>
internal sealed class FirstIds(ActorListQuery query)
{
    private readonly SortedSet<string> _ids = new(StringComparer.Ordinal);

    public IReadOnlyCollection<string> Ids => _ids;

    /// <summary>Takes an actor in, if it is one of those; one that comes twice counts once.</summary>
    public void Offer(ActorKey actor)
    {
        if (actor.Type != query.Type || !actor.Id.StartsWith(query.Prefix, StringComparison.Ordinal)
            || (query.After is { } after && string.CompareOrdinal(actor.Id, after) <= 0)
            || (_ids.Count == query.Limit && string.CompareOrdinal(actor.Id, _ids.Max) >= 0)
            || query.Only?.Invoke(actor) == false)
        {
            return;
        }

        _ids.Add(actor.Id);
        if (_ids.Count > query.Limit)
        {
            _ids.Remove(_ids.Max!);
        }
    }
}
