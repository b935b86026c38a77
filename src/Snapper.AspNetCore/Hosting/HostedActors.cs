using System.Collections;
using System.Collections.Frozen;
using Snapper.Actors;
using Snapper.Actors.Generated;

namespace Snapper.AspNetCore.Hosting;

/// <summary>The actor types that a worker hosts.</summary>
internal sealed class HostedActors
{
    private readonly IReadOnlyList<ActorTypeDescriptor> _asGenerated;
    private readonly FrozenSet<(string Type, string Method)> _withoutResult;
    private readonly FrozenSet<(string Type, string Method)> _withList;

    /// <summary>All of them together.</summary>
    /// <param name="sources">Where types come from, for messages, and the types.</param>
    /// <param name="otherwise">What helps, beside another name.</param>
    /// <param name="hosted">What of a type is hosted; null: the type as it is.</param>
    /// <exception cref="UsageException">Two have one name.</exception>
    public HostedActors(
        IEnumerable<(string Origin, IReadOnlyList<ActorTypeDescriptor> Types)> sources, string otherwise = "",
        Func<ActorTypeDescriptor, ActorTypeDescriptor>? hosted = null)
    {
        var descriptors = new List<ActorTypeDescriptor>();
        var origins = new Dictionary<string, string>(StringComparer.Ordinal)
        {
            [MailboxEndpoint.ActorType] = "the workers themselves",
        };
        foreach (var (origin, types) in sources)
        {
            foreach (var type in types)
            {
                if (!origins.TryAdd(type.Type, origin))
                {
                    var known = origins[type.Type];
                    throw new UsageException(known == origin
                        ? $"The actor types of {origin} are added twice; add them once."
                        : $"The actor type {type.Type} is in {origin}, and in {known}: "
                            + $"give one of them another name{otherwise}.");
                }

                descriptors.Add(type);
            }
        }

        _asGenerated = descriptors;
        Descriptors = hosted is null ? descriptors : [.. descriptors.Select(hosted)];
        Types = [.. descriptors.Select(descriptor => descriptor.Type)];
        _withoutResult = MethodsWith(descriptors, static method => method.ResultType == typeof(Nothing));
        _withList = MethodsWith(descriptors, static method => IsList(method.InputType));
    }

    /// <summary>All of them.</summary>
    public IReadOnlyList<ActorTypeDescriptor> Descriptors { get; }

    /// <summary>Their names.</summary>
    public IReadOnlyList<string> Types { get; }

    /// <summary>Whether an actor type has a method; with <c>*</c>, whether there is the type.</summary>
    public bool HasMethod(string type, string method) => Descriptors.Any(descriptor =>
        descriptor.Type == type && (method == "*" || descriptor.Methods.Any(known => known.Name == method)));

    /// <summary>Whether a method answers with a value; one that is not known here does.</summary>
    public bool HasResult(string type, string method) => !_withoutResult.Contains((type, method));

    /// <summary>Whether the input of a method is an array in JSON.</summary>
    public bool TakesList(string type, string method) => _withList.Contains((type, method));

    /// <summary>Makes an actor of each type, to see that what their constructors ask for is there.</summary>
    /// <param name="services">Of the worker.</param>
    /// <exception cref="UsageException">One cannot be made; the message names it.</exception>
    public async Task Check(IServiceProvider services)
    {
        await using var scope = services.CreateAsyncScope();
        foreach (var descriptor in _asGenerated)
        {
            try
            {
                descriptor.Create(scope.ServiceProvider);
            }
            catch (Exception problem)
            {
                var why = $"{problem.GetType().Name}: {problem.Message}";
                throw new UsageException($"An actor of the type {descriptor.Type} cannot be made: {why}");
            }
        }
    }

    private static FrozenSet<(string Type, string Method)> MethodsWith(
        IEnumerable<ActorTypeDescriptor> types, Func<ActorMethod, bool> isSuch) => types
        .SelectMany(type => type.Methods.Where(isSuch), static (type, method) => (type.Type, method.Name))
        .ToFrozenSet();

    // Not by JSON's own metadata, which would be made here for this alone, at each start.
    private static bool IsList(Type input) =>
        typeof(IEnumerable).IsAssignableFrom(input) && input != typeof(string)
        && !typeof(IDictionary).IsAssignableFrom(input)
        && !input.GetInterfaces().Any(static one =>
            one.IsGenericType && one.GetGenericTypeDefinition() == typeof(IReadOnlyDictionary<,>));
}
