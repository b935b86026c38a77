using System.Diagnostics;
using System.Diagnostics.Metrics;
using Snapper.Runtime.Inspection;

namespace Snapper.Telemetry;

/// <summary>The table of instruments by OpenTelemetry. All but the durations are read when they are exported.</summary>
internal sealed class WorkerMetrics : IDisposable
{
    private static readonly TimeSpan s_readingServes = TimeSpan.FromMilliseconds(100);

    private readonly Meter _meter = new(Instruments.MeterName);
    private readonly Histogram<double> _durations;
    private readonly IWorkerInspection _inspection;
    private Reading? _reading;
    private long _readAt;

    public WorkerMetrics(IWorkerInspection inspection)
    {
        _inspection = inspection;
        var durations = Instruments.All.Single(static one => one.Kind == InstrumentKind.Histogram);
        _durations = _meter.CreateHistogram(
            durations.Otlp!, durations.Unit, durations.Help, tags: null,
            new InstrumentAdvice<double> { HistogramBucketBoundaries = DurationsView.UsualBounds });
        foreach (var one in Instruments.All.Where(one => one != durations && one.Otlp is not null))
        {
            if (one.IsWhole)
            {
                Create(one, static value => (long)value);
            }
            else
            {
                Create(one, static value => value);
            }
        }
    }

    public bool Enabled => _durations.Enabled;

    /// <summary>A transaction is answered.</summary>
    public void Ended(bool pact, string? reason, TimeSpan duration)
    {
        var mode = new KeyValuePair<string, object?>("snapper.transaction.mode", pact ? "pact" : "act");
        if (reason is null)
        {
            _durations.Record(duration.TotalSeconds, mode, new("snapper.transaction.outcome", "committed"));
        }
        else
        {
            _durations.Record(
                duration.TotalSeconds, mode, new("snapper.transaction.outcome", "aborted"), new("error.type", reason));
        }
    }

    public void Dispose() => _meter.Dispose();

    private void Create<T>(Instrument one, Func<double, T> convert)
        where T : struct
    {
        Func<IEnumerable<Measurement<T>>> read = () =>
            (one.Read(Now()) ?? []).Select(sample => new Measurement<T>(convert(sample.Value), Tags(one, sample)));
        _ = one.Kind switch
        {
            InstrumentKind.Counter => _meter.CreateObservableCounter(one.Otlp!, read, one.Unit, one.Help),
            InstrumentKind.UpDownCounter => _meter.CreateObservableUpDownCounter(one.Otlp!, read, one.Unit, one.Help),
            _ => (ObservableInstrument<T>)_meter.CreateObservableGauge(one.Otlp!, read, one.Unit, one.Help),
        };
    }

    private static IEnumerable<KeyValuePair<string, object?>> Tags(Instrument one, Sample sample) =>
        from tag in one.Labels.Zip(sample.Labels)
        where tag.Second is not null
        select new KeyValuePair<string, object?>(tag.First.Attribute, tag.Second);

    // One reading serves all instruments of an export.
    private Reading Now()
    {
        var now = Stopwatch.GetTimestamp();
        if (_reading is not { } reading || Stopwatch.GetElapsedTime(_readAt, now) > s_readingServes)
        {
            _reading = reading = new Reading(_inspection.Status(), _inspection.Totals(), _inspection.Checks());
            _readAt = now;
        }

        return reading;
    }
}
