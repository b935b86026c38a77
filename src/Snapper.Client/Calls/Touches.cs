using System.Runtime.InteropServices;
using Snapper.Actors;
using Snapper.Actors.Generated;
using Snapper.Client.Messages;
using Snapper.Client.Wire;
using Snapper.Protocol.Identity;

namespace Snapper.Client.Calls;

/// <summary>
/// The actors that a PACT may touch, and the most method calls on each. The root's own call is counted from the start;
/// all else is added by name, calls on one actor add up, so a receiver that is the root itself needs no special care.
/// </summary>
public sealed class Touches
{
    private readonly List<ActorCalls> _calls = new(4);

    internal Touches(string rootType, string rootId) => _calls.Add(new ActorCalls(rootType, rootId, 1));

    internal IReadOnlyList<ActorCalls> Calls => _calls;

    /// <summary>Adds calls on an actor of the interface's own type.</summary>
    /// <param name="id">The actor's id.</param>
    /// <param name="calls">At least 1.</param>
    public Touches Actor<TActor>(string id, int calls = 1)
        where TActor : class, ITransactionalActor => Actor(ActorProxies.DefaultActorType<TActor>(), id, calls);

    /// <summary>Adds calls on an actor.</summary>
    /// <param name="type">The actor's type.</param>
    /// <param name="id">The actor's id.</param>
    /// <param name="calls">At least 1.</param>
    public Touches Actor(string type, string id, int calls = 1)
    {
        Check(type, id, calls);
        foreach (ref var known in CollectionsMarshal.AsSpan(_calls))
        {
            if (known.Id == id && known.Type == type)
            {
                known = known with { Calls = checked(known.Calls + calls) };
                return this;
            }
        }

        _calls.Add(new ActorCalls(type, id, calls));
        return this;
    }

    /// <summary>Says how many calls the root gets in all, its own first one included; replaces what was counted so far.</summary>
    public Touches Root(int calls)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(calls, 1);
        _calls[0] = _calls[0] with { Calls = calls };
        return this;
    }

    /// <summary>Declares exactly these calls, the root's included, in place of what was counted so far.</summary>
    /// <exception cref="ArgumentException">The root is not among them.</exception>
    public Touches Exactly(IReadOnlyCollection<KeyValuePair<ActorKey, int>> calls)
    {
        ArgumentNullException.ThrowIfNull(calls);
        var root = _calls[0];
        _calls.Clear();
        _calls.Add(default);
        foreach (var (actor, count) in calls)
        {
            Check(actor.Type, actor.Id, count);
            var entry = new ActorCalls(actor.Type, actor.Id, count);
            if (actor.Type == root.Type && actor.Id == root.Id)
            {
                _calls[0] = entry;
            }
            else
            {
                _calls.Add(entry);
            }
        }

        return _calls[0].Calls > 0
            ? this
            : throw new ArgumentException($"The root '{root.Type}/{root.Id}' is not among the declared actors.", nameof(calls));
    }

    private static void Check(string type, string id, int calls)
    {
        ArgumentException.ThrowIfNullOrEmpty(type);
        ArgumentException.ThrowIfNullOrEmpty(id);
        RequestWriter.CheckText(type, nameof(type));
        RequestWriter.CheckText(id, nameof(id));
        ArgumentOutOfRangeException.ThrowIfLessThan(calls, 1);
    }
}
