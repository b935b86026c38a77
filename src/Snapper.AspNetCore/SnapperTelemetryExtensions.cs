using Microsoft.Extensions.DependencyInjection.Extensions;
using OpenTelemetry.Metrics;
using OpenTelemetry.Trace;
using Snapper.Telemetry;

namespace Snapper.AspNetCore;

/// <summary>Lets the OpenTelemetry of an application take spans and metrics of the worker in it.</summary>
public static class SnapperTelemetryExtensions
{
    /// <summary>Of the spans of <c>SnapperClient</c>, whose package need not be there.</summary>
    internal const string ClientSource = "Snapper.Client";

    /// <summary>
    /// Adds the spans of transactions on this worker, and of transactions that a <c>SnapperClient</c> of the
    /// application asks for. The sampler of the application decides which are traced; <c>OTEL_TRACES_SAMPLER</c> does
    /// so only if the application's sampler reads it.
    /// </summary>
    /// <param name="tracing">Of <c>services.AddOpenTelemetry().WithTracing(...)</c>.</param>
    public static TracerProviderBuilder AddSnapperInstrumentation(this TracerProviderBuilder tracing)
    {
        ArgumentNullException.ThrowIfNull(tracing);
        return tracing.ConfigureServices(static services => Take(services, static it => it.Traces = true))
            .AddSource(TransactionSpans.SourceName, ClientSource);
    }

    /// <summary>Adds the metrics of this worker (docs/telemetry.md lists them).</summary>
    /// <param name="metering">Of <c>services.AddOpenTelemetry().WithMetrics(...)</c>.</param>
    public static MeterProviderBuilder AddSnapperInstrumentation(this MeterProviderBuilder metering)
    {
        ArgumentNullException.ThrowIfNull(metering);
        return metering.ConfigureServices(static services => Take(services, static it => it.Metrics = true))
            .AddMeter(Instruments.MeterName);
    }

    private static void Take(IServiceCollection services, Action<ApplicationTelemetry> what)
    {
        var before = services.FirstOrDefault(static it => it.ServiceType == typeof(ApplicationTelemetry));
        var taken = before?.ImplementationInstance as ApplicationTelemetry ?? new ApplicationTelemetry();
        what(taken);
        services.TryAddSingleton(taken);
    }
}
