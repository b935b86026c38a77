using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.Diagnostics;

namespace Snapper.Generators.Bodies;

/// <summary>Follows calls from methods of actors through the other methods of the project.</summary>
/// <param name="bodies">All methods.</param>
/// <param name="actors">The assembly of the programming model.</param>
internal sealed class Reaches(IReadOnlyDictionary<IMethodSymbol, Body> bodies, IAssemblySymbol actors)
{
    private readonly Dictionary<IMethodSymbol, IMethodSymbol?> _unmarked = new(SymbolEqualityComparer.Default);

    private List<INamedTypeSymbol>? _actorTypes;

    public void Report(CompilationAnalysisContext end)
    {
        if (!bodies.Values.Any(static body => body.IsOfActor || Names.Has(body.Method, Names.UpcastsAttribute)))
        {
            return;
        }

        if (bodies.Values.Any(static body => !body.IsOfActor && body.Uses.Any()))
        {
            ReportUses(end);
        }

        foreach (var body in bodies.Values)
        {
            if (body.IsOfActor && Names.Has(body.Method, Names.ReadOnlyAttribute))
            {
                ReportReadOnly(end, body);
            }
        }
    }

    /// <summary>A member as messages name it.</summary>
    public static string Show(ISymbol member)
    {
        var name = member switch
        {
            IMethodSymbol { AssociatedSymbol: { } property } => property.Name,
            IMethodSymbol { MethodKind: MethodKind.Constructor or MethodKind.StaticConstructor } => "constructor",
            _ => member.Name,
        };
        return (member.ContainingType?.Name ?? "") + "." + name;
    }

    private void ReportUses(CompilationAnalysisContext end)
    {
        var roots = bodies.Values
            .Where(static body => body.IsOfActor || Names.Has(body.Method, Names.UpcastsAttribute))
            .OrderBy(static body => body.Method.ToDisplayString(), StringComparer.Ordinal);
        var reached = new HashSet<Body>();
        foreach (var root in roots)
        {
            foreach (var (body, _) in From(root, reached))
            {
                foreach (var use in body.IsOfActor ? [] : body.Uses)
                {
                    var how = ReferenceEquals(body, root) ? "" : $", and '{Show(root.Method)}' runs it";
                    end.ReportDiagnostic(Diagnostic.Create(
                        Rules.AtEnd(use.Rule), use.Where.GetLocation(), Show(body.Method), use.What, how));
                }
            }
        }
    }

    // At most one finding for each call that the marked method itself makes.
    private void ReportReadOnly(CompilationAnalysisContext end, Body root)
    {
        foreach (var (body, first) in From(root, new HashSet<Body>()))
        {
            foreach (var (callee, where) in body.ActorCalls)
            {
                if (Unmarked(callee) is { } changing)
                {
                    Report(first ?? where, $"calls '{Show(changing)}', which does not carry it");
                }
            }

            if (first is not null && body.Writes.Any())
            {
                var member = body.Writes.First().Member;
                Report(first, $"calls '{Show(body.Method)}', which asks to change the state (State.{member})");
            }
        }

        void Report(SyntaxNode where, string what) => end.ReportDiagnostic(
            Diagnostic.Create(Rules.ReadOnlyReaches, where.GetLocation(), Show(root.Method), what));
    }

    /// <summary>A body and all that it reaches, each with the call in it that leads there.</summary>
    private IEnumerable<(Body Body, SyntaxNode? First)> From(Body root, HashSet<Body> reached)
    {
        var open = new Queue<(Body Body, SyntaxNode? First)>();
        if (reached.Add(root))
        {
            open.Enqueue((root, null));
        }

        while (open.Count > 0)
        {
            var (body, first) = open.Dequeue();
            yield return (body, first);
            foreach (var (callee, where) in body.Calls)
            {
                if (bodies.TryGetValue(callee, out var next) && reached.Add(next))
                {
                    open.Enqueue((next, first ?? where));
                }
            }
        }
    }

    // A class of this project that implements the called method without the mark; null: none is known.
    private IMethodSymbol? Unmarked(IMethodSymbol callee)
    {
        if (_unmarked.TryGetValue(callee, out var known))
        {
            return known;
        }

        IMethodSymbol? found = null;
        _actorTypes ??= bodies.Values.Where(static body => body.IsOfActor)
            .Select(static body => body.Method.ContainingType)
            .Distinct<INamedTypeSymbol>(SymbolEqualityComparer.Default)
            .OrderBy(static type => type.Name, StringComparer.Ordinal).ToList();
        foreach (var type in _actorTypes)
        {
            if (type.FindImplementationForInterfaceMember(callee) is IMethodSymbol implementation
                && !SymbolEqualityComparer.Default.Equals(implementation.ContainingAssembly, actors)
                && !Names.Has(implementation, Names.ReadOnlyAttribute))
            {
                found = implementation;
                break;
            }
        }

        _unmarked.Add(callee, found);
        return found;
    }
}
