using System.Collections.Immutable;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.Text;

namespace Snapper.Generators.Models;

/// <summary>A diagnostic as plain values, so that it can be compared and kept between runs.</summary>
internal sealed record Finding(string Id, string Path, TextSpan Span, LinePositionSpan Lines, EquatableArray<string> Arguments)
{
    public static Finding Of(DiagnosticDescriptor rule, ISymbol where, params string[] arguments)
    {
        var location = where.Locations.FirstOrDefault(l => l.IsInSource) ?? Location.None;
        var lines = location.GetLineSpan();
        return new Finding(
            rule.Id, lines.Path ?? "", location.SourceSpan, lines.Span, new EquatableArray<string>(arguments.ToImmutableArray()));
    }

    public Diagnostic ToDiagnostic()
    {
        var location = Path.Length == 0 ? Location.None : Location.Create(Path, Span, Lines);
        return Diagnostic.Create(Rules.ById(Id), location, Arguments.ToArray<object>());
    }
}

/// <summary>What one declaration gives: a model, or the reasons why there is none.</summary>
internal sealed record Reading<TModel>(TModel? Model, EquatableArray<Finding> Findings)
    where TModel : class, IEquatable<TModel>;
