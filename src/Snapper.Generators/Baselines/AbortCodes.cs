using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp.Syntax;
using Microsoft.CodeAnalysis.Operations;

namespace Snapper.Generators.Baselines;

/// <summary>Finds the codes of aborts in an actor class: those that are constants.</summary>
internal static class AbortCodes
{
    public static IEnumerable<string> Of(
        INamedTypeSymbol actor, Compilation compilation, CancellationToken cancellation)
    {
        foreach (var reference in actor.DeclaringSyntaxReferences)
        {
            var syntax = reference.GetSyntax(cancellation);
            var model = compilation.GetSemanticModel(syntax.SyntaxTree);
            foreach (var node in syntax.DescendantNodes())
            {
                if (node is InvocationExpressionSyntax { ArgumentList.Arguments.Count: > 1 }
                    or BaseObjectCreationExpressionSyntax { ArgumentList.Arguments.Count: > 1 }
                    && model.GetOperation(node, cancellation) is { } operation
                    && CodeOf(operation) is { } code)
                {
                    yield return code;
                }
            }
        }
    }

    private static string? CodeOf(IOperation operation)
    {
        var arguments = operation switch
        {
            IInvocationOperation { TargetMethod: { Name: "Abort" } method } call
                when method.ContainingType.ToDisplayString() == Names.UntypedActor => call.Arguments,
            IObjectCreationOperation made when made.Type?.ToDisplayString() == Names.AbortException => made.Arguments,
            _ => default,
        };
        if (arguments.IsDefault)
        {
            return null;
        }

        foreach (var argument in arguments)
        {
            if (argument.Parameter?.Name == "code")
            {
                return argument.Value.ConstantValue.Value is string { Length: > 0 } code ? code : null;
            }
        }

        return null;
    }
}
