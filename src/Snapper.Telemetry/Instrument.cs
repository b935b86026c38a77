using Snapper.Contracts;
using Snapper.Runtime.Inspection;

namespace Snapper.Telemetry;

/// <summary>How the values of an instrument add up.</summary>
internal enum InstrumentKind
{
    /// <summary>A sum that only grows while the worker lives.</summary>
    Counter,

    /// <summary>A sum over workers that grows and shrinks.</summary>
    UpDownCounter,

    /// <summary>A value at a moment; those of several workers are not added.</summary>
    Gauge,

    /// <summary>Counts of values up to fixed bounds.</summary>
    Histogram,
}

/// <summary>What all instruments are read from, once for each export.</summary>
/// <param name="Status">The worker's status.</param>
/// <param name="Totals">Its totals.</param>
/// <param name="Checks">Its health checks.</param>
internal sealed record Reading(WorkerStatus Status, WorkerTotals Totals, IReadOnlyList<HealthCheck> Checks);

/// <summary>A label of an instrument: its name on <c>/metrics</c>, and as an attribute by OTLP.</summary>
internal sealed record Label(string Name, string Attribute);

/// <summary>One value of an instrument.</summary>
/// <param name="Value">The value, in the instrument's unit.</param>
/// <param name="Labels">Values of its labels, in their order; null: this sample does not have the label.</param>
internal readonly record struct Sample(double Value, params string?[] Labels)
{
    /// <summary>Which part of a histogram it is: <c>_bucket</c>, <c>_sum</c>, <c>_count</c>; else null.</summary>
    public string? Part { get; init; }
}

/// <summary>A row of the table of instruments.</summary>
/// <param name="Prometheus">Name on <c>/metrics</c>; null: it is not there.</param>
/// <param name="Otlp">Name by OTLP; null: it is not sent, since an instrument of the runtime's own is.</param>
/// <param name="Unit">By UCUM.</param>
/// <param name="Kind">How values add up.</param>
/// <param name="Help">What it is, in a sentence.</param>
/// <param name="Labels">What tells its samples apart.</param>
/// <param name="Read">Its samples; null: this worker does not have it.</param>
internal sealed record Instrument(
    string? Prometheus, string? Otlp, string Unit, InstrumentKind Kind, string Help, IReadOnlyList<Label> Labels,
    Func<Reading, IEnumerable<Sample>?> Read)
{
    /// <summary>Its values are whole numbers.</summary>
    public bool IsWhole => Unit != "s";
}
