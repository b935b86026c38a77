using System.Text;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.Diagnostics;
using Snapper.Generators.Baselines;

namespace Snapper.Generators;

/// <summary>
/// Writes the baseline of a project's actor types as comments of a generated file, when a build accepts it: analyzers
/// write no files, and the targets of the package <c>Snapper.Actors</c> make <c>snapper.contracts.txt</c> of it.
/// </summary>
[Generator(LanguageNames.CSharp)]
public sealed class BaselineGenerator : IIncrementalGenerator
{
    /// <summary>Name of the generated file.</summary>
    public const string HintName = "Contracts.Baseline.g.cs";

    /// <summary>The build's property.</summary>
    public const string Property = "build_property.SnapperAcceptContracts";

    /// <inheritdoc/>
    public void Initialize(IncrementalGeneratorInitializationContext context)
    {
        var isAccepted = context.AnalyzerConfigOptionsProvider
            .Select(static (options, _) => Accepted(options.GlobalOptions) != Acceptance.None);
        var hasFile = context.AdditionalTextsProvider.Where(static file => IsBaseline(file.Path)).Collect()
            .Select(static (files, _) => !files.IsEmpty);
        context.RegisterSourceOutput(
            context.CompilationProvider.Combine(isAccepted.Combine(hasFile)),
            static (output, given) =>
            {
                if (given.Right is { Left: true, Right: true })
                {
                    var baseline = BaselineReader.Read(given.Left, output.CancellationToken, out _);
                    output.AddSource(HintName, Comments(baseline));
                }
            });
    }

    internal static bool IsBaseline(string path) =>
        string.Equals(Path.GetFileName(path), Baseline.FileName, StringComparison.OrdinalIgnoreCase);

    internal static Acceptance Accepted(AnalyzerConfigOptions options) =>
        !options.TryGetValue(Property, out var value) ? Acceptance.None : value.ToLowerInvariant() switch
        {
            "true" => Acceptance.Contracts,
            "states" => Acceptance.WithStates,
            _ => Acceptance.None,
        };

    private static string Comments(Baseline baseline)
    {
        var text = new StringBuilder();
        foreach (var line in baseline.Render().TrimEnd('\n').Split('\n'))
        {
            text.Append("// ").Append(line).Append('\n');
        }

        return text.ToString();
    }
}

/// <summary>What a build accepts.</summary>
internal enum Acceptance
{
    /// <summary>Nothing: it compares.</summary>
    None,

    /// <summary>All but another form of a state under the same version.</summary>
    Contracts,

    /// <summary>That, too: such states are stored nowhere.</summary>
    WithStates,
}
