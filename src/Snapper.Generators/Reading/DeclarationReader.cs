using Microsoft.CodeAnalysis;
using Snapper.Generators.Models;

namespace Snapper.Generators.Reading;

/// <summary>Finds the [Declares] functions of an actor class, and which method each is for.</summary>
internal static class DeclarationReader
{
    /// <summary>The functions by their methods' names; what is wrong goes to the findings.</summary>
    /// <param name="actor">The class.</param>
    /// <param name="methods">Its actor methods.</param>
    /// <param name="findings">What is wrong.</param>
    public static Dictionary<string, IMethodSymbol> Read(
        INamedTypeSymbol actor, List<IMethodSymbol> methods, List<Finding> findings)
    {
        var found = new Dictionary<string, IMethodSymbol>(StringComparer.Ordinal);
        foreach (var function in actor.GetMembers().OfType<IMethodSymbol>())
        {
            if (Names.Find(function, Names.DeclaresAttribute) is not { } attribute)
            {
                continue;
            }

            var name = NameOf(function, attribute);
            var method = methods.Find(one => one.Name == name);
            if (method is null)
            {
                findings.Add(
                    Finding.Of(Rules.DeclaresUnknown, function, actor.Name + "." + function.Name, name, actor.Name));
            }
            else if (Fault(function, method) is { } fault)
            {
                findings.Add(Finding.Of(
                    Rules.DeclaresShape, function, actor.Name + "." + function.Name, fault, Signature(method)));
            }
            else if (found.ContainsKey(name))
            {
                findings.Add(Finding.Of(Rules.DeclaresTwice, function, actor.Name, name));
            }
            else
            {
                found.Add(name, function);
            }
        }

        return found;
    }

    /// <summary>The name of the method that a function declares for.</summary>
    public static string NameOf(IMethodSymbol function, AttributeData attribute) =>
        attribute.ConstructorArguments.Length == 1 && attribute.ConstructorArguments[0].Value is string given
            ? given
            : function.Name;

    private static string? Fault(IMethodSymbol function, IMethodSymbol method)
    {
        if (!function.IsStatic)
        {
            return "is not static";
        }

        if (function.IsGenericMethod)
        {
            return "is generic";
        }

        if (function.DeclaredAccessibility is not (Accessibility.Public or Accessibility.Internal
            or Accessibility.ProtectedOrInternal))
        {
            return "cannot be called by generated code";
        }

        if (!function.ReturnsVoid || function.IsAsync)
        {
            return function.IsAsync ? "is async" : "returns something";
        }

        var parameters = function.Parameters;
        var input = ContractReader.InputOf(method);
        return parameters.Length == (input is null ? 2 : 3)
            && parameters.All(static one => one.RefKind == RefKind.None && !one.IsParams)
            && parameters[0].Type.ToDisplayString() == Names.Declaration
            && parameters[1].Type.SpecialType == SpecialType.System_String
            && (input is null || SymbolEqualityComparer.Default.Equals(parameters[2].Type, input.Type))
                ? null
                : "takes something else";
    }

    private static string Signature(IMethodSymbol method) =>
        "(Declaration declaration, string id"
        + (ContractReader.InputOf(method) is { } input
            ? ", " + input.Type.ToDisplayString(SymbolDisplayFormat.MinimallyQualifiedFormat) + " input" : "")
        + ")";
}
