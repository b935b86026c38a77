using System.Reflection;

namespace Snapper.Actors.Generated;

/// <summary>Says which class lists the actor types of an assembly. Written by generated code.</summary>
/// <param name="catalogue">
/// A class with a static property <c>All</c>, an <see cref="IReadOnlyList{T}"/> of <see cref="ActorTypeDescriptor"/>.
/// </param>
[AttributeUsage(AttributeTargets.Assembly)]
public sealed class ActorCatalogueAttribute(Type catalogue) : Attribute
{
    /// <summary>The class.</summary>
    public Type Catalogue { get; } = catalogue;

    /// <summary>The actor types of an assembly; null: it lists none.</summary>
    public static IReadOnlyList<ActorTypeDescriptor>? TypesOf(Assembly assembly)
    {
        ArgumentNullException.ThrowIfNull(assembly);
        return (IReadOnlyList<ActorTypeDescriptor>?)assembly.GetCustomAttribute<ActorCatalogueAttribute>()?.Catalogue
            .GetProperty("All")!.GetValue(null);
    }

    /// <summary>The actor types of an assembly that was built for them.</summary>
    /// <exception cref="ArgumentException">It lists none.</exception>
    public static IReadOnlyList<ActorTypeDescriptor> RequiredTypesOf(Assembly assembly) =>
        TypesOf(assembly) ?? throw new ArgumentException(
            $"{assembly.GetName().Name} has no actor types: no class with [TransactionalActor], "
            + "or it was built without the generator of Snapper.Actors.", nameof(assembly));
}
