using System.Collections.Immutable;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.Diagnostics;
using Snapper.Generators.Bodies;

namespace Snapper.Generators;

/// <summary>
/// Warns of what methods of actors may not do: clocks, randomness, threads, effects outside, state outside of State,
/// swallowed aborts. In an actor class where it stands; elsewhere in the project when a method of an actor reaches it.
/// </summary>
[DiagnosticAnalyzer(LanguageNames.CSharp)]
public sealed class BodyAnalyzer : DiagnosticAnalyzer
{
    private static readonly ImmutableArray<DiagnosticDescriptor> s_rules = ImmutableArray.Create(
        Rules.Clock, Rules.Randomness, Rules.Threads, Rules.Continuation, Rules.Outside, Rules.Waiting,
        Rules.StaticWritten, Rules.AbortSwallowed);

    /// <inheritdoc/>
    public override ImmutableArray<DiagnosticDescriptor> SupportedDiagnostics { get; } =
        s_rules.AddRange(s_rules.Select(Rules.AtEnd)).Add(Rules.FieldWritten).Add(Rules.ReadOnlyReaches);

    /// <inheritdoc/>
    public override void Initialize(AnalysisContext context)
    {
        context.ConfigureGeneratedCodeAnalysis(GeneratedCodeAnalysisFlags.None);
        context.EnableConcurrentExecution();
        context.RegisterCompilationStartAction(static start =>
        {
            if (start.Compilation.GetTypeByMetadataName(Names.UntypedActor) is { } actorBase)
            {
                new ProjectBodies(start.Compilation, actorBase).Register(start);
            }
        });
    }
}
