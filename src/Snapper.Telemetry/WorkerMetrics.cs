using System.Diagnostics;
using System.Diagnostics.Metrics;
using Snapper.Runtime.Inspection;

namespace Snapper.Telemetry;

/// <summary>The worker's metrics by OpenTelemetry's conventions. All but the durations are read when they are exported.</summary>
internal sealed class WorkerMetrics : IDisposable
{
    /// <summary>Name of the meter.</summary>
    public const string MeterName = "Snapper.Dapr";

    private readonly Meter _meter = new(MeterName);
    private readonly Histogram<double> _durations;
    private readonly IWorkerInspection _inspection;
    private WorkerStatus? _status;
    private long _readAt;

    public WorkerMetrics(IWorkerInspection inspection)
    {
        _inspection = inspection;
        _durations = _meter.CreateHistogram<double>("snapper.transaction.duration", "s", "From arrival to answer.");
        _meter.CreateObservableUpDownCounter("snapper.transaction.active", () => Status().InFlight, "{transaction}", "Accepted and not yet answered.");
        _meter.CreateObservableCounter("snapper.transaction.repeats", Repeats, "{attempt}", "Attempts that the system ran again by itself.");
        _meter.CreateObservableCounter("snapper.batch.formed", () => Status().Batches, "{batch}", "Batches formed.");
        _meter.CreateObservableCounter("snapper.undo.count", () => Status().Undos, "{undo}", "Undos of speculative work.");
        _meter.CreateObservableGauge("snapper.log.position", () => Status().LogPosition, "{record}", "Last position appended to the log.");
        _meter.CreateObservableGauge("snapper.log.durable_position", () => Status().DurablePosition, "{record}", "Last position of the log known to be durable.");
        _meter.CreateObservableUpDownCounter("snapper.actor.resident", () => Status().ResidentActors, "{actor}", "Actors in memory.");
        _meter.CreateObservableGauge("snapper.worker.epoch", () => Status().Epoch, "{epoch}", "Epoch that the worker writes its log in.");
        _meter.CreateObservableCounter("snapper.store.losses", () => Status().Losses, "{loss}", "How often the store was found to have less than it had acknowledged, since the log began.");
        _meter.CreateObservableGauge("snapper.health.check", Checks, "1", "1 when the check passes, else 0.");
    }

    /// <summary>Somebody listens to the durations.</summary>
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
            _durations.Record(duration.TotalSeconds, mode, new("snapper.transaction.outcome", "aborted"), new("error.type", reason));
        }
    }

    public void Dispose() => _meter.Dispose();

    // One look serves all instruments of an export.
    private WorkerStatus Status()
    {
        var now = Stopwatch.GetTimestamp();
        if (_status is not { } status || Stopwatch.GetElapsedTime(_readAt, now) > TimeSpan.FromMilliseconds(100))
        {
            _status = status = _inspection.Status();
            _readAt = now;
        }

        return status;
    }

    private IEnumerable<Measurement<long>> Repeats()
    {
        foreach (var (reason, count) in Status().RepeatsByReason)
        {
            yield return new Measurement<long>(count, new KeyValuePair<string, object?>("error.type", reason));
        }
    }

    private IEnumerable<Measurement<int>> Checks()
    {
        foreach (var check in _inspection.Checks())
        {
            yield return new Measurement<int>(check.Healthy ? 1 : 0, new KeyValuePair<string, object?>("snapper.health.check.name", check.Name));
        }
    }
}
