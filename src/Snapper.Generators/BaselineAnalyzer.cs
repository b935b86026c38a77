using System.Collections.Immutable;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.Diagnostics;
using Snapper.Generators.Baselines;

namespace Snapper.Generators;

/// <summary>
/// Compares the actor types of a project with the file <c>snapper.contracts.txt</c> beside it. Without the file there
/// is nothing to compare with.
/// </summary>
[DiagnosticAnalyzer(LanguageNames.CSharp)]
public sealed class BaselineAnalyzer : DiagnosticAnalyzer
{
    /// <inheritdoc/>
    public override ImmutableArray<DiagnosticDescriptor> SupportedDiagnostics { get; } = ImmutableArray.Create(
        Rules.ContractBroken, Rules.ContractNew, Rules.StateFormBroken, Rules.BaselineUnreadable);

    /// <inheritdoc/>
    public override void Initialize(AnalysisContext context)
    {
        context.ConfigureGeneratedCodeAnalysis(GeneratedCodeAnalysisFlags.None);
        context.EnableConcurrentExecution();
        context.RegisterCompilationAction(Compare);
    }

    private static void Compare(CompilationAnalysisContext context)
    {
        var file = context.Options.AdditionalFiles.FirstOrDefault(static one => BaselineGenerator.IsBaseline(one.Path));
        var accepted = BaselineGenerator.Accepted(context.Options.AnalyzerConfigOptionsProvider.GlobalOptions);
        if (file?.GetText(context.CancellationToken) is not { } text || accepted == Acceptance.WithStates)
        {
            return;
        }

        var lines = text.Lines.Select(static line => line.ToString()).ToList();
        var old = Baseline.Parse(lines, out var wrong);
        if (wrong >= 0)
        {
            if (accepted == Acceptance.None)
            {
                var span = text.Lines[wrong].Span;
                context.ReportDiagnostic(Diagnostic.Create(
                    Rules.BaselineUnreadable, Location.Create(file.Path, span, text.Lines.GetLinePositionSpan(span)),
                    Baseline.Number(wrong + 1), lines[wrong].Trim()));
            }

            return;
        }

        var now = BaselineReader.Read(context.Compilation, context.CancellationToken, out var places);
        var differences = Comparison.Between(old, now);
        var inFile = Location.Create(file.Path, default, default);
        foreach (var one in differences)
        {
            if (accepted == Acceptance.None || one.Kind == DifferenceKind.State)
            {
                var key = one.Method is null ? one.Actor : one.Actor + "." + one.Method;
                var where = PlaceOf(key, places) ?? PlaceOf(one.Actor, places) ?? inFile;
                context.ReportDiagnostic(Diagnostic.Create(RuleOf(one.Kind), where, key, one.Text));
            }
        }

        if (differences.Count == 0 && accepted == Acceptance.None && old.Render() != now.Render())
        {
            context.ReportDiagnostic(Diagnostic.Create(
                Rules.ContractNew, inFile, Baseline.FileName, "C# types have other names, or stand elsewhere"));
        }
    }

    // A method of an interface may stand in another project.
    private static Location? PlaceOf(string key, IReadOnlyDictionary<string, ISymbol> places) =>
        places.TryGetValue(key, out var symbol)
            ? symbol.Locations.FirstOrDefault(static one => one.IsInSource)
            : null;

    private static DiagnosticDescriptor RuleOf(DifferenceKind kind) => kind switch
    {
        DifferenceKind.Breaking => Rules.ContractBroken,
        DifferenceKind.State => Rules.StateFormBroken,
        _ => Rules.ContractNew,
    };
}
