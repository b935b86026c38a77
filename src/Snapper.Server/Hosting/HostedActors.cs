using Snapper.Actors.Generated;
using Snapper.Apps.ListAppend;
using Snapper.Apps.SmallBank;

namespace Snapper.Server.Hosting;

/// <summary>
/// The actor types that a worker hosts: the server's own, as far as they are wanted, and those of applications.
/// </summary>
internal sealed class HostedActors
{
    /// <summary>In the place of a list of apps: none of them.</summary>
    public const string None = "none";

    private static readonly (string Name, IReadOnlyList<ActorTypeDescriptor> Types)[] s_apps =
        [("smallbank", SnapperAppsSmallBankActors.All), ("listappend", SnapperAppsListAppendActors.All)];

    private HostedActors(IReadOnlyList<ActorTypeDescriptor> descriptors)
    {
        Descriptors = descriptors;
        Types = descriptors.Select(descriptor => descriptor.Type).ToArray();
    }

    /// <summary>The server's own.</summary>
    public static HostedActors Own { get; } = Of(null, null);

    /// <summary>Names of the server's own apps.</summary>
    public static IReadOnlyList<string> Apps { get; } = s_apps.Select(app => app.Name).ToArray();

    /// <summary>A list of apps as <c>--apps</c> has it.</summary>
    public static string Text(IReadOnlyList<string> apps) => apps.Count == 0 ? None : string.Join(',', apps);

    /// <summary>All of them.</summary>
    public IReadOnlyList<ActorTypeDescriptor> Descriptors { get; }

    /// <summary>Their names.</summary>
    public IReadOnlyList<string> Types { get; }

    /// <summary>Loads what a worker shall host.</summary>
    /// <param name="apps">Which of the server's own apps; null: all.</param>
    /// <param name="assemblies">Files of assemblies with actor types; null: none.</param>
    /// <exception cref="UsageException">
    /// One cannot be loaded, two have a type of one name, or there is none at all.
    /// </exception>
    public static HostedActors Of(IReadOnlyList<string>? apps, IReadOnlyList<string>? assemblies)
    {
        var descriptors = new List<ActorTypeDescriptor>();
        var origins = new Dictionary<string, string>(StringComparer.Ordinal)
        {
            [MailboxEndpoint.ActorType] = "the workers themselves",
        };
        foreach (var (name, types) in s_apps.Where(app => apps?.Contains(app.Name) != false))
        {
            Add($"the app {name}", types);
        }

        foreach (var assembly in assemblies ?? [])
        {
            Add(assembly, ActorAssembly.Load(assembly));
        }

        return descriptors.Count > 0
            ? new HostedActors(descriptors)
            : throw new UsageException("--apps none needs --actors: a worker without any actor type serves nothing.");

        void Add(string origin, IReadOnlyList<ActorTypeDescriptor> types)
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
    }

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
