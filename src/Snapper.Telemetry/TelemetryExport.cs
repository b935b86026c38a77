using System.Threading.Channels;
using OpenTelemetry;
using OpenTelemetry.Metrics;
using OpenTelemetry.Resources;
using OpenTelemetry.Trace;
using Snapper.Contracts;
using Snapper.Runtime.Inspection;
using Microsoft.Extensions.Logging;

namespace Snapper.Telemetry;

/// <summary>Tells a collector of transactions and of the worker. What the collector does not take in time is dropped: transactions never wait for it.</summary>
public sealed partial class TelemetryExport : ITransactionObserver, IAsyncDisposable
{
    /// <summary>Traced attempts that may wait to be made into spans; more are dropped, and counted.</summary>
    public const int WaitingMost = 4096;

    // What the instrumentation packages of the runtime, ASP.NET Core and HttpClient would add on .NET 10.
    private static readonly string[] s_builtIn =
        ["System.Runtime", "Microsoft.AspNetCore.Hosting", "Microsoft.AspNetCore.Server.Kestrel", "System.Net.Http"];

    private readonly TelemetryOptions _options;
    private readonly bool _applicationSamples;
    private readonly Channel<(TraceView Trace, string? Parent, string? State)> _waiting;
    private readonly TransactionSpans _spans = new();
    private readonly WorkerMetrics _metrics;
    private readonly TracerProvider? _tracing;
    private readonly MeterProvider? _metering;
    private readonly Task _writing;
    private readonly ILogger _logger;
    private long _dropped;

    private TelemetryExport(
        TelemetryOptions options, ApplicationTelemetry application, string worker, string version,
        IWorkerInspection inspection, ILogger logger)
    {
        _options = options;
        _applicationSamples = application.Traces;
        _logger = logger;
        _waiting = Channel.CreateBounded<(TraceView, string?, string?)>(
            new BoundedChannelOptions(WaitingMost) { FullMode = BoundedChannelFullMode.DropWrite, SingleReader = true }, _ => Interlocked.Increment(ref _dropped));
        _metrics = new WorkerMetrics(inspection);
        var resource = ResourceBuilder.CreateDefault().AddService(
            Environment.GetEnvironmentVariable("OTEL_SERVICE_NAME") ?? "snapper", serviceVersion: version, serviceInstanceId: worker);
        if (options.Traces && !application.Traces)
        {
            // What reaches it is sampled already.
            _tracing = Sdk.CreateTracerProviderBuilder().SetResourceBuilder(resource).SetSampler(new AlwaysOnSampler()).AddSource(TransactionSpans.SourceName).AddOtlpExporter().Build();
        }

        if (options.Metrics && !application.Metrics)
        {
            _metering = Sdk.CreateMeterProviderBuilder().SetResourceBuilder(resource)
                .AddMeter([Instruments.MeterName, .. s_builtIn]).AddOtlpExporter().Build();
        }

        _writing = Task.Run(Write);
    }

    /// <summary>Traced attempts that were dropped.</summary>
    public long Dropped => Interlocked.Read(ref _dropped);

    /// <summary>Begins to export, and to make what the application exports; null: there is nothing to do.</summary>
    /// <param name="options">What the worker exports by itself.</param>
    /// <param name="application">What the application takes.</param>
    /// <param name="worker">Name of the worker: <c>service.instance.id</c>.</param>
    /// <param name="version">Its version: <c>service.version</c>.</param>
    /// <param name="inspection">What metrics are read from.</param>
    /// <param name="logger">Log lines.</param>
    public static TelemetryExport? Start(
        TelemetryOptions options, ApplicationTelemetry application, string worker, string version,
        IWorkerInspection inspection, ILogger logger)
    {
        var (traces, metrics) = (options.Traces && !application.Traces, options.Metrics && !application.Metrics);
        if (traces || metrics)
        {
            Exports(logger, traces, metrics, options.Ratio);
        }

        if (application.Traces || application.Metrics)
        {
            ApplicationExports(logger, application.Traces, application.Metrics);
        }
        else if (!options.IsOn)
        {
            return null;
        }

        return new TelemetryExport(options, application, worker, version, inspection, logger);
    }

    /// <inheritdoc/>
    public bool Wants(string requestId, string? traceParent) => _applicationSamples
        ? _spans.IsSampled(requestId, traceParent)
        : _options.Traces && TraceSampling.IsSampled(_options, requestId, traceParent);

    /// <inheritdoc/>
    public void Traced(TraceView trace, string? traceParent, string? traceState) => _waiting.Writer.TryWrite((trace, traceParent, traceState));

    /// <inheritdoc/>
    public void Ended(bool pact, string? reason, TimeSpan duration)
    {
        if (_metrics.Enabled)
        {
            _metrics.Ended(pact, reason, duration);
        }
    }

    /// <summary>Sends what waits, within a few seconds.</summary>
    public async ValueTask DisposeAsync()
    {
        _waiting.Writer.TryComplete();
        await _writing;
        const int FlushMs = 3000;
        _tracing?.ForceFlush(FlushMs);
        _metering?.ForceFlush(FlushMs);
        _tracing?.Dispose();
        _metering?.Dispose();
        _metrics.Dispose();
        _spans.Dispose();
        if (Dropped > 0)
        {
            TracesDropped(_logger, Dropped);
        }
    }

    [LoggerMessage(EventId = 2100, Level = LogLevel.Information, Message = "OpenTelemetry: spans {Traces} (of {Ratio} of the transactions whose callers leave it open), metrics {Metrics}")]
    private static partial void Exports(ILogger logger, bool traces, bool metrics, double ratio);

    [LoggerMessage(EventId = 2101, Level = LogLevel.Warning, Message = "OpenTelemetry: {Count} traced attempts were dropped, because they came faster than they are made into spans")]
    private static partial void TracesDropped(ILogger logger, long count);

    [LoggerMessage(EventId = 2102, Level = LogLevel.Information, Message =
        "OpenTelemetry of the application: spans {Traces}, metrics {Metrics}")]
    private static partial void ApplicationExports(ILogger logger, bool traces, bool metrics);

    private async Task Write()
    {
        await foreach (var (trace, parent, state) in _waiting.Reader.ReadAllAsync())
        {
            _spans.Write(trace, parent, state, sampled: !_applicationSamples);
        }
    }
}
