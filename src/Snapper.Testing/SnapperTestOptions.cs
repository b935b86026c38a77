using System.Reflection;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;
using Snapper.Actors.Generated;

namespace Snapper.Testing;

/// <summary>What a <see cref="SnapperTest"/> hosts, and with what.</summary>
public sealed class SnapperTestOptions
{
    private readonly Dictionary<string, ActorTypeDescriptor> _types = new(StringComparer.Ordinal);

    /// <summary>
    /// What actors take in their constructors. Each life of the worker has a container of its own: a singleton that is
    /// registered by its type is new after a crash, as in a
    /// process; an instance stays.
    /// </summary>
    public IServiceCollection Services { get; } = new ServiceCollection();

    /// <summary>Receives the worker's log lines. Default: they are dropped.</summary>
    public ILogger Logger { get; set; } = NullLogger.Instance;

    /// <summary>The time at which the worker's clock begins. Default: now.</summary>
    public DateTimeOffset StartsAt { get; set; } = DateTimeOffset.UtcNow;

    /// <summary>
    /// Executors, 1 to 64: threads on which methods run. Default: 2, so that actors run beside each other.
    /// </summary>
    public int Executors { get; set; } = 2;

    /// <summary>
    /// Runs each method twice: in its transaction, and once more on the same input, state, time, ids and results of
    /// calls, without effects. Where result, state or calls differ the transaction aborts with the code
    /// <c>not_repeatable</c> and a message that names the method: it has side effects, or depends on something else.
    /// Default: false.
    /// </summary>
    public bool RunMethodsTwice { get; set; }

    /// <summary>Longest time of a transaction whose call names none. Default: 30 s.</summary>
    public TimeSpan Timeout { get; set; } = TimeSpan.FromSeconds(30);

    internal IReadOnlyList<ActorTypeDescriptor> Types => [.. _types.Values];

    /// <summary>
    /// Hosts all actor types of an assembly that was built with the generator of <c>Snapper.Actors</c>.
    /// </summary>
    /// <exception cref="ArgumentException">It has none, or one whose name another one has.</exception>
    public SnapperTestOptions AddActors(Assembly assembly) =>
        AddActors(ActorCatalogueAttribute.RequiredTypesOf(assembly));

    /// <summary>Hosts actor types, as the generated catalogue of an assembly lists them.</summary>
    /// <exception cref="ArgumentException">Two have one name.</exception>
    public SnapperTestOptions AddActors(IReadOnlyList<ActorTypeDescriptor> types)
    {
        ArgumentNullException.ThrowIfNull(types);
        foreach (var type in types)
        {
            if (!_types.TryAdd(type.Type, type))
            {
                throw new ArgumentException($"Two actor types have the name {type.Type}.", nameof(types));
            }
        }

        return this;
    }
}
