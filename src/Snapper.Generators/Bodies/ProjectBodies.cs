using System.Collections.Concurrent;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.Diagnostics;
using Microsoft.CodeAnalysis.Operations;

namespace Snapper.Generators.Bodies;

/// <summary>
/// The methods of one project: each operation is seen once, where the compiler has it anyway. What an actor class does
/// is reported at once. At the end the calls are followed from actor classes, each method once, and only if there is
/// something to reach.
/// </summary>
internal sealed class ProjectBodies(Compilation compilation, INamedTypeSymbol actorBase)
{
    private readonly ForbiddenApis _forbidden = new(compilation);
    private readonly ConcurrentDictionary<IMethodSymbol, Body> _bodies = new(SymbolEqualityComparer.Default);
    private readonly ConcurrentDictionary<INamedTypeSymbol, bool> _isActor = new(SymbolEqualityComparer.Default);

    public void Register(CompilationStartAnalysisContext start)
    {
        start.RegisterOperationAction(OnInvocation, OperationKind.Invocation);
        start.RegisterOperationAction(OnMember, OperationKind.ObjectCreation, OperationKind.PropertyReference,
            OperationKind.MethodReference);
        start.RegisterOperationAction(OnWrite, OperationKind.SimpleAssignment, OperationKind.CompoundAssignment,
            OperationKind.CoalesceAssignment, OperationKind.Increment, OperationKind.Decrement,
            OperationKind.DeconstructionAssignment, OperationKind.Argument);
        start.RegisterOperationAction(OnTry, OperationKind.Try);
        start.RegisterCompilationEndAction(end => new Reaches(_bodies, actorBase.ContainingAssembly).Report(end));
    }

    private void OnInvocation(OperationAnalysisContext context)
    {
        var invocation = (IInvocationOperation)context.Operation;
        var target = invocation.TargetMethod;
        if (BodyReader.LeavesThread(invocation))
        {
            Use(context, Rules.Continuation, "ConfigureAwait");
        }
        else if (Names.IsContract(target.ContainingType))
        {
            BodyOf(context)?.AddActorCall(target, invocation.Syntax);
        }
        else if (BodyReader.IsWrite(target))
        {
            BodyOf(context)?.AddWrite(target.Name, invocation.Syntax);
        }
        else
        {
            Member(context, target);
        }

        if (BodyReader.Changed(invocation) is { } collection
            && BodyReader.Variable(collection, out var isStatic) is { } variable && isStatic)
        {
            Use(context, Rules.StaticWritten, variable.Name);
        }
    }

    private void OnMember(OperationAnalysisContext context)
    {
        switch (context.Operation)
        {
            case IObjectCreationOperation { Constructor: { } constructor }:
                Member(context, constructor);
                break;
            case IPropertyReferenceOperation { Property: var property }:
                Member(context, property);
                break;
            case IMethodReferenceOperation { Method: var method }:
                Member(context, method);
                break;
            default:
                break;
        }
    }

    private void Member(OperationAnalysisContext context, ISymbol member)
    {
        if (SymbolEqualityComparer.Default.Equals(member.ContainingAssembly, compilation.Assembly))
        {
            Call(context, member);
        }
        else if (_forbidden.RuleOf(member) is { } rule)
        {
            var name = member.Name == ".ctor" ? "new " + member.ContainingType.Name
                : member.ContainingType.Name + "." + member.Name;
            Use(context, rule, name);
        }
    }

    private void Call(OperationAnalysisContext context, ISymbol member)
    {
        switch (member)
        {
            case IMethodSymbol { MethodKind: not MethodKind.LocalFunction } method:
                BodyOf(context)?.AddCall(Declared(method), context.Operation.Syntax);
                break;
            case IPropertySymbol property when BodyOf(context) is { } body:
                foreach (var accessor in new[] { property.GetMethod, property.SetMethod })
                {
                    if (accessor is not null)
                    {
                        body.AddCall(Declared(accessor), context.Operation.Syntax);
                    }
                }

                break;
            default:
                break;
        }
    }

    private void OnWrite(OperationAnalysisContext context)
    {
        switch (context.Operation)
        {
            case IArgumentOperation { Parameter: { RefKind: RefKind.Ref or RefKind.Out } parameter, Value: var value }
                when parameter.ContainingSymbol.Name != "Read":
                Write(context, value);
                break;
            case IArgumentOperation:
                break;
            case IDeconstructionAssignmentOperation { Target: ITupleOperation tuple }:
                foreach (var element in tuple.Elements)
                {
                    Write(context, element);
                }

                break;
            case IAssignmentOperation { Parent: not IObjectOrCollectionInitializerOperation } assignment:
                Write(context, assignment.Target);
                break;
            case IIncrementOrDecrementOperation step:
                Write(context, step.Target);
                break;
            default:
                break;
        }
    }

    private void Write(OperationAnalysisContext context, IOperation target)
    {
        if (BodyReader.Variable(target, out var isStatic) is not { } variable || IsMaking(context.ContainingSymbol))
        {
            return;
        }

        if (isStatic)
        {
            Use(context, Rules.StaticWritten, variable.Name);
        }
        else if (context.ContainingSymbol.ContainingType is { } type && IsActor(type)
            && !IsBeforeEachCall(context.ContainingSymbol))
        {
            Report(context, Rules.FieldWritten, variable.Name, context.Operation.Syntax);
        }
    }

    private void OnTry(OperationAnalysisContext context)
    {
        if (BodyReader.Swallowed((ITryOperation)context.Operation, out var where) is { } what)
        {
            Use(context, Rules.AbortSwallowed, what, where);
        }
    }

    private void Use(OperationAnalysisContext context, DiagnosticDescriptor rule, string what, SyntaxNode? where = null)
    {
        where ??= context.Operation.Syntax;
        if (context.ContainingSymbol.ContainingType is { } type && IsActor(type))
        {
            Report(context, rule, what, where);
        }
        else
        {
            BodyOf(context)?.AddUse(new Use(rule, what, where));
        }
    }

    private static void Report(
        OperationAnalysisContext context, DiagnosticDescriptor rule, string what, SyntaxNode where) =>
        context.ReportDiagnostic(
            Diagnostic.Create(rule, where.GetLocation(), Reaches.Show(context.ContainingSymbol), what, ""));

    // Null: an initializer of a field, say.
    private Body? BodyOf(OperationAnalysisContext context)
    {
        if (context.ContainingSymbol is not IMethodSymbol method)
        {
            return null;
        }

        method = Declared(method);
        return _bodies.TryGetValue(method, out var body)
            ? body
            : _bodies.GetOrAdd(method, new Body(method, IsActor(method.ContainingType)));
    }

    private static IMethodSymbol Declared(IMethodSymbol method)
    {
        method = (method.ReducedFrom ?? method).OriginalDefinition;
        return method.PartialImplementationPart ?? method;
    }

    // What was a plain Dapr actor may fill its fields where its base class lets it before each call.
    private static bool IsBeforeEachCall(ISymbol containing) =>
        containing is IMethodSymbol { IsOverride: true, Name: "OnActivateAsync" or "OnPreActorMethodAsync" }
        && Names.IsCompatibleActor(containing.ContainingType);

    private static bool IsMaking(ISymbol containing) => containing is not IMethodSymbol
    {
        MethodKind: not (MethodKind.Constructor or MethodKind.StaticConstructor),
    };

    private bool IsActor(INamedTypeSymbol type)
    {
        if (_isActor.TryGetValue(type, out var known))
        {
            return known;
        }

        var isActor = false;
        for (var one = type.BaseType; one is not null && !isActor; one = one.BaseType)
        {
            isActor = SymbolEqualityComparer.Default.Equals(one, actorBase);
        }

        _isActor.TryAdd(type, isActor);
        return isActor;
    }
}
