using System.Collections.Immutable;
using System.Composition;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CodeActions;
using Microsoft.CodeAnalysis.CodeFixes;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Snapper.Generators.CodeFixes;

/// <summary>
/// Puts the context's time, ids and waits in the place of others, takes <c>ConfigureAwait(false)</c> away, and lets a
/// swallowed abort pass: in actor classes, where there is a context.
/// </summary>
[ExportCodeFixProvider(LanguageNames.CSharp, Name = nameof(BodyCodeFix))]
[Shared]
public sealed class BodyCodeFix : CodeFixProvider
{
    private const string ActorBase = "Snapper.Actors.TransactionalActor";

    /// <inheritdoc/>
    public override ImmutableArray<string> FixableDiagnosticIds { get; } =
        ImmutableArray.Create("SNAP201", "SNAP202", "SNAP204", "SNAP206", "SNAP209");

    /// <inheritdoc/>
    public override FixAllProvider GetFixAllProvider() => WellKnownFixAllProviders.BatchFixer;

    /// <inheritdoc/>
    public override async Task RegisterCodeFixesAsync(CodeFixContext context)
    {
        var document = context.Document;
        var root = await document.GetSyntaxRootAsync(context.CancellationToken).ConfigureAwait(false);
        var semantics = await document.GetSemanticModelAsync(context.CancellationToken).ConfigureAwait(false);
        if (root is null || semantics is null)
        {
            return;
        }

        foreach (var diagnostic in context.Diagnostics)
        {
            var node = root.FindNode(diagnostic.Location.SourceSpan, getInnermostNodeForTie: true);
            if (Find(node, diagnostic.Id, semantics) is not var (title, old, next))
            {
                continue;
            }

            var replaced = root.ReplaceNode(old, next.WithTriviaFrom(old));
            context.RegisterCodeFix(
                CodeAction.Create(
                    title, _ => Task.FromResult(document.WithSyntaxRoot(replaced)), diagnostic.Id + title),
                diagnostic);
        }
    }

    private static (string Title, SyntaxNode Old, SyntaxNode New)? Find(
        SyntaxNode node, string rule, SemanticModel semantics)
    {
        switch (rule)
        {
            case "SNAP204" when node is InvocationExpressionSyntax
            {
                Expression: MemberAccessExpressionSyntax { Name.Identifier.Text: "ConfigureAwait" } awaited,
            }:
                return ("Take ConfigureAwait away", node, awaited.Expression);
            case "SNAP209" when node is CatchClauseSyntax clause:
                return ("Throw it again", clause, Rethrowing(clause));
            case "SNAP201" or "SNAP202" or "SNAP206" when HasContext(node, semantics):
                return OfContext(node, semantics);
            default:
                return null;
        }
    }

    private static (string Title, SyntaxNode Old, SyntaxNode New)? OfContext(SyntaxNode node, SemanticModel semantics)
    {
        var member = semantics.GetSymbolInfo(node).Symbol;
        var next = (member?.ContainingType?.Name, member?.Name) switch
        {
            ("DateTimeOffset", "UtcNow" or "Now") => "Context.UtcNow",
            ("DateTime", "UtcNow") => "Context.UtcNow.UtcDateTime",
            ("TimeProvider", "GetUtcNow") when node is InvocationExpressionSyntax => "Context.UtcNow",
            ("Guid", "NewGuid") => node is InvocationExpressionSyntax ? "Context.NewGuid()" : "Context.NewGuid",
            _ => null,
        };
        if (next is not null)
        {
            return ("Use " + next, node, SyntaxFactory.ParseExpression(next));
        }

        // Task.Delay of one argument: milliseconds, or a span of time.
        if (node is not InvocationExpressionSyntax { ArgumentList.Arguments: { Count: 1 } arguments }
            || (member?.ContainingType?.Name, member?.Name) is not ("Task", "Delay"))
        {
            return null;
        }

        var delay = arguments[0].Expression;
        if (semantics.GetTypeInfo(delay).Type?.SpecialType == SpecialType.System_Int32)
        {
            delay = SyntaxFactory.ParseExpression($"TimeSpan.FromMilliseconds({delay.WithoutTrivia()})");
        }

        return ("Use Context.Delay", node, SyntaxFactory.ParseExpression($"Context.Delay({delay.WithoutTrivia()})"));
    }

    // With the statements that it has, and as its last one.
    private static CatchClauseSyntax Rethrowing(CatchClauseSyntax clause)
    {
        var statements = clause.Block.Statements;
        var kept = statements.Count > 0 && statements[statements.Count - 1] is ReturnStatementSyntax
            ? statements.RemoveAt(statements.Count - 1)
            : statements;
        var rethrow = SyntaxFactory.ThrowStatement()
            .WithAdditionalAnnotations(Microsoft.CodeAnalysis.Formatting.Formatter.Annotation);
        return clause.WithBlock(clause.Block.WithStatements(kept.Add(rethrow)));
    }

    // Not in a static method, nor where the class is made.
    private static bool HasContext(SyntaxNode node, SemanticModel semantics)
    {
        if (semantics.GetEnclosingSymbol(node.SpanStart) is not { } enclosing)
        {
            return false;
        }

        for (var symbol = enclosing; symbol is not INamedTypeSymbol; symbol = symbol.ContainingSymbol)
        {
            if (symbol is null or IFieldSymbol || symbol.IsStatic
                || symbol is IMethodSymbol { MethodKind: MethodKind.Constructor })
            {
                return false;
            }
        }

        for (var type = enclosing.ContainingType?.BaseType; type is not null; type = type.BaseType)
        {
            if (type.ToDisplayString() == ActorBase)
            {
                return true;
            }
        }

        return false;
    }
}
