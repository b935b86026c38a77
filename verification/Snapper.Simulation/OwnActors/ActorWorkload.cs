using System.Reflection;
using System.Text.Json;
using Snapper.Actors.Generated;
using Snapper.Protocol.Identity;
using Snapper.Runtime.Door;
using Snapper.Simulation.Core;

namespace Snapper.Simulation.OwnActors;

/// <summary>
/// Somebody's own actors, what is asked of them, and what must hold: everything that the simulator needs to attack an application. One object belongs to one
/// run; <see cref="ActorSimulator"/> makes a new one for each.
/// </summary>
/// <remarks>
/// A run is one thread. What is drawn comes from the <see cref="SeededChance"/> that is handed in, and from nothing else: no clock, no <see cref="Random"/>, no
/// <see cref="Guid.NewGuid"/>, no statics that outlive a run; then a seed means the same run each time.
/// </remarks>
public abstract class ActorWorkload
{
    /// <summary>How inputs and results are written, as a worker does by default: camelCase names.</summary>
    internal static JsonSerializerOptions Json { get; } = new(JsonSerializerDefaults.Web);

    /// <summary>What the workers host: the generated list of an assembly, or several of them; names are unique.</summary>
    public abstract IReadOnlyList<ActorTypeDescriptor> ActorTypes { get; }

    /// <summary>
    /// What the workers host before they are updated, for <see cref="UpdateSimulator"/>; null: there is no earlier
    /// program. A type that has another form there is another class, whose descriptor is given the same name:
    /// <c>CartBeforeDescriptor.Instance with { Type = "Cart" }</c>.
    /// </summary>
    public virtual IReadOnlyList<ActorTypeDescriptor>? ActorTypesBefore => null;

    /// <summary>Services that actors take in their constructors; null: none.</summary>
    public virtual IServiceProvider? Services => null;

    /// <summary>What a client asks for next. Clients send one transaction after the other, 2 to 24 of them about 120 in all.</summary>
    /// <param name="chance">This client's own; the same for the same seed, whatever the others do.</param>
    /// <param name="client">From 0.</param>
    /// <param name="number">Counts the client's transactions, from 0.</param>
    /// <returns>
    /// A request. Its timeout is drawn by the simulator (1 ms to 3 s of virtual time); where it has no id, the simulator gives it one or not.
    /// </returns>
    public abstract TransactionRequest Next(SeededChance chance, int client, int number);

    /// <summary>
    /// Looks at everything that <see cref="Judge"/> needs, when nothing goes wrong any more: first on the worker that is there, then again on the one that
    /// recovers after it was killed. They must change nothing, and must commit.
    /// </summary>
    public abstract IEnumerable<TransactionRequest> Last();

    /// <summary>What is wrong, in words; nothing when all is well. An exception counts as what its message says.</summary>
    public abstract IEnumerable<string> Judge(ActorRun run);

    /// <summary>The actor types of an assembly, for <see cref="ActorTypes"/>.</summary>
    /// <exception cref="ArgumentException">It has none.</exception>
    protected static IReadOnlyList<ActorTypeDescriptor> TypesOf(Assembly assembly) =>
        ActorCatalogueAttribute.RequiredTypesOf(assembly);

    /// <summary>An ACT.</summary>
    /// <param name="type">The root's actor type.</param>
    /// <param name="id">The root's id.</param>
    /// <param name="method">The root method.</param>
    /// <param name="input">Its input; null when it takes none.</param>
    protected static TransactionRequest Act(string type, string id, string method, object? input = null) => new()
    {
        Actor = new ActorKey(type, id),
        Method = method,
        Mode = TransactionMode.Act,
        Input = Write(input),
    };

    /// <summary>A PACT.</summary>
    /// <param name="type">The root's actor type.</param>
    /// <param name="id">The root's id.</param>
    /// <param name="method">The root method.</param>
    /// <param name="input">Its input; null when it takes none.</param>
    /// <param name="others">The actors that it calls, each with the most calls on it. The root's own call is added.</param>
    protected static TransactionRequest Pact(string type, string id, string method, object? input, params ReadOnlySpan<DeclaredAccess> others)
    {
        var root = new ActorKey(type, id);
        var calls = new Dictionary<ActorKey, int> { [root] = 1 };
        foreach (var other in others)
        {
            calls[other.Actor] = calls.GetValueOrDefault(other.Actor) + other.Calls;
        }

        return new TransactionRequest
        {
            Actor = root,
            Method = method,
            Mode = TransactionMode.Pact,
            Access = [.. calls.Select(call => new DeclaredAccess(call.Key, call.Value))],
            Input = Write(input),
        };
    }

    /// <summary>An actor of a declaration.</summary>
    protected static DeclaredAccess Calls(string type, string id, int calls = 1) => new(new ActorKey(type, id), calls);

    private static byte[] Write(object? input) => JsonSerializer.SerializeToUtf8Bytes(input, input?.GetType() ?? typeof(object), Json);
}
