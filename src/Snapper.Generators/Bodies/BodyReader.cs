using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp.Syntax;
using Microsoft.CodeAnalysis.Operations;

namespace Snapper.Generators.Bodies;

/// <summary>Finds what single operations change, and what a try statement swallows.</summary>
internal static class BodyReader
{
    private static readonly HashSet<string> s_changes = new(StringComparer.Ordinal)
    {
        "Add", "AddRange", "AddOrUpdate", "TryAdd", "Remove", "RemoveAll", "RemoveAt", "RemoveWhere", "TryRemove",
        "TryUpdate", "Clear", "Insert", "Enqueue", "Dequeue", "TryDequeue", "Push", "Pop", "TryPop", "TryTake",
        "UnionWith", "ExceptWith", "IntersectWith", "SymmetricExceptWith",
    };

    /// <summary>A collection that is changed by this call; null: none is.</summary>
    public static IOperation? Changed(IInvocationOperation invocation) =>
        invocation.Instance is { } instance && s_changes.Contains(invocation.TargetMethod.Name)
        && IsMutableCollection(invocation.TargetMethod.ContainingType)
            ? instance
            : null;

    /// <summary>A variable of a class that a write changes: the static or the actor's own; null: neither.</summary>
    /// <param name="target">What is written.</param>
    /// <param name="isStatic">It is static.</param>
    public static ISymbol? Variable(IOperation target, out bool isStatic)
    {
        isStatic = false;
        switch (target)
        {
            case IFieldReferenceOperation { Field.IsConst: false } field:
                isStatic = field.Field.IsStatic;
                return isStatic || IsThis(field.Instance) ? field.Field : null;
            case IPropertyReferenceOperation { Property.IsIndexer: true, Instance: { } collection } indexed
                when IsMutableCollection(indexed.Property.ContainingType):
                // An element of the actor's own list is no variable of the actor.
                return Variable(collection, out isStatic) is { } held && isStatic ? held : null;
            case IPropertyReferenceOperation { Property.IsIndexer: false } property:
                isStatic = property.Property.IsStatic;
                return isStatic || IsThis(property.Instance) ? property.Property : null;
            case IParameterReferenceOperation parameter:
                return IsCaptured(parameter.Parameter) ? parameter.Parameter : null;
            case IArrayElementReferenceOperation element:
                return Variable(element.ArrayReference, out isStatic) is { } array && isStatic ? array : null;
            default:
                return null;
        }
    }

    /// <summary>What is swallowed, by its name; null: nothing is.</summary>
    /// <param name="statement">The statement.</param>
    /// <param name="where">Of the catch.</param>
    public static string? Swallowed(ITryOperation statement, out SyntaxNode where)
    {
        where = statement.Syntax;
        if (statement.Catches.IsEmpty || !statement.Body.Descendants().Any(MayFail))
        {
            return null;
        }

        var aborts = false; // let pass by an earlier clause
        foreach (var clause in statement.Catches)
        {
            var isDoom = IsOfActors(clause.ExceptionType, "TransactionDoomedException");
            var isAll = clause.ExceptionType is { SpecialType: SpecialType.System_Object } or null
                || IsException(clause.ExceptionType);
            var throws = clause.Handler.Descendants().Any(static one => one is IThrowOperation);
            if (clause.Filter is not null || !(isDoom || isAll
                || IsOfActors(clause.ExceptionType, "TransactionAbortException")))
            {
                continue;
            }

            if (!throws && !(isAll && aborts))
            {
                where = clause.Syntax;
                return clause.Syntax is CatchClauseSyntax { Declaration.Type: { } type } ? type.ToString() : "catch";
            }

            aborts |= throws && (isDoom || isAll);
        }

        return null;
    }

    /// <summary>The call leaves the thread to which it came: <c>ConfigureAwait(false)</c>.</summary>
    public static bool LeavesThread(IInvocationOperation invocation) =>
        invocation.TargetMethod.Name == "ConfigureAwait"
        && invocation.TargetMethod.ContainingType.ContainingNamespace.ToDisplayString() == "System.Threading.Tasks"
        && invocation.Arguments.Length > 0
        && invocation.Arguments.Last().Value.ConstantValue is { HasValue: true, Value: var value }
        && value switch { bool stays => !stays, int options => (options & 1) == 0, _ => false };

    /// <summary>The operation asks to change a state.</summary>
    public static bool IsWrite(IMethodSymbol method) =>
        method is { Name: "ForUpdate" or "Set", ContainingType: { Name: "ActorState" } state }
        && state.OriginalDefinition.ToDisplayString() == Names.State;

    // Not what an initializer is making, nor what an anonymous object is.
    private static bool IsThis(IOperation? instance) =>
        instance is IInstanceReferenceOperation { ReferenceKind: InstanceReferenceKind.ContainingTypeInstance };

    private static bool MayFail(IOperation operation) => operation switch
    {
        IInvocationOperation { TargetMethod: { } target } => Names.IsContract(target.ContainingType)
            || target.ContainingType.OriginalDefinition.ToDisplayString() == Names.State,
        IThrowOperation { Exception: { } thrown } =>
            IsOfActors(Unconverted(thrown).Type, "TransactionAbortException"),
        _ => false,
    };

    private static IOperation Unconverted(IOperation value) =>
        value is IConversionOperation { IsImplicit: true } conversion ? conversion.Operand : value;

    private static bool IsOfActors(ITypeSymbol? type, string name) =>
        type?.Name == name && type.ContainingNamespace.ToDisplayString() == "Snapper.Actors";

    private static bool IsException(ITypeSymbol? type) =>
        type?.Name == "Exception" && type.ContainingNamespace.ToDisplayString() == "System";

    private static bool IsMutableCollection(INamedTypeSymbol type) =>
        type.ContainingNamespace?.ToDisplayString()
            is "System.Collections.Generic" or "System.Collections.Concurrent" or "System.Collections";

    // A parameter of a primary constructor that a method changes is a field of the object.
    private static bool IsCaptured(IParameterSymbol parameter) =>
        parameter.ContainingSymbol is IMethodSymbol { MethodKind: MethodKind.Constructor } made
        && made.DeclaringSyntaxReferences.Any(static one => one.GetSyntax() is TypeDeclarationSyntax);
}
