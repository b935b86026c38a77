using System.Text.Json;
using Microsoft.Extensions.Logging.Abstractions;
using Snapper.Benchmarks.InProcess;
using Snapper.Benchmarks.Load;
using Snapper.Benchmarks.Runs;
using Snapper.Contracts;
using Snapper.Protocol.Identity;
using Snapper.Runtime.Inspection;
using Snapper.Telemetry;

namespace Snapper.Benchmarks.Suite;

/// <summary>How a worker is looked at.</summary>
public enum Observation
{
    /// <summary>Metrics over OTLP, to a collector that takes nothing: the exporter does all its work but for the network.</summary>
    Metrics,

    /// <summary>Metrics, and spans of one transaction in a hundred.</summary>
    Traces,

    /// <summary>All views that the dashboard asks for, once a second, as JSON.</summary>
    Watched,
}

/// <summary>CPU per PACT of a worker that is observed ÷ of one that is not: two workers in this process, in alternating runs.</summary>
public sealed class ObservedBenchmark(string name, Observation how, Goal goal) : IBenchmark
{
    /// <inheritdoc />
    public string Name => name;

    /// <inheritdoc />
    public string What => $"CPU per PACT in process, {how.ToString().ToLowerInvariant()} ÷ nobody looks";

    /// <inheritdoc />
    public async Task<BenchmarkResult> RunAsync(BenchmarkContext context)
    {
        var folders = new[] { Directory.CreateTempSubdirectory("snapper-bench-").FullName, Directory.CreateTempSubdirectory("snapper-bench-").FullName };
        try
        {
            var late = new LateObserver();
            await using var observed = new SnapperInProcess(new InProcessSettings(context.Options.Accounts, folders[0])) { Observer = how == Observation.Watched ? null : late };
            await using var plain = new SnapperInProcess(new InProcessSettings(context.Options.Accounts, folders[1]));
            await observed.StartAsync(CancellationToken.None);
            await plain.StartAsync(CancellationToken.None);
            var options = new TelemetryOptions(how == Observation.Traces, Metrics: true, TelemetryOptions.UsualRatio, FollowsCaller: true);
            await using var telemetry = how == Observation.Watched ? null : TelemetryExport.Start(
                options, new ApplicationTelemetry(), "w1", "bench", observed.Inspection, NullLogger.Instance);
            late.Observer = telemetry;
            var (a, b) = await SideBySide.RunAsync(
                SideOf(context, observed, "observed", how == Observation.Watched ? new Watcher(observed.Inspection) : null), SideOf(context, plain, "nobody looks", null), context.Plan, context.Progress);
            return BenchmarkResult.Ratio(Name, What, goal, a, b, static run => run.CpuPerTransaction, context.Plan.Seed);
        }
        finally
        {
            Array.ForEach(folders, static folder => Directory.Delete(folder, recursive: true));
        }
    }

    private static Side SideOf(BenchmarkContext context, SnapperInProcess system, string name, Watcher? watcher)
    {
        var chooser = context.Transfers(0);
        return new Side(
            name,
            context.Options.Pipelines.Select(static count => new LoadShape(count)).ToArray(),
            (_, seed) => watcher is null ? new InProcessPipeline(system, chooser, Mix.Pacts, seed) : new WatchedPipeline(new InProcessPipeline(system, chooser, Mix.Pacts, seed), watcher),
            system.Processes)
        {
            OwnRole = "runtime and driver",
            AbortsAllowed = false,
        };
    }

    /// <summary>Exists before the worker, which the export reads.</summary>
    private sealed class LateObserver : ITransactionObserver
    {
        public ITransactionObserver? Observer { get; set; }

        public bool Wants(string requestId, string? traceParent) => Observer?.Wants(requestId, traceParent) == true;

        public void Traced(TraceView trace, string? traceParent, string? traceState) => Observer?.Traced(trace, traceParent, traceState);

        public void Ended(bool pact, string? reason, TimeSpan duration) => Observer?.Ended(pact, reason, duration);
    }

    /// <summary>Asks as the dashboard does.</summary>
    private sealed class Watcher(IWorkerInspection inspection)
    {
        private static readonly JsonSerializerOptions s_json = new(JsonSerializerDefaults.Web);
        private long _lastSecond;

        public Task? Look()
        {
            var second = Environment.TickCount64 / 1000;
            return Interlocked.Exchange(ref _lastSecond, second) == second ? null : Task.Run(Ask);
        }

        private async Task Ask()
        {
            var watch = inspection.Watch!;
            object?[] views =
            [
                inspection.Status(), await inspection.Batches(50, CancellationToken.None), await inspection.Aborts(50, null, null, CancellationToken.None), watch.Traces(new TraceFilter(50)), watch.Hot(50),
                watch.Access(), watch.Ring(), await watch.Timeline(new ActorKey("Account", AccountIds.Of(0)), CancellationToken.None),
            ];
            foreach (var view in views)
            {
                JsonSerializer.SerializeToUtf8Bytes(view, s_json);
            }
        }
    }

    private sealed class WatchedPipeline(IPipeline inner, Watcher watcher) : IPipeline
    {
        public async ValueTask RunOnceAsync(Tally tally)
        {
            if (watcher.Look() is { } looking)
            {
                await looking;
            }

            await inner.RunOnceAsync(tally);
        }

        public ValueTask DisposeAsync() => inner.DisposeAsync();
    }
}
