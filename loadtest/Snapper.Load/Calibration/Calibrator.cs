using System.Diagnostics;
using System.Globalization;
using Snapper.Load.Reporting;
using Snapper.Load.Running;
using Snapper.Scenarios.Changes;
using Snapper.Scenarios.Shapes;
using Snapper.Scenarios.Targets;
using Snapper.Scenarios.Workloads;

namespace Snapper.Load.Calibration;

/// <summary>
/// How fast and how punctual the load generator is itself: its capacity is the rate at which it sends, and gets answers, when every moment has already passed and a fixed number is under way;
/// its punctuality is measured at half of that, with Poisson arrivals.
/// </summary>
internal static class Calibrator
{
    /// <summary>The bar, at half of the capacity.</summary>
    public const double ErrorP99MaxMs = 1;

    private const int UnderWay = 256;
    private const int Accounts = 10_000;

    private static readonly TimeSpan s_timeout = TimeSpan.FromSeconds(10);
    private static readonly TimeSpan s_warmUp = TimeSpan.FromSeconds(3);

    /// <returns>Whether it keeps the bar.</returns>
    public static async Task<bool> Run(CalibrationOptions options, TextWriter output, CancellationToken cancellation)
    {
        await using var stub = await StubServer.Start();
        var settings = new TargetSettings { Workers = [stub.Address], Discovers = false, Timeout = s_timeout, Connections = options.Connections };
        await using var target = await SnapperTarget.Connect(settings, cancellation);
        output.WriteLine(string.Create(CultureInfo.InvariantCulture, $"stub in this process, {Environment.ProcessorCount} cores, at most {options.Connections} requests at once"));
        await Capacity(target, s_warmUp, cancellation);
        var capacity = await Capacity(target, options.Duration, cancellation);
        output.WriteLine(string.Create(CultureInfo.InvariantCulture, $"capacity {capacity:N0}/s, {UnderWay} under way"));
        var error = await Error(target, capacity / 2, options.Duration, output, cancellation);
        var held = error.P99Ms < ErrorP99MaxMs;
        output.WriteLine($"{(held ? "held" : "BROKEN")}: error of arrivals below {ErrorP99MaxMs:0} ms at p99, at half of the capacity");
        return held;
    }

    private static SmallBankWorkload Workload() => new(new WorkloadSettings { Prefix = WorkloadSettings.NewPrefix(), Accounts = Accounts });

    private static async Task<double> Capacity(SnapperTarget target, TimeSpan duration, CancellationToken cancellation)
    {
        var workload = Workload();
        using var places = new SemaphoreSlim(UnderWay);
        var ended = 0L;
        var began = Stopwatch.GetTimestamp();
        while (Stopwatch.GetElapsedTime(began) < duration && !cancellation.IsCancellationRequested)
        {
            var planned = workload.Next();
            await places.WaitAsync(cancellation);
            _ = Send(planned);
        }

        var perSecond = Volatile.Read(ref ended) / Stopwatch.GetElapsedTime(began).TotalSeconds;
        for (var i = 0; i < UnderWay; i++)
        {
            await places.WaitAsync(cancellation);
        }

        return perSecond;

        async Task Send(PlannedTransaction planned)
        {
            try
            {
                await target.Submit(planned.Message, cancellation).ConfigureAwait(false);
                Interlocked.Increment(ref ended);
            }
            finally
            {
                places.Release();
            }
        }
    }

    private static async Task<ArrivalErrorReport> Error(SnapperTarget target, double rate, TimeSpan duration, TextWriter output, CancellationToken cancellation)
    {
        var log = new RunLog();
        var recorder = new Recorder(duration, s_timeout, Accounts, log);
        var settings = new OpenLoopSettings { Shape = LoadShape.Steady(rate, duration), WarmUp = s_warmUp, Timeout = s_timeout };
        var loop = new OpenLoop(settings, Workload(), target, recorder, log);
        using var process = Process.GetCurrentProcess();
        var (cpu, collections, paused) = (process.TotalProcessorTime, GC.CollectionCount(0), GC.GetTotalPauseDuration());
        await loop.Run(cancellation);
        process.Refresh();
        var error = LoadRun.ErrorOf(recorder, loop);
        output.WriteLine(string.Create(
            CultureInfo.InvariantCulture,
            $"at {rate:N0}/s: error of arrivals p50 {error.P50Ms:0.###}, p99 {error.P99Ms:0.###}, p99.9 {error.P999Ms:0.###}, max {error.MaxMs:0.###} ms over {recorder.Arrivals:N0} arrivals ({error.Timing}); answers p50 {Measured.Ms(recorder.Latency, 50):0.###}, p99 {Measured.Ms(recorder.Latency, 99):0.###} ms; {(process.TotalProcessorTime - cpu) / (duration + s_warmUp):0.00} cores used, {GC.CollectionCount(0) - collections} collections, {(GC.GetTotalPauseDuration() - paused).TotalMilliseconds:0} ms"));
        return error;
    }
}
