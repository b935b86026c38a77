using System.Globalization;

namespace Snapper.Scenarios.Measures;

/// <summary>A bound that a measure must keep.</summary>
/// <param name="Measure">Its name, see <see cref="MeasureNames"/>.</param>
/// <param name="Limit">The bound itself is allowed.</param>
/// <param name="AtLeast">The measure must not be below it; false: not above it.</param>
public sealed record Threshold(string Measure, double Limit, bool AtLeast = false)
{
    /// <summary><c>p99-ms&lt;=250</c>.</summary>
    public override string ToString() => string.Create(CultureInfo.InvariantCulture, $"{Measure}{(AtLeast ? ">=" : "<=")}{Limit}");

    /// <summary>Reads <c>NAME&lt;=NUMBER</c> or <c>NAME&gt;=NUMBER</c>.</summary>
    /// <exception cref="FormatException">It is something else; the message says what is expected.</exception>
    public static Threshold Parse(string text)
    {
        var at = text.IndexOfAny(['<', '>']);
        if (at < 1 || at + 2 >= text.Length || text[at + 1] != '='
            || !double.TryParse(text.AsSpan(at + 2), NumberStyles.Float, CultureInfo.InvariantCulture, out var limit) || !double.IsFinite(limit))
        {
            throw new FormatException($"A threshold is written as NAME<=NUMBER or NAME>=NUMBER, such as p99-ms<=250, not '{text}'.");
        }

        var name = text[..at];
        return MeasureNames.IsKnown(name)
            ? new Threshold(name, limit, text[at] == '>')
            : throw new FormatException($"There is no measure '{name}'; there are {string.Join(", ", MeasureNames.All)}.");
    }

    /// <summary>Looks whether a run keeps it. A measure that the run does not have breaks it: a bound that nothing was held against has not been kept.</summary>
    public ThresholdResult Against(IReadOnlyDictionary<string, double> measures)
    {
        // An abort reason that never occurred has no entry, and is 0.
        double? actual = measures.TryGetValue(Measure, out var value) ? value : Measure.StartsWith(MeasureNames.AbortPercentOf, StringComparison.Ordinal) ? 0 : null;
        return new ThresholdResult(ToString(), Measure, Limit, AtLeast, actual, actual is { } number && (AtLeast ? number >= Limit : number <= Limit));
    }
}

/// <summary>How a threshold was kept.</summary>
/// <param name="Text">The threshold.</param>
/// <param name="Measure">Name of the measure.</param>
/// <param name="Limit">The bound.</param>
/// <param name="AtLeast">From below.</param>
/// <param name="Actual">What was measured; null: the run has no such measure.</param>
/// <param name="Held">It was kept.</param>
public sealed record ThresholdResult(string Text, string Measure, double Limit, bool AtLeast, double? Actual, bool Held);
