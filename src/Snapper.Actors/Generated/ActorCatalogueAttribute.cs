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
}
