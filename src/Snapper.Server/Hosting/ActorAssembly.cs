using System.Reflection;
using System.Runtime.Loader;
using Snapper.Actors;
using Snapper.Actors.Generated;

namespace Snapper.Server.Hosting;

/// <summary>Loads actor types from an assembly that the server was not built with.</summary>
internal static class ActorAssembly
{
    /// <summary>Reads the catalogue of an assembly. Nothing of its code runs but what makes its descriptors.</summary>
    /// <param name="path">
    /// The file; what it needs and the server has not is found by its <c>.deps.json</c> or lies beside it.
    /// </param>
    /// <exception cref="UsageException">
    /// There is none, it is no assembly, something that it needs is missing, or it has no actors; the message names it.
    /// </exception>
    public static IReadOnlyList<ActorTypeDescriptor> Load(string path)
    {
        var file = Path.GetFullPath(path);
        if (!File.Exists(file))
        {
            throw new UsageException($"--actors: {file} {(Directory.Exists(file) ? "is a folder" : "is not there")}.");
        }

        try
        {
            var context = new Context(file);
            var assembly = context.Take(file);
            context.LoadAll(assembly);
            return ActorCatalogueAttribute.TypesOf(assembly)
                ?? throw new UsageException(
                    $"--actors: {file} has no actor types: no class with [TransactionalActor], "
                    + "or it was built without the generator of Snapper.Actors.");
        }
        catch (BadImageFormatException)
        {
            throw new UsageException($"--actors: {file} is no .NET assembly.");
        }
        catch (Exception wrong) when (WhyNotLoaded(wrong) is { } why)
        {
            throw new UsageException(
                $"--actors: {file} cannot be loaded: {why} This server has Snapper.Actors {Own}. What else it needs "
                + "must lie beside it: 'dotnet publish', or EnableDynamicLoading in its project, sees to that.");
        }
    }

    private static Version? Own => typeof(TransactionalActor).Assembly.GetName().Version;

    private static string? WhyNotLoaded(Exception problem) => problem switch
    {
        TargetInvocationException or TypeInitializationException when problem.InnerException is { } inner =>
            WhyNotLoaded(inner) ?? $"its list of actors fails with {inner.GetType().Name}: {inner.Message}",
        IOException or TypeLoadException or MissingMemberException or UnauthorizedAccessException => problem.Message,
        _ => null,
    };

    /// <summary>
    /// What the server has is the server's, unless a later version is asked for: the base class of an actor, or the
    /// logger that its constructor takes, must be the one that the server knows. What else it brings along is its own.
    /// </summary>
    private sealed class Context(string file) : AssemblyLoadContext(Path.GetFileNameWithoutExtension(file))
    {
        private static readonly Dictionary<string, string> s_server =
            ((string)AppContext.GetData("TRUSTED_PLATFORM_ASSEMBLIES")!)
            .Split(Path.PathSeparator, StringSplitOptions.RemoveEmptyEntries)
            .DistinctBy(Path.GetFileNameWithoutExtension, StringComparer.OrdinalIgnoreCase)
            .ToDictionary(path => Path.GetFileNameWithoutExtension(path)!, StringComparer.OrdinalIgnoreCase);

        private readonly AssemblyDependencyResolver _dependencies = new(file);

        /// <summary>Reads a file whole: one that is overwritten later is the next start's.</summary>
        public Assembly Take(string path)
        {
            var symbols = Path.ChangeExtension(path, ".pdb");
            using var code = new MemoryStream(File.ReadAllBytes(path));
            using var debug = File.Exists(symbols) ? new MemoryStream(File.ReadAllBytes(symbols)) : null;
            return LoadFromStream(code, debug);
        }

        /// <summary>Loads all that it refers to, so that what is missing shows now, and not in a transaction.</summary>
        public void LoadAll(Assembly assembly)
        {
            foreach (var name in assembly.GetReferencedAssemblies())
            {
                if (!IsOfServer(name) && Assemblies.All(known => known.GetName().Name != name.Name))
                {
                    LoadAll(LoadFromAssemblyName(name));
                }
            }
        }

        protected override Assembly? Load(AssemblyName assemblyName) =>
            !IsOfServer(assemblyName) && _dependencies.ResolveAssemblyToPath(assemblyName) is { } path
                ? Take(path)
                : null;

        private static bool IsOfServer(AssemblyName name) =>
            s_server.TryGetValue(name.Name!, out var path)
            && (name.Name!.StartsWith("Snapper.", StringComparison.Ordinal) || name.Version is null
                || AssemblyName.GetAssemblyName(path).Version >= name.Version);
    }
}
