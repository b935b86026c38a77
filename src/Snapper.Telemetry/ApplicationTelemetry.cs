namespace Snapper.Telemetry;

/// <summary>
/// What the OpenTelemetry of the application takes from the worker. The worker then sends none of it by itself, since
/// it would arrive twice.
/// </summary>
public sealed class ApplicationTelemetry
{
    /// <summary>Spans: the application's sampler decides which transactions are traced.</summary>
    public bool Traces { get; set; }

    /// <summary>Metrics.</summary>
    public bool Metrics { get; set; }
}
