using Snapper.Actors.Generated;
using Snapper.Protocol.Identity;

namespace Snapper.Actors;

/// <summary>
/// What a <see cref="DeclaresAttribute"/> function fills: the actors that the transaction may touch, and the most
/// method calls on each. The root's own call is counted from the start; all else is added, and calls on one actor add
/// up, so a receiver that is the root itself needs no special care.
/// </summary>
/// <remarks>Not thread-safe, and of no use after the function has returned.</remarks>
public sealed class Declaration
{
    // Up to here comparing with each is faster than a dictionary.
    private const int ScannedMost = 32;

    private readonly int _most;
    private DeclaredCalls[] _actors;
    private int _count;
    private Dictionary<ActorKey, int>? _index;

    /// <summary>
    /// A declaration that names the root and its own call. Made by the worker, and by tests of declarations.
    /// </summary>
    /// <param name="root">The root of the transaction.</param>
    /// <param name="most">How many actors it may name.</param>
    public Declaration(ActorKey root, int most = DefaultMost)
    {
        ArgumentNullException.ThrowIfNull(root);
        ArgumentOutOfRangeException.ThrowIfLessThan(most, 1);
        _most = most;
        _actors = new DeclaredCalls[Math.Min(2, most)];
        _actors[_count++] = new DeclaredCalls(root, 1);
    }

    /// <summary>How many actors an access set may name.</summary>
    public const int DefaultMost = 256;

    /// <summary>The root.</summary>
    public ActorKey Root => _actors[0].Actor;

    /// <summary>The actors so far, each once, the root first.</summary>
    public ReadOnlySpan<DeclaredCalls> Actors => _actors.AsSpan(0, _count);

    /// <summary>An actor more than it may name was added, and is not in it.</summary>
    public bool IsOverfull { get; private set; }

    /// <summary>Adds one call on an actor of the interface's own type.</summary>
    /// <param name="id">The actor's id.</param>
    public Declaration Actor<TActor>(string id)
        where TActor : class => Actor(ActorProxies.DefaultActorType<TActor>(), id, 1);

    /// <summary>Adds calls on an actor of the interface's own type.</summary>
    /// <param name="id">The actor's id.</param>
    /// <param name="calls">At least 1.</param>
    public Declaration Actor<TActor>(string id, int calls)
        where TActor : class => Actor(ActorProxies.DefaultActorType<TActor>(), id, calls);

    /// <summary>Adds one call on an actor.</summary>
    /// <param name="type">The actor's type.</param>
    /// <param name="id">The actor's id.</param>
    public Declaration Actor(string type, string id) => Actor(type, id, 1);

    /// <summary>Adds calls on an actor.</summary>
    /// <param name="type">The actor's type.</param>
    /// <param name="id">The actor's id.</param>
    /// <param name="calls">At least 1.</param>
    /// <exception cref="InvalidOperationException">It names as many actors as it may.</exception>
    public Declaration Actor(string type, string id, int calls)
    {
        ArgumentException.ThrowIfNullOrEmpty(type);
        ArgumentException.ThrowIfNullOrEmpty(id);
        ArgumentOutOfRangeException.ThrowIfLessThan(calls, 1);
        if (_index is null && _count < ScannedMost)
        {
            for (var i = 0; i < _count; i++)
            {
                if (_actors[i].Actor.Id == id && _actors[i].Actor.Type == type)
                {
                    Add(i, calls);
                    return this;
                }
            }

            Append(new ActorKey(type, id), calls);
            return this;
        }

        var actor = new ActorKey(type, id);
        if (Index().TryGetValue(actor, out var known))
        {
            Add(known, calls);
        }
        else
        {
            Append(actor, calls);
        }

        return this;
    }

    private void Add(int index, int calls) =>
        _actors[index] = new DeclaredCalls(
            _actors[index].Actor, (int)Math.Min(int.MaxValue, (long)_actors[index].Calls + calls));

    private void Append(ActorKey actor, int calls)
    {
        if (_count == _most)
        {
            IsOverfull = true;
            throw new InvalidOperationException($"A declaration names at most {_most} actors.");
        }

        if (_count == _actors.Length)
        {
            Array.Resize(ref _actors, Math.Min(_most, 2 * _count));
        }

        _index?.Add(actor, _count);
        _actors[_count++] = new DeclaredCalls(actor, calls);
    }

    private Dictionary<ActorKey, int> Index()
    {
        if (_index is null)
        {
            _index = new Dictionary<ActorKey, int>(2 * _count);
            for (var i = 0; i < _count; i++)
            {
                _index.Add(_actors[i].Actor, i);
            }
        }

        return _index;
    }
}

/// <summary>An actor of a declaration.</summary>
/// <param name="Actor">The actor.</param>
/// <param name="Calls">Most method calls on it, at least 1.</param>
public readonly record struct DeclaredCalls(ActorKey Actor, int Calls);
