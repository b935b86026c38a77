using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Snapper.Generators.Reading;

/// <summary>
/// Proves that objects of a type never change once they are made, through everything that they hold. What cannot be
/// proven counts as mutable: a state is then copied at a transaction's first write, an input or a result when it is
/// handed over inside a worker. That is slower and never wrong.
/// </summary>
/// <remarks>
/// Immutable are: numbers, strings, enums, dates, Guid and the like; the immutable and frozen collections of immutable
/// types; and sealed classes, records and structs of this project whose fields are all read-only or init-only and of
/// immutable types. Unsealed classes are not (a derived one could change), nor types of other assemblies (their private
/// fields are not visible).
/// </remarks>
internal static class StateImmutability
{
    private static readonly HashSet<string> Leaves = new(StringComparer.Ordinal)
    {
        "global::System.DateTimeOffset", "global::System.TimeSpan", "global::System.DateOnly", "global::System.TimeOnly", "global::System.Guid", "global::System.Half",
        "global::System.Int128", "global::System.UInt128", "global::System.Uri", "global::System.Version", "global::System.Numerics.BigInteger",
    };

    private static readonly HashSet<string> Collections = new(StringComparer.Ordinal)
    {
        "ImmutableArray", "ImmutableList", "ImmutableDictionary", "ImmutableHashSet", "ImmutableSortedDictionary",
        "ImmutableSortedSet", "ImmutableStack", "ImmutableQueue", "FrozenDictionary", "FrozenSet",
    };

    public static bool IsProven(ITypeSymbol type) => IsProven(type, new HashSet<ITypeSymbol>(SymbolEqualityComparer.Default));

    private static bool IsProven(ITypeSymbol type, HashSet<ITypeSymbol> assumed)
    {
        if (IsLeaf(type))
        {
            return true;
        }

        if (type is not INamedTypeSymbol named)
        {
            return false; // Arrays, pointers, dynamic, type parameters.
        }

        if (named.OriginalDefinition.SpecialType == SpecialType.System_Nullable_T || IsImmutableCollection(named) || named.IsTupleType)
        {
            // A tuple's fields can be set, but only through the variable that holds it, which is checked by itself.
            return named.TypeArguments.All(argument => IsProven(argument, assumed));
        }

        // A record that holds itself: proven if the rest is.
        return !assumed.Add(named) || HoldsOnlyImmutables(named, assumed);
    }

    private static bool IsLeaf(ITypeSymbol type) =>
        type.TypeKind == TypeKind.Enum
        || type.SpecialType is (>= SpecialType.System_Boolean and <= SpecialType.System_String) or SpecialType.System_DateTime
        || Leaves.Contains(Names.Plain(type));

    private static bool IsImmutableCollection(INamedTypeSymbol type) =>
        Collections.Contains(type.Name)
        && type.ContainingNamespace.ToDisplayString() is "System.Collections.Immutable" or "System.Collections.Frozen";

    private static bool HoldsOnlyImmutables(INamedTypeSymbol type, HashSet<ITypeSymbol> assumed)
    {
        if (type.TypeKind is not (TypeKind.Class or TypeKind.Struct) || !type.IsSealed || !IsOfThisProject(type))
        {
            return false;
        }

        for (var part = type; part is not null && part.SpecialType is not (SpecialType.System_Object or SpecialType.System_ValueType); part = part.BaseType)
        {
            if (!IsOfThisProject(part) || MayCaptureParameters(part) || !part.GetMembers().OfType<IFieldSymbol>().All(field => IsFixed(field, assumed)))
            {
                return false;
            }
        }

        return true;
    }

    private static bool IsFixed(IFieldSymbol field, HashSet<ITypeSymbol> assumed)
    {
        if (field.IsStatic || field.IsConst)
        {
            return true;
        }

        var settable = field.AssociatedSymbol is IPropertySymbol property
            ? property.SetMethod is { IsInitOnly: false }
            : !field.IsReadOnly;
        return !settable && IsProven(field.Type, assumed);
    }

    // A class's primary constructor parameters may live on in fields that have no symbol, and can be assigned.
    private static bool MayCaptureParameters(INamedTypeSymbol type) =>
        !type.IsRecord
        && type.DeclaringSyntaxReferences.Any(r => r.GetSyntax() is TypeDeclarationSyntax { ParameterList.Parameters.Count: > 0 });

    private static bool IsOfThisProject(INamedTypeSymbol type) => type.Locations.Any(l => l.IsInSource);
}
