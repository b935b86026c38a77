using Snapper.Actors.Generated;

namespace Snapper.AspNetCore.Hosting;

/// <summary>The actor types that a worker hosts.</summary>
internal sealed class HostedActors
{
    /// <summary>All of them together.</summary>
    /// <param name="sources">Where types come from, for messages, and the types.</param>
    /// <exception cref="UsageException">Two have one name.</exception>
    public HostedActors(IEnumerable<(string Origin, IReadOnlyList<ActorTypeDescriptor> Types)> sources)
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
                    throw new UsageException(
                        $"The actor type {type.Type} is in {origin}, and in {origins[type.Type]}: "
                        + "give one of them another name, or leave the server's own out (--apps).");
                }

                descriptors.Add(type);
            }
        }

        Descriptors = descriptors;
        Types = [.. descriptors.Select(descriptor => descriptor.Type)];
    }

    /// <summary>All of them.</summary>
    public IReadOnlyList<ActorTypeDescriptor> Descriptors { get; }

    /// <summary>Their names.</summary>
    public IReadOnlyList<string> Types { get; }

    /// <summary>Whether an actor type has a method; with <c>*</c>, whether there is the type.</summary>
    public bool HasMethod(string type, string method) => Descriptors.Any(descriptor =>
        descriptor.Type == type && (method == "*" || descriptor.Methods.Any(known => known.Name == method)));

    /// <summary>Makes an actor of each type, to see that what their constructors ask for is there.</summary>
    /// <param name="services">Of the worker.</param>
    /// <exception cref="UsageException">One cannot be made; the message names it.</exception>
    public void Check(IServiceProvider services)
    {
        foreach (var descriptor in Descriptors)
        {
            try
            {
                descriptor.Create(services);
            }
            catch (Exception problem)
            {
                var why = $"{problem.GetType().Name}: {problem.Message}";
                throw new UsageException($"An actor of the type {descriptor.Type} cannot be made: {why}");
            }
        }
    }
}
