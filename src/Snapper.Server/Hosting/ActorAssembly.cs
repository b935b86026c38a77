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
    /// The file; what it needs beside <c>Snapper.*</c> is found by its <c>.deps.json</c> or lies beside it.
    /// </param>
    /// <exception cref="UsageException">
    /// There is none, it is no assembly, or has no actors; the message names it.
    /// </exception>
    public static IReadOnlyList<ActorTypeDescriptor> Load(string path)
    {
        var file = Path.GetFullPath(path);
        if (!File.Exists(file))
        {
            throw new UsageException($"--actors: there is no file {file}.");
        }

        try
        {
            var assembly = new Context(file).LoadFromAssemblyPath(file);
            var catalogue = assembly.GetCustomAttribute<ActorCatalogueAttribute>()?.Catalogue
                ?? throw new UsageException(
                    $"--actors: {file} has no actor types: no class with [TransactionalActor], "
                    + "or it was built without the generator of Snapper.Actors.");
            return (IReadOnlyList<ActorTypeDescriptor>)catalogue.GetProperty("All")!.GetValue(null)!;
        }
        catch (BadImageFormatException)
        {
            throw new UsageException($"--actors: {file} is no .NET assembly.");
        }
        catch (Exception wrong) when (WhyNotLoaded(wrong) is { } why)
        {
            throw new UsageException($"--actors: {file} cannot be loaded: {why} This server has Snapper.Actors {Own}.");
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
    /// What the assembly brings along is its own, but for the server's own assemblies: an actor's base class must be
    /// the one that the server knows.
    /// </summary>
    private sealed class Context(string file) : AssemblyLoadContext(Path.GetFileNameWithoutExtension(file))
    {
        private readonly AssemblyDependencyResolver _dependencies = new(file);

        protected override Assembly? Load(AssemblyName assemblyName) =>
            assemblyName.Name!.StartsWith("Snapper.", StringComparison.Ordinal) && IsOfServer(assemblyName.Name)
                ? null
                : _dependencies.ResolveAssemblyToPath(assemblyName) is { } path ? LoadFromAssemblyPath(path) : null;

        private static bool IsOfServer(string name) =>
            File.Exists(Path.Combine(AppContext.BaseDirectory, name + ".dll"));
    }
}
