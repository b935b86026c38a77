using System.Globalization;
using Microsoft.CodeAnalysis;

namespace Snapper.Generators.Baselines;

/// <summary>
/// What System.Text.Json makes of types, as workers use it: names in camel case, properties that are public, parameters
/// of the constructor required unless they have a default.
/// </summary>
/// <param name="types">Where the shapes go.</param>
internal sealed class ShapeReader(SortedDictionary<string, TypeShape> types)
{
    private const string Json = "System.Text.Json.Serialization.";

    private static readonly SymbolDisplayFormat s_name = SymbolDisplayFormat.FullyQualifiedFormat
        .WithGlobalNamespaceStyle(SymbolDisplayGlobalNamespaceStyle.Omitted);

    /// <summary>The full name of a type.</summary>
    public static string NameOf(ITypeSymbol type) => type.ToDisplayString(s_name);

    /// <summary>How a type is named in the file; its shape goes to the others.</summary>
    public string Read(ITypeSymbol type)
    {
        if (type is INamedTypeSymbol { OriginalDefinition.SpecialType: SpecialType.System_Nullable_T } nullable)
        {
            return Read(nullable.TypeArguments[0]) + "?";
        }

        return Bare(type) + (type.NullableAnnotation == NullableAnnotation.Annotated ? "?" : "");
    }

    private string Bare(ITypeSymbol type)
    {
        if (type is IArrayTypeSymbol array)
        {
            return array.ElementType.SpecialType == SpecialType.System_Byte ? "bytes" : Read(array.ElementType) + "[]";
        }

        var name = NameOf(type);
        if (type is not INamedTypeSymbol named || type.SpecialType != SpecialType.None)
        {
            return name;
        }

        var converter = ConverterOf(type);
        if (converter is null && MapOf(named) is { } map)
        {
            return $"{{{Read(map.TypeArguments[0])}: {Read(map.TypeArguments[1])}}}";
        }

        if (converter is null && IsJson(name))
        {
            return "json";
        }

        if (converter is null && ListOf(named) is { } list)
        {
            return Read(list.TypeArguments[0]) + "[]";
        }

        if (IsOfSystem(named))
        {
            foreach (var argument in named.TypeArguments)
            {
                Read(argument);
            }

            return name;
        }

        if (!types.ContainsKey(name))
        {
            var shape = new TypeShape(name, type.TypeKind == TypeKind.Enum, converter);
            types.Add(name, shape); // before its members, which may be of it
            Fill(shape, named);
        }

        return name;
    }

    private void Fill(TypeShape shape, INamedTypeSymbol type)
    {
        if (shape.IsEnum)
        {
            foreach (var member in type.GetMembers().OfType<IFieldSymbol>().Where(static one => one.HasConstantValue))
            {
                var name = Text(Find(member, "JsonStringEnumMemberNameAttribute")) ?? member.Name;
                var number = ((IFormattable)member.ConstantValue!).ToString(null, CultureInfo.InvariantCulture);
                shape.Members[name] = new MemberShape(number, IsOptional: false, IsComputed: false);
            }

            return;
        }

        if (shape.Converter is not null)
        {
            return;
        }

        foreach (var attribute in type.GetAttributes().Where(static one => Is(one, "JsonDerivedTypeAttribute")))
        {
            if (attribute.ConstructorArguments.FirstOrDefault().Value is ITypeSymbol derived)
            {
                var key = attribute.ConstructorArguments.Skip(1).FirstOrDefault().Value;
                shape.Members["case " + (key ?? "")] =
                    new MemberShape(Read(derived), IsOptional: false, IsComputed: false);
            }
        }

        var constructor = ConstructorOf(type);
        foreach (var member in MembersOf(type))
        {
            var name = Text(Find(member, "JsonPropertyNameAttribute")) ?? CamelCase(member.Name);
            if (!shape.Members.ContainsKey(name))
            {
                shape.Members[name] = Read(member, constructor);
            }
        }
    }

    private MemberShape Read(ISymbol member, IMethodSymbol? constructor)
    {
        var type = Read((member as IPropertySymbol)?.Type ?? ((IFieldSymbol)member).Type)
            + (ConverterOf(member) is { } converter ? TypeShape.By + converter : "");
        var isRequired = member is IPropertySymbol { IsRequired: true } or IFieldSymbol { IsRequired: true }
            || Find(member, "JsonRequiredAttribute") is not null;
        var parameter = constructor?.Parameters.FirstOrDefault(
            one => string.Equals(one.Name, member.Name, StringComparison.OrdinalIgnoreCase));
        if (parameter is not null)
        {
            return new MemberShape(type, !isRequired && parameter.HasExplicitDefaultValue, IsComputed: false);
        }

        var isSet = member is IFieldSymbol { IsReadOnly: false }
            or IPropertySymbol { SetMethod.DeclaredAccessibility: Accessibility.Public }
            || (member is IPropertySymbol { SetMethod: not null } && Find(member, "JsonIncludeAttribute") is not null);
        return new MemberShape(type, isSet && !isRequired, !isSet);
    }

    private static IEnumerable<ISymbol> MembersOf(INamedTypeSymbol type)
    {
        var all = type.TypeKind == TypeKind.Interface
            ? type.AllInterfaces.Insert(0, type).AsEnumerable() : BasesOf(type);
        foreach (var one in all)
        {
            foreach (var member in one.GetMembers())
            {
                var isWritten = Find(member, "JsonIncludeAttribute") is not null
                    ? member is IFieldSymbol or IPropertySymbol
                    : member is IPropertySymbol { IsIndexer: false, GetMethod: { } getter } && IsPublic(getter);
                if (isWritten && !member.IsStatic && !IsIgnored(member)
                    && Find(member, "JsonExtensionDataAttribute") is null)
                {
                    yield return member;
                }
            }
        }
    }

    private static IEnumerable<INamedTypeSymbol> BasesOf(INamedTypeSymbol type)
    {
        for (var one = type; one is { SpecialType: SpecialType.None }; one = one.BaseType)
        {
            yield return one;
        }
    }

    // Always, unless a condition is given; the other conditions leave it out of some JSON alone.
    private static bool IsIgnored(ISymbol member) => Find(member, "JsonIgnoreAttribute") is { } ignore
        && !ignore.NamedArguments.Any(static one => one.Key == "Condition" && one.Value.Value is not 1);

    private static IMethodSymbol? ConstructorOf(INamedTypeSymbol type)
    {
        var all = type.InstanceConstructors;
        var marked = all.FirstOrDefault(static one => Find(one, "JsonConstructorAttribute") is not null);
        return marked is not null ? marked
            : type.IsValueType || all.Any(static one => one.Parameters.IsEmpty && IsPublic(one)) ? null
            : all.FirstOrDefault(IsPublic);
    }

    private static bool IsPublic(IMethodSymbol method) => method.DeclaredAccessibility == Accessibility.Public;

    private static string? ConverterOf(ISymbol symbol) =>
        Find(symbol, "JsonConverterAttribute") is { ConstructorArguments: { Length: 1 } given }
        && given[0].Value is ITypeSymbol converter
            ? NameOf(converter)
            : null;

    private static INamedTypeSymbol? MapOf(INamedTypeSymbol type) => Implemented(type, static name =>
        name is "System.Collections.Generic.IReadOnlyDictionary<TKey, TValue>"
            or "System.Collections.Generic.IDictionary<TKey, TValue>");

    private static INamedTypeSymbol? ListOf(INamedTypeSymbol type) =>
        Implemented(type, static name => name == "System.Collections.Generic.IEnumerable<T>");

    private static INamedTypeSymbol? Implemented(INamedTypeSymbol type, Func<string, bool> isIt) =>
        type.AllInterfaces.Insert(0, type).FirstOrDefault(one => isIt(one.OriginalDefinition.ToDisplayString()));

    private static bool IsJson(string name) => name is "System.Text.Json.JsonElement" or "System.Text.Json.JsonDocument"
        or "System.Text.Json.Nodes.JsonNode" or "System.Text.Json.Nodes.JsonObject"
        or "System.Text.Json.Nodes.JsonArray";

    private static bool IsOfSystem(INamedTypeSymbol type)
    {
        var space = type.ContainingNamespace;
        while (space is { IsGlobalNamespace: false, ContainingNamespace.IsGlobalNamespace: false })
        {
            space = space.ContainingNamespace;
        }

        return space?.Name == "System";
    }

    private static AttributeData? Find(ISymbol symbol, string name) =>
        symbol.GetAttributes().FirstOrDefault(one => Is(one, name));

    private static bool Is(AttributeData attribute, string name) =>
        attribute.AttributeClass is { } found && found.Name == name && found.ToDisplayString() == Json + name;

    private static string? Text(AttributeData? attribute) =>
        attribute is { ConstructorArguments.Length: 1 } ? attribute.ConstructorArguments[0].Value as string : null;

    // As JsonNamingPolicy.CamelCase: the capitals in front, but the last one before a small letter.
    private static string CamelCase(string name)
    {
        var letters = name.ToCharArray();
        for (var i = 0; i < letters.Length && char.IsUpper(letters[i]); i++)
        {
            if (i > 0 && i + 1 < letters.Length && !char.IsUpper(letters[i + 1]))
            {
                break;
            }

            letters[i] = char.ToLowerInvariant(letters[i]);
        }

        return new string(letters);
    }
}
