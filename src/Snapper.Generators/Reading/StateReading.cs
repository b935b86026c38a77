using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Snapper.Generators.Reading;

/// <summary>
/// Proves that no code of a state's type runs when it is read from JSON, and that nothing else of the type keeps what
/// was written from being read. The states of other types are read back by the worker before they are kept.
/// </summary>
/// <remarks>
/// So are: numbers, strings, plain enums, dates, Guid and the like; immutable lists and sets of these; and sealed
/// records of this project that are their parameters and no more, without an attribute of JSON.
/// </remarks>
internal static class StateReading
{
    private const string Json = "System.Text.Json.Serialization";

    private static readonly HashSet<string> Leaves = new(StringComparer.Ordinal)
    {
        "global::System.DateTimeOffset", "global::System.TimeSpan", "global::System.DateOnly",
        "global::System.TimeOnly", "global::System.Guid",
    };

    private static readonly HashSet<string> Collections = new(StringComparer.Ordinal)
    {
        "ImmutableArray", "ImmutableList", "ImmutableHashSet", "ImmutableSortedSet",
    };

    public static bool IsProven(ITypeSymbol type) =>
        IsProven(type, new HashSet<ITypeSymbol>(SymbolEqualityComparer.Default));

    private static bool IsProven(ITypeSymbol type, HashSet<ITypeSymbol> above)
    {
        if (type.TypeKind == TypeKind.Enum)
        {
            return type.GetAttributes().IsEmpty;
        }

        if (type.SpecialType is >= SpecialType.System_Boolean and <= SpecialType.System_String
            || type.SpecialType == SpecialType.System_DateTime || Leaves.Contains(Names.Plain(type)))
        {
            return true;
        }

        if (type is not INamedTypeSymbol named)
        {
            return false;
        }

        if (named.OriginalDefinition.SpecialType == SpecialType.System_Nullable_T || IsCollection(named))
        {
            return named.TypeArguments.All(argument => IsProven(argument, above));
        }

        // One that holds itself may be deeper than JSON is read.
        return above.Add(named) && IsPlainRecord(named) && FieldsOf(named).All(field => IsProven(field.Type, above))
            && above.Remove(named);
    }

    private static bool IsCollection(INamedTypeSymbol type) =>
        Collections.Contains(type.Name)
        && type.ContainingNamespace.ToDisplayString() == "System.Collections.Immutable";

    private static bool IsPlainRecord(INamedTypeSymbol type) =>
        type is { IsRecord: true, IsSealed: true, TypeKind: TypeKind.Class }
        && type.BaseType is { SpecialType: SpecialType.System_Object }
        && type.Locations.Any(static location => location.IsInSource)
        && !IsAboutJson(type)
        && !type.AllInterfaces.Any(static one => one.ContainingNamespace.ToDisplayString() == Json)
        && !type.GetMembers().Any(IsAboutJson)
        && type.InstanceConstructors.Count(static one => !one.IsImplicitlyDeclared) == 1
        && type.InstanceConstructors.All(static one => one.IsImplicitlyDeclared || IsPrimary(one))
        && FieldsOf(type).All(static field => IsParameter(field));

    private static bool IsPrimary(IMethodSymbol constructor) =>
        !constructor.Parameters.Any(IsAboutJson)
        && constructor.DeclaringSyntaxReferences.Any(static one => one.GetSyntax() is RecordDeclarationSyntax);

    private static IEnumerable<IFieldSymbol> FieldsOf(INamedTypeSymbol type) =>
        type.GetMembers().OfType<IFieldSymbol>().Where(static field => !field.IsStatic && !field.IsConst);

    private static bool IsParameter(IFieldSymbol field) =>
        field.AssociatedSymbol is IPropertySymbol { DeclaredAccessibility: Accessibility.Public } property
        && property.DeclaringSyntaxReferences.All(static one => one.GetSyntax() is ParameterSyntax);

    private static bool IsAboutJson(ISymbol symbol) => symbol.GetAttributes().Any(static one =>
        one.AttributeClass?.ContainingNamespace.ToDisplayString() == Json);
}
