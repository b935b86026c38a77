using System.Reflection;

namespace Snapper.AspNetCore.Applications;

/// <summary>
/// The packages of one application have one version: they share records and messages, and NuGet takes a newer one of
/// some of them without a word.
/// </summary>
internal static class PackageVersions
{
    private const string Prefix = "Snapper.";

    /// <summary>Looks at all assemblies of ours that an application uses.</summary>
    /// <param name="application">Its own; null: not known.</param>
    /// <exception cref="UsageException">Two have different versions; the message names them.</exception>
    public static void Check(Assembly? application)
    {
        var own = typeof(PackageVersions).Assembly;
        var seen = new HashSet<string>(StringComparer.Ordinal);
        var open = new Stack<Assembly>([own]);
        Add(application);
        while (open.TryPop(out var next))
        {
            Check(own.GetName().Name!, VersionOf(own), next.GetName().Name!, VersionOf(next));
            Add(next);
        }

        void Add(Assembly? user)
        {
            foreach (var used in user?.GetReferencedAssemblies() ?? [])
            {
                if (used.Name!.StartsWith(Prefix, StringComparison.Ordinal) && seen.Add(used.Name)
                    && Assembly.Load(used) is var found && IsOurs(found))
                {
                    open.Push(found);
                }
            }
        }
    }

    /// <summary>Compares two.</summary>
    /// <exception cref="UsageException">They differ.</exception>
    public static void Check(string name, string version, string other, string otherVersion)
    {
        if (version != otherVersion)
        {
            throw new UsageException(
                $"The packages have different versions: {name} is {version}, and {other} is {otherVersion}. "
                + "Give all packages of Snapper.Dapr the same one.");
        }
    }

    // Others may have names that begin alike.
    private static bool IsOurs(Assembly assembly) => ProductOf(assembly) == ProductOf(typeof(PackageVersions).Assembly);

    private static string? ProductOf(Assembly assembly) =>
        assembly.GetCustomAttribute<AssemblyProductAttribute>()?.Product;

    // Without the commit that a build adds.
    private static string VersionOf(Assembly assembly) =>
        assembly.GetCustomAttribute<AssemblyInformationalVersionAttribute>()!.InformationalVersion.Split('+')[0];
}
