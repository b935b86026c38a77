using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.Operations;

namespace Snapper.Generators.Reading;

/// <summary>
/// Proves that a [Declares] function ends soon, whatever its input: then the worker runs it where the request comes in.
/// What cannot be proven runs on a thread of its own, which costs more and is never wrong.
/// </summary>
/// <remarks>
/// Proven is a body that does nothing but add to its declaration, read properties that are mere fields, compare,
/// choose, write texts together, and go once through each of a list or an array, not within another. It calls no other
/// code that could wait, loop or call back.
/// </remarks>
internal static class DeclarationProof
{
    // JSON makes lists and arrays of the interfaces; code of a converter that makes something else runs where inputs
    // are read already.
    private static readonly HashSet<string> Lists = new(StringComparer.Ordinal)
    {
        "System.Collections.Generic.IReadOnlyList<T>", "System.Collections.Generic.IReadOnlyCollection<T>",
        "System.Collections.Generic.IEnumerable<T>",
        "System.Collections.Generic.IList<T>", "System.Collections.Generic.ICollection<T>",
        "System.Collections.Generic.List<T>", "System.Collections.Immutable.ImmutableArray<T>",
        "System.Collections.Immutable.ImmutableList<T>",
    };

    public static bool IsBounded(IMethodSymbol function, Compilation compilation, CancellationToken cancellation)
    {
        if (function.DeclaringSyntaxReferences.Length != 1)
        {
            return false;
        }

        var syntax = function.DeclaringSyntaxReferences[0].GetSyntax(cancellation);
        var model = compilation.GetSemanticModel(syntax.SyntaxTree);
        return model.GetOperation(syntax, cancellation) is IMethodBodyOperation body
            && Are(body.ChildOperations, inLoop: false);
    }

    private static bool Are(IOperation.OperationList operations, bool inLoop)
    {
        foreach (var operation in operations)
        {
            if (!Is(operation, inLoop))
            {
                return false;
            }
        }

        return true;
    }

    private static bool Is(IOperation operation, bool inLoop) => operation switch
    {
        IForEachLoopOperation loop => !inLoop && IsList(loop.Collection) && Is(loop.Collection, inLoop)
            && Is(loop.Body, inLoop: true),
        ILoopOperation => false,
        IBlockOperation or IExpressionStatementOperation or IReturnOperation or IConditionalOperation
            or IArgumentOperation or IVariableDeclarationGroupOperation or IVariableDeclarationOperation
            or IVariableDeclaratorOperation or IVariableInitializerOperation or ILiteralOperation
            or IParameterReferenceOperation or ILocalReferenceOperation or IDefaultValueOperation or IEmptyOperation
            or INameOfOperation or IIsPatternOperation or IConstantPatternOperation or INegatedPatternOperation
            or ICoalesceOperation or IConditionalAccessOperation or IConditionalAccessInstanceOperation
            or IParenthesizedOperation or IInterpolatedStringOperation or IInterpolatedStringTextOperation
            => Are(operation.ChildOperations, inLoop),
        IInterpolationOperation hole => IsPlain(hole.Expression.Type) && Are(operation.ChildOperations, inLoop),
        IBranchOperation branch => branch.BranchKind is BranchKind.Break or BranchKind.Continue,
        IBinaryOperation binary => IsBuiltIn(binary.OperatorMethod) && IsPlain(binary.LeftOperand.Type)
            && IsPlain(binary.RightOperand.Type)
            && Are(operation.ChildOperations, inLoop),
        IUnaryOperation unary => IsBuiltIn(unary.OperatorMethod) && Are(operation.ChildOperations, inLoop),
        IConversionOperation conversion => conversion.OperatorMethod is null && Are(operation.ChildOperations, inLoop),
        IInvocationOperation call => call.TargetMethod.ContainingType.ToDisplayString() == Names.Declaration
            && Are(operation.ChildOperations, inLoop),
        IPropertyReferenceOperation property => IsField(property.Property) && Are(operation.ChildOperations, inLoop),
        IFieldReferenceOperation field => field.Field.IsConst
            || (!field.Field.IsStatic && Are(operation.ChildOperations, inLoop)),
        _ => false,
    };

    private static bool IsList(IOperation collection)
    {
        while (collection is IConversionOperation { IsImplicit: true, OperatorMethod: null } conversion)
        {
            collection = conversion.Operand;
        }

        return collection.Type is IArrayTypeSymbol { Rank: 1 }
            || (collection.Type is INamedTypeSymbol named
                && Lists.Contains(named.OriginalDefinition.ToDisplayString()));
    }

    private static bool IsBuiltIn(IMethodSymbol? method) => method is null
        || method.ContainingType.SpecialType == SpecialType.System_String;

    // No code of the project's runs when it is compared, or written as a text.
    private static bool IsPlain(ITypeSymbol? type) =>
        type is null || type.TypeKind == TypeKind.Enum
        || type.SpecialType is >= SpecialType.System_Boolean and <= SpecialType.System_String
        || (type is INamedTypeSymbol { OriginalDefinition.SpecialType: SpecialType.System_Nullable_T } nullable
            && IsPlain(nullable.TypeArguments[0]));

    private static bool IsField(IPropertySymbol property)
    {
        if (property.IsIndexer || property.IsStatic || property.IsVirtual || property.IsAbstract || property.IsOverride)
        {
            return false;
        }

        var type = property.ContainingType;
        return type.SpecialType == SpecialType.System_String
            || type.OriginalDefinition.SpecialType == SpecialType.System_Nullable_T
            || type.ToDisplayString() == Names.Declaration
            || Lists.Contains(type.OriginalDefinition.ToDisplayString())
            // of another assembly
            || Names.Has(property.GetMethod, "System.Runtime.CompilerServices.CompilerGeneratedAttribute")
            || (type.Locations.Any(static one => one.IsInSource)
                && type.GetMembers().OfType<IFieldSymbol>().Any(field =>
                    SymbolEqualityComparer.Default.Equals(field.AssociatedSymbol, property)));
    }
}
