using System.Collections.Concurrent;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.Diagnostics;
using Microsoft.CodeAnalysis.Operations;

namespace Snapper.Generators.Reading;

/// <summary>
/// Compares the calls of a method with its [Declares] function. Speaks only of what is certain: a function all of whose
/// additions can be seen names no actor of a type that the method calls, so that the call misses the declaration
/// whenever it is made.
/// </summary>
internal sealed class DeclaredCalls
{
    private readonly ConcurrentBag<(IMethodSymbol Function, ITypeSymbol? Contract)> _additions = new();
    private readonly ConcurrentDictionary<ISymbol, bool> _unseen = new(SymbolEqualityComparer.Default);
    private readonly ConcurrentBag<(IMethodSymbol Caller, INamedTypeSymbol Contract, Location Where)> _calls = new();
    private readonly ConcurrentBag<INamedTypeSymbol> _classes = new();

    public static void Register(CompilationStartAnalysisContext start)
    {
        var calls = new DeclaredCalls();
        start.RegisterOperationAction(calls.OnInvocation, OperationKind.Invocation);
        start.RegisterOperationAction(calls.OnParameter, OperationKind.ParameterReference);
        start.RegisterSymbolAction(symbol => calls.OnType((INamedTypeSymbol)symbol.Symbol), SymbolKind.NamedType);
        start.RegisterCompilationEndAction(calls.Report);
    }

    private void OnType(INamedTypeSymbol type)
    {
        if (type.TypeKind == TypeKind.Class && Names.Has(type, Names.ActorAttribute))
        {
            _classes.Add(type);
        }
    }

    private void OnInvocation(OperationAnalysisContext context)
    {
        var invocation = (IInvocationOperation)context.Operation;
        if (context.ContainingSymbol is not IMethodSymbol within)
        {
            return;
        }

        if (invocation.TargetMethod.ContainingType.ToDisplayString() == Names.Declaration
            && Names.Has(within, Names.DeclaresAttribute))
        {
            _additions.Add((within, invocation.TargetMethod.TypeArguments.FirstOrDefault()));
        }
        else if (invocation.Instance is IInvocationOperation made
            && made.TargetMethod is { Name: "Actor", IsGenericMethod: true } target
            && target.ContainingType.ToDisplayString() == Names.UntypedActor && made.Arguments.Length == 1
            && target.TypeArguments[0] is INamedTypeSymbol contract)
        {
            _calls.Add((within, contract, invocation.Syntax.GetLocation()));
        }
    }

    // A declaration that goes somewhere else is filled where this does not look.
    private void OnParameter(OperationAnalysisContext context)
    {
        var reference = (IParameterReferenceOperation)context.Operation;
        if (reference.Type?.ToDisplayString() == Names.Declaration
            && !(reference.Parent is IInvocationOperation { Instance: { } instance } && instance == reference))
        {
            _unseen[context.ContainingSymbol] = true;
        }
    }

    private void Report(CompilationAnalysisContext end)
    {
        foreach (var (caller, contract, where) in _calls)
        {
            if (FunctionOf(caller) is { } function && !_unseen.ContainsKey(function) && !MayDeclare(function, contract))
            {
                end.ReportDiagnostic(Diagnostic.Create(
                    Rules.CallUndeclared, where, Show(caller), contract.Name, Show(function)));
            }
        }
    }

    private static IMethodSymbol? FunctionOf(IMethodSymbol caller)
    {
        foreach (var function in caller.ContainingType.GetMembers().OfType<IMethodSymbol>())
        {
            if (!SymbolEqualityComparer.Default.Equals(function, caller)
                && Names.Find(function, Names.DeclaresAttribute) is { } attribute
                && DeclarationReader.NameOf(function, attribute) == caller.Name)
            {
                return function;
            }
        }

        return null;
    }

    private bool MayDeclare(IMethodSymbol function, INamedTypeSymbol contract)
    {
        foreach (var (within, declared) in _additions)
        {
            if (SymbolEqualityComparer.Default.Equals(within, function)
                && (declared is not INamedTypeSymbol named || AreOfOneType(named, contract)))
            {
                return true;
            }
        }

        return false;
    }

    // Two interfaces may mean one actor type: one that derives from the other, or both of one class.
    private bool AreOfOneType(INamedTypeSymbol first, INamedTypeSymbol second) =>
        SymbolEqualityComparer.Default.Equals(first, second)
        || first.AllInterfaces.Contains(second, SymbolEqualityComparer.Default)
        || second.AllInterfaces.Contains(first, SymbolEqualityComparer.Default)
        || _classes.Any(one => one.AllInterfaces.Contains(first, SymbolEqualityComparer.Default)
            && one.AllInterfaces.Contains(second, SymbolEqualityComparer.Default));

    private static string Show(IMethodSymbol method) => method.ContainingType.Name + "." + method.Name;
}
