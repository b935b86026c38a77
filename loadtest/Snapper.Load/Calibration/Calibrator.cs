using System.Diagnostics;
using System.Globalization;
using Snapper.Load.Reporting;
using Snapper.Load.Running;
using Snapper.Runtime.Inspection;
using Snapper.Scenarios.Changes;
using Snapper.Scenarios.Shapes;
using Snapper.Scenarios.Targets;
using Snapper.Scenarios.Workloads;

namespace Snapper.Load.Calibration;

/// <summary>
/// How fast and how punctual the load generator is itself: its capacity is the rate at which it sends, and gets answers, when every moment has already passed and as many are under way as there are requests at once:
/// each goes in a request of its own, as those do that arrive one by one (with more of them transactions share requests, which shows how well the client does that). Its punctuality is measured at half of that, with Poisson arrivals.
/// </summary>
internal static class Calibrator
{
    /// <summary>The bar, at half of the capacity.</summary>
    public const double ErrorP99MaxMs = 1;

    private const int Accounts = 10_000;

    /// <summary>A round in which the machine's other guests took more of the cores' time says nothing about this program. Ticks of 10 ms of one core.</summary>
    private const int StolenTicksMax = 1;

    private const int RoundsMax = 30; // each keeps some megabytes of counts

    private static readonly TimeSpan s_roundMin = TimeSpan.FromSeconds(2);
    private static readonly TimeSpan s_settle = TimeSpan.FromSeconds(0.3);
    private static readonly TimeSpan s_timeout = TimeSpan.FromSeconds(10);
    private static readonly TimeSpan s_warmUp = TimeSpan.FromSeconds(3);

    /// <returns>Whether it keeps the bar.</returns>
    public static async Task<bool> Run(CalibrationOptions options, TextWriter output, CancellationToken cancellation)
    {
        await using var stub = await StubServer.Start();
        var settings = new TargetSettings { Workers = [stub.Address], Discovers = false, Timeout = s_timeout, Connections = options.Connections };
        await using var target = await SnapperTarget.Connect(settings, cancellation);
        output.WriteLine(string.Create(CultureInfo.InvariantCulture, $"stub in this process, {Environment.ProcessorCount} cores, at most {options.Connections} requests at once"));
        await Capacity(target, s_warmUp, options.Connections, cancellation);
        var capacity = await Capacity(target, options.Duration, options.Connections, cancellation);
        output.WriteLine(string.Create(CultureInfo.InvariantCulture, $"capacity {capacity:N0}/s, {options.Connections} under way"));
        return await Punctuality(target, capacity / 2, options.Duration, output, cancellation);
    }

    private static SmallBankWorkload Workload() => new(new WorkloadSettings { Prefix = WorkloadSettings.NewPrefix(), Accounts = Accounts });

    private static async Task<double> Capacity(SnapperTarget target, TimeSpan duration, int underWay, CancellationToken cancellation)
    {
        var workload = Workload();
        using var places = new SemaphoreSlim(underWay);
        var ended = 0L;
        var began = Stopwatch.GetTimestamp();
        while (Stopwatch.GetElapsedTime(began) < duration && !cancellation.IsCancellationRequested)
        {
            var planned = workload.Next();
            await places.WaitAsync(cancellation);
            _ = Send(planned);
        }

        var perSecond = Volatile.Read(ref ended) / Stopwatch.GetElapsedTime(began).TotalSeconds;
        for (var i = 0; i < underWay; i++)
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

    /// <summary>In rounds: those in which the machine took the cores away say nothing about us. They are told, and not judged.</summary>
    private static async Task<bool> Punctuality(SnapperTarget target, double rate, TimeSpan duration, TextWriter output, CancellationToken cancellation)
    {
        var (all, ours) = (new LatencyHistogram(), new LatencyHistogram());
        var answers = new LatencyHistogram();
        var rounds = Math.Clamp((int)(duration / s_roundMin), 1, RoundsMax);
        var length = duration / rounds < s_roundMin ? s_roundMin : duration / rounds;
        var (undisturbed, timing) = (0, "");
        var logs = new RunLog[rounds];
        var recorders = new Recorder[rounds];
        for (var round = 0; round < rounds; round++)
        {
            logs[round] = new RunLog();
            recorders[round] = new Recorder(length, s_timeout, Accounts, logs[round]);
        }

        GC.Collect(); // what was made until now is not to bring on collections while the time is kept
        var stolen = new StolenTime();
        using var process = Process.GetCurrentProcess();
        var (began, cpu, collections, paused) = (Stopwatch.GetTimestamp(), process.TotalProcessorTime, GC.CollectionCount(0), GC.GetTotalPauseDuration());
        for (var round = 0; round < rounds && !cancellation.IsCancellationRequested; round++)
        {
            var recorder = recorders[round];
            var settings = new OpenLoopSettings { Shape = LoadShape.Steady(rate, length), WarmUp = round == 0 ? s_warmUp : s_settle, Timeout = s_timeout, Seed = (ulong)round + 1 };
            var loop = new OpenLoop(settings, Workload(), target, recorder, logs[round]);
            var taken = new StolenTime();
            await loop.Run(cancellation);
            timing = loop.Timing;
            all.Add(recorder.ArrivalError);
            answers.Add(recorder.Latency);
            if (!(taken.Ticks() > StolenTicksMax))
            {
                undisturbed++;
                ours.Add(recorder.ArrivalError);
            }
        }

        process.Refresh();
        var cores = (process.TotalProcessorTime - cpu) / Stopwatch.GetElapsedTime(began);
        Say(output, $"at {rate:N0}/s: error of arrivals {Words(LoadRun.ErrorOf(all, timing))} over {all.Count:N0} arrivals ({timing}); answers p50 {Measured.Ms(answers, 50):0.###}, p99 {Measured.Ms(answers, 99):0.###} ms; {cores:0.00} cores used, {GC.CollectionCount(0) - collections} collections, {(GC.GetTotalPauseDuration() - paused).TotalMilliseconds:0} ms; {StolenTime.Describe(stolen.Percent())}");
        if (cancellation.IsCancellationRequested)
        {
            Say(output, $"not judged: it was ended before");
            return false;
        }

        if (undisturbed == 0)
        {
            Say(output, $"not judged: the machine took cores away in each of {rounds} rounds; try again when it is calm");
            return false;
        }

        var error = LoadRun.ErrorOf(ours, timing);
        var held = error.P99Ms < ErrorP99MaxMs;
        Say(output, $"in the {undisturbed} of {rounds} rounds in which the machine took at most one tick of a core's time: {Words(error)} over {ours.Count:N0} arrivals");
        Say(output, $"{(held ? "held" : "BROKEN")}: error of arrivals below {ErrorP99MaxMs:0} ms at p99 there, at half of the capacity");
        return held;
    }

    private static string Words(ArrivalErrorReport error) =>
        string.Create(CultureInfo.InvariantCulture, $"p50 {error.P50Ms:0.###}, p99 {error.P99Ms:0.###}, p99.9 {error.P999Ms:0.###}, max {error.MaxMs:0.###} ms");

    private static void Say(TextWriter output, FormattableString text) => output.WriteLine(text.ToString(CultureInfo.InvariantCulture));
}
