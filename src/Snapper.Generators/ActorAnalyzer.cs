using System.Collections.Concurrent;
using System.Collections.Immutable;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.Diagnostics;
using Microsoft.CodeAnalysis.Operations;
using Snapper.Generators.Reading;

namespace Snapper.Generators;

/// <summary>
/// Warns of what compiles and is likely not meant. An analyzer, so that a warning can be suppressed where it stands.
/// </summary>
[DiagnosticAnalyzer(LanguageNames.CSharp)]
public sealed class ActorAnalyzer : DiagnosticAnalyzer
{
    /// <inheritdoc/>
    public override ImmutableArray<DiagnosticDescriptor> SupportedDiagnostics { get; } =
        ImmutableArray.Create(
            Rules.MarkedCallee, Rules.MissingAttribute, Rules.ReadOnlyWrites, Rules.CallUndeclared,
            Rules.DeclaresElsewhere, Rules.UpcastElsewhere, Rules.LeavesTransaction,
            Rules.NeverDeactivated);

    /// <inheritdoc/>
    public override void Initialize(AnalysisContext context)
    {
        context.ConfigureGeneratedCodeAnalysis(GeneratedCodeAnalysisFlags.None);
        context.EnableConcurrentExecution();
        context.RegisterSymbolAction(CheckAttribute, SymbolKind.NamedType);
        context.RegisterOperationAction(CheckReadOnly, OperationKind.Invocation);
        context.RegisterSymbolAction(CheckDeclares, SymbolKind.Method);
        context.RegisterSymbolAction(CheckUpcasts, SymbolKind.Method);
        context.RegisterOperationAction(CheckProxy, OperationKind.Invocation);
        context.RegisterSymbolAction(CheckDeactivation, SymbolKind.Method);
        context.RegisterCompilationStartAction(DeclaredCalls.Register);
        context.RegisterCompilationStartAction(static start =>
        {
            var calls = new ConcurrentBag<(IMethodSymbol Caller, IMethodSymbol Callee, Location Where)>();
            var marked = new ConcurrentBag<IMethodSymbol>();
            start.RegisterOperationAction(operation => Collect(operation, calls), OperationKind.Invocation);
            start.RegisterSymbolAction(symbol => CollectMarked((INamedTypeSymbol)symbol.Symbol, marked), SymbolKind.NamedType);
            start.RegisterCompilationEndAction(end =>
            {
                var callees = marked.ToImmutableHashSet<IMethodSymbol>(SymbolEqualityComparer.Default);
                foreach (var (caller, callee, where) in calls)
                {
                    if (callees.Contains(callee))
                    {
                        end.ReportDiagnostic(Diagnostic.Create(Rules.MarkedCallee, where, Show(caller), Show(callee)));
                    }
                }
            });
        });
    }

    private static string Show(IMethodSymbol method) => method.ContainingType.Name + "." + method.Name;

    // A1: the mark belongs to the root; a marked callee under an unmarked root counts as unmarked.
    private static void Collect(OperationAnalysisContext context, ConcurrentBag<(IMethodSymbol Caller, IMethodSymbol Callee, Location Where)> calls)
    {
        var invocation = (IInvocationOperation)context.Operation;
        if (context.ContainingSymbol is IMethodSymbol caller
            && Names.IsContract(invocation.TargetMethod.ContainingType)
            && !Names.Has(caller, Names.MayAbortAttribute)
            && ContractMethodsOf(caller).Any())
        {
            calls.Add((caller, invocation.TargetMethod, invocation.Syntax.GetLocation()));
        }
    }

    // The interface methods that classes of this project implement with [MayAbort].
    private static void CollectMarked(INamedTypeSymbol type, ConcurrentBag<IMethodSymbol> marked)
    {
        foreach (var method in type.GetMembers().OfType<IMethodSymbol>())
        {
            if (Names.Has(method, Names.MayAbortAttribute))
            {
                foreach (var contractMethod in ContractMethodsOf(method))
                {
                    marked.Add(contractMethod);
                }
            }
        }
    }

    private static IEnumerable<IMethodSymbol> ContractMethodsOf(IMethodSymbol method) =>
        from contract in method.ContainingType.AllInterfaces
        where Names.IsContract(contract)
        from candidate in contract.GetMembers().OfType<IMethodSymbol>()
        where SymbolEqualityComparer.Default.Equals(method.ContainingType.FindImplementationForInterfaceMember(candidate), method)
        select candidate;

    private static void CheckReadOnly(OperationAnalysisContext context)
    {
        var invocation = (IInvocationOperation)context.Operation;
        if (invocation.TargetMethod is { Name: "ForUpdate" or "Set", ContainingType: { Name: "ActorState" } state }
            && state.OriginalDefinition.ToDisplayString() == Names.State
            && context.ContainingSymbol is IMethodSymbol method
            && Names.Has(method, Names.ReadOnlyAttribute))
        {
            context.ReportDiagnostic(Diagnostic.Create(Rules.ReadOnlyWrites, invocation.Syntax.GetLocation(), Show(method), invocation.TargetMethod.Name));
        }
    }

    private static void CheckDeclares(SymbolAnalysisContext context)
    {
        if (Names.Has(context.Symbol, Names.DeclaresAttribute)
            && !Names.Has(context.Symbol.ContainingType, Names.ActorAttribute)
            && !Names.IsCompatibleActor(context.Symbol.ContainingType))
        {
            context.ReportDiagnostic(Diagnostic.Create(
                Rules.DeclaresElsewhere, context.Symbol.Locations[0], Show((IMethodSymbol)context.Symbol),
                context.Symbol.ContainingType.Name));
        }
    }

    private static void CheckUpcasts(SymbolAnalysisContext context)
    {
        var type = context.Symbol.ContainingType;
        if (Names.Has(context.Symbol, Names.UpcastsAttribute)
            && !Names.Has(type, Names.StateVersionAttribute)
            && !(Names.Has(type, Names.ActorAttribute)
                && Names.Has(Names.ActorBaseOf(type)?.TypeArguments[0], Names.StateVersionAttribute)))
        {
            context.ReportDiagnostic(Diagnostic.Create(
                Rules.UpcastElsewhere, context.Symbol.Locations[0], Show((IMethodSymbol)context.Symbol), type.Name));
        }
    }

    private static void CheckProxy(OperationAnalysisContext context)
    {
        var target = ((IInvocationOperation)context.Operation).TargetMethod;
        if (target.Name is "Create" or "CreateActorProxy"
            && target.ContainingType.ToDisplayString() is (Names.DaprProxy or Names.DaprProxyFactory) and var sdk
            && context.ContainingSymbol.ContainingType is { } within
            && Names.IsCompatibleActor(within))
        {
            context.ReportDiagnostic(Diagnostic.Create(
                Rules.LeavesTransaction, context.Operation.Syntax.GetLocation(),
                within.Name + "." + context.ContainingSymbol.Name, sdk.Substring(sdk.LastIndexOf('.') + 1)));
        }
    }

    private static void CheckDeactivation(SymbolAnalysisContext context)
    {
        if (context.Symbol is IMethodSymbol { Name: "OnDeactivateAsync", IsOverride: true } method
            && Names.IsCompatibleActor(method.ContainingType))
        {
            context.ReportDiagnostic(Diagnostic.Create(
                Rules.NeverDeactivated, method.Locations[0], Show(method)));
        }
    }

    private static void CheckAttribute(SymbolAnalysisContext context)
    {
        var type = (INamedTypeSymbol)context.Symbol;
        if (type.TypeKind == TypeKind.Class
            && ActorReader.Obstacle(type) is null
            && Names.ActorBaseOf(type) is not null
            && type.AllInterfaces.Any(Names.IsContract)
            && !Names.Has(type, Names.ActorAttribute)
            && !Names.IsCompatibleActor(type))
        {
            context.ReportDiagnostic(Diagnostic.Create(Rules.MissingAttribute, type.Locations[0], type.Name));
        }
    }
}
