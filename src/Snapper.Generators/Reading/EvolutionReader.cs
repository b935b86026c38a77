using System.Collections.Immutable;
using System.Globalization;
using Microsoft.CodeAnalysis;
using Snapper.Generators.Models;

namespace Snapper.Generators.Reading;

/// <summary>Finds the version of an actor class's state, and the functions from each version to the next.</summary>
internal static class EvolutionReader
{
    private const int Highest = 1_000_000;

    /// <summary>The versions; null: they are not numbered, or something is wrong, which goes to the findings.</summary>
    /// <param name="actor">The class.</param>
    /// <param name="state">Its state.</param>
    /// <param name="findings">What is wrong.</param>
    public static EvolutionModel? Read(INamedTypeSymbol actor, ITypeSymbol state, List<Finding> findings)
    {
        var ofActor = Names.Find(actor, Names.StateVersionAttribute);
        var ofState = Names.Find(state, Names.StateVersionAttribute);
        if ((ofActor ?? ofState) is not { } attribute)
        {
            return null;
        }

        var (version, oldest) = NumbersOf(attribute);
        if (version is < 1 or > Highest || oldest < 1 || oldest > version
            || (ofState is not null && NumbersOf(ofState) != (version, oldest)))
        {
            var more = oldest == 1 ? "" : " with Oldest = " + Text(oldest);
            findings.Add(Finding.Of(Rules.StateVersionNumber, actor, actor.Name, Text(version), more));
            return null;
        }

        if (!IsObject(state))
        {
            findings.Add(Finding.Of(Rules.VersionedShape, actor, actor.Name, state.ToDisplayString()));
            return null;
        }

        var before = findings.Count;
        var steps = Steps(actor, state, version, oldest, findings);
        if (findings.Count > before)
        {
            return null; // what would be said of the chain follows from these
        }

        CheckChain(actor, state, version, oldest, steps, findings);
        return findings.Count > before ? null : new EvolutionModel(
            version, oldest, new EquatableArray<UpcastModel>(steps.Select(ToModel).ToImmutableArray()));
    }

    /// <summary>The newest version and the oldest that is read; null: they are not numbered.</summary>
    public static (int Version, int Oldest)? NumbersOf(INamedTypeSymbol actor, ITypeSymbol state) =>
        (Names.Find(actor, Names.StateVersionAttribute) ?? Names.Find(state, Names.StateVersionAttribute)) is { } given
            ? NumbersOf(given)
            : null;

    private static (int Version, int Oldest) NumbersOf(AttributeData attribute)
    {
        var version = NumberOf(attribute);
        foreach (var argument in attribute.NamedArguments)
        {
            if (argument.Key == "Oldest" && argument.Value.Value is int oldest)
            {
                return (version, oldest);
            }
        }

        return (version, 1);
    }

    private static int NumberOf(AttributeData attribute) =>
        attribute.ConstructorArguments.Length == 1 && attribute.ConstructorArguments[0].Value is int number
            ? number
            : 0;

    // Those that JSON has as arrays, numbers or texts, and dictionaries, whose entries the number would be one of.
    private static bool IsObject(ITypeSymbol state) =>
        state is INamedTypeSymbol { SpecialType: SpecialType.None }
        && !state.AllInterfaces.Any(static one => one.SpecialType == SpecialType.System_Collections_IEnumerable);

    private static SortedDictionary<int, IMethodSymbol> Steps(
        INamedTypeSymbol actor, ITypeSymbol state, int version, int oldest, List<Finding> findings)
    {
        var steps = new SortedDictionary<int, IMethodSymbol>();
        foreach (var function in actor.GetMembers().Concat(state.GetMembers()).OfType<IMethodSymbol>())
        {
            if (Names.Find(function, Names.UpcastsAttribute) is not { } attribute)
            {
                continue;
            }

            var from = NumberOf(attribute);
            if (Fault(function, actor) is { } fault)
            {
                findings.Add(Finding.Of(Rules.UpcastShape, Where(function, actor), Show(function), fault));
            }
            else if (from < oldest || from >= version)
            {
                findings.Add(Finding.Of(
                    Rules.UpcastUnused, Where(function, actor), Show(function), Text(from), actor.Name, Text(oldest),
                    Text(version - 1)));
            }
            else if (steps.ContainsKey(from))
            {
                findings.Add(Finding.Of(
                    Rules.UpcastTwice, Where(function, actor), Show(function), actor.Name, Text(from)));
            }
            else
            {
                steps.Add(from, function);
            }
        }

        return steps;
    }

    private static void CheckChain(
        INamedTypeSymbol actor, ITypeSymbol state, int version, int oldest, SortedDictionary<int, IMethodSymbol> steps,
        List<Finding> findings)
    {
        for (var from = oldest; from < version; from++)
        {
            if (!steps.TryGetValue(from, out var step))
            {
                findings.Add(Finding.Of(
                    Rules.UpcastMissing, actor, actor.Name, Text(version), Text(from), Text(from + 1), state.Name));
                return;
            }

            var wanted = from + 1 == version ? state
                : steps.TryGetValue(from + 1, out var next) ? next.Parameters[0].Type : null;
            if (wanted is not null && !IsJson(step.ReturnType) && !IsJson(wanted)
                && !SymbolEqualityComparer.Default.Equals(step.ReturnType, wanted))
            {
                findings.Add(Finding.Of(
                    Rules.UpcastChain, Where(step, actor), Show(step), step.ReturnType.ToDisplayString(),
                    Text(from + 1), wanted.ToDisplayString()));
            }
        }
    }

    private static string? Fault(IMethodSymbol function, INamedTypeSymbol actor)
    {
        if (!function.IsStatic)
        {
            return "is not static";
        }

        if (function.IsGenericMethod)
        {
            return "is generic";
        }

        var isOwn = SymbolEqualityComparer.Default.Equals(function.ContainingAssembly, actor.ContainingAssembly);
        for (ISymbol? symbol = function; symbol is IMethodSymbol or INamedTypeSymbol; symbol = symbol.ContainingType)
        {
            if (symbol.DeclaredAccessibility != Accessibility.Public
                && !(isOwn && symbol.DeclaredAccessibility
                    is Accessibility.Internal or Accessibility.ProtectedOrInternal))
            {
                return "cannot be called by generated code";
            }
        }

        if (function.ReturnsVoid || function.ReturnsByRef || function.ReturnsByRefReadonly)
        {
            return "returns nothing, or a reference";
        }

        if (function.ReturnType.ContainingNamespace?.ToDisplayString() == "System.Threading.Tasks")
        {
            return "is not synchronous";
        }

        return function.Parameters.Length == 1
            && function.Parameters[0] is { RefKind: RefKind.None, IsParams: false } parameter
            && parameter.Type is INamedTypeSymbol { IsRefLikeType: false } type
            && type.OriginalDefinition.SpecialType != SpecialType.System_Nullable_T
                ? null
                : "takes something else";
    }

    private static bool IsJson(ITypeSymbol type) =>
        (type.Name == "JsonElement" && type.ContainingNamespace.ToDisplayString() == "System.Text.Json")
        || (type.Name == "JsonObject" && type.ContainingNamespace.ToDisplayString() == "System.Text.Json.Nodes");

    private static UpcastModel ToModel(KeyValuePair<int, IMethodSymbol> step) => new(
        step.Key,
        Names.Plain(step.Value.Parameters[0].Type),
        Names.Annotate(step.Value.ReturnType),
        Names.Plain(step.Value.ContainingType) + "." + Names.Identifier(step.Value));

    // A state of another project is blamed at the class that uses it.
    private static ISymbol Where(IMethodSymbol function, INamedTypeSymbol actor) =>
        function.Locations.Any(static one => one.IsInSource) ? function : actor;

    private static string Show(IMethodSymbol function) => function.ContainingType.Name + "." + function.Name;

    private static string Text(int number) => number.ToString(CultureInfo.InvariantCulture);
}
