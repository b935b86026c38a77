using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Snapper.Generators.Reading;

/// <summary>
/// Proves that no code of a state's type runs when it is read from JSON, and that nothing else of the type keeps what
/// was written from being read. The states of other types are read back by the worker before they are kept.
/// </summary>
/// <remarks>
/// So are: numbers, strings, plain enums, dates, Guid and the like; immutable sets of these; sealed records of this
/// project that are their parameters and no more, without an attribute that JSON heeds; immutable lists of all these.
/// </remarks>
internal static class StateReading
{
    private const string Json = "System.Text.Json.Serialization";
    private const string Nullability = "System.Diagnostics.CodeAnalysis"; // of what may be null, which JSON heeds

    // Not DateTime: a local one just behind the year 1 is written, and not read, east of Greenwich.
    private static readonly HashSet<string> Leaves = new(StringComparer.Ordinal)
    {
        "global::System.DateTimeOffset", "global::System.TimeSpan", "global::System.DateOnly",
        "global::System.TimeOnly", "global::System.Guid",
    };

    private static readonly HashSet<string> Lists = new(StringComparer.Ordinal) { "ImmutableArray", "ImmutableList" };

    private static readonly HashSet<string> Sets = new(StringComparer.Ordinal)
    {
        "ImmutableHashSet", "ImmutableSortedSet",
    };

    public static bool IsProven(ITypeSymbol type) =>
        IsProven(type, new HashSet<ITypeSymbol>(SymbolEqualityComparer.Default));

    private static bool IsProven(ITypeSymbol type, HashSet<ITypeSymbol> above)
    {
        if (type is not INamedTypeSymbol named)
        {
            return false;
        }

        if (IsLeaf(named))
        {
            return true;
        }

        if (IsCollection(named, Sets))
        {
            return named.TypeArguments.All(IsLeaf); // reading compares others by their own code, if they can be
        }

        if (named.OriginalDefinition.SpecialType == SpecialType.System_Nullable_T || IsCollection(named, Lists))
        {
            return named.TypeArguments.All(argument => IsProven(argument, above));
        }

        // One that holds itself may be deeper than JSON is read.
        return above.Add(named) && IsPlainRecord(named) && FieldsOf(named).All(field => IsProven(field.Type, above))
            && above.Remove(named);
    }

    private static bool IsLeaf(ITypeSymbol type) =>
        type.TypeKind == TypeKind.Enum ? type.GetAttributes().IsEmpty
        : type.OriginalDefinition.SpecialType == SpecialType.System_Nullable_T
            ? ((INamedTypeSymbol)type).TypeArguments.All(IsLeaf)
            : type.SpecialType is >= SpecialType.System_Boolean and <= SpecialType.System_String
                || Leaves.Contains(Names.Plain(type));

    private static bool IsCollection(INamedTypeSymbol type, HashSet<string> names) =>
        names.Contains(type.Name)
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
        && FieldsOf(type).All(static field => IsParameter(field))
        && type.GetMembers().OfType<IPropertySymbol>().All(static one =>
            one.IsStatic || one.SetMethod is null || IsParameter(one));

    private static bool IsPrimary(IMethodSymbol constructor) =>
        !constructor.Parameters.Any(IsAboutJson)
        && constructor.DeclaringSyntaxReferences.Any(static one => one.GetSyntax() is RecordDeclarationSyntax);

    private static IEnumerable<IFieldSymbol> FieldsOf(INamedTypeSymbol type) =>
        type.GetMembers().OfType<IFieldSymbol>().Where(static field => !field.IsStatic && !field.IsConst);

    private static bool IsParameter(IFieldSymbol field) =>
        field.AssociatedSymbol is IPropertySymbol { DeclaredAccessibility: Accessibility.Public } property
        && IsParameter(property);

    private static bool IsParameter(IPropertySymbol property) =>
        property.DeclaringSyntaxReferences.All(static one => one.GetSyntax() is ParameterSyntax);

    private static bool IsAboutJson(ISymbol symbol) => symbol.GetAttributes().Any(static one =>
        one.AttributeClass?.ContainingNamespace.ToDisplayString() is Json or Nullability);
}
