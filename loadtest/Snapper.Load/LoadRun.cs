using System.Globalization;
using System.Runtime.InteropServices;
using Snapper.Load.Reporting;
using Snapper.Load.Running;
using Snapper.Runtime.Inspection;
using Snapper.Scenarios.Changes;
using Snapper.Scenarios.Targets;
using Snapper.Scenarios.Workloads;

namespace Snapper.Load;

/// <summary>One load test from its first transaction to its verdict.</summary>
internal sealed class LoadRun(LoadOptions options, TextWriter output)
{
    private const double ChangeAt = 1 / 3.0;

    /// <summary>Runs a scenario against a system.</summary>
    /// <param name="workload">What is sent.</param>
    /// <param name="target">Who takes it.</param>
    /// <param name="system">The same, where it can be changed; null: it cannot.</param>
    /// <param name="cancellation">Ends the arrivals early; what was sent is judged all the same.</param>
    /// <exception cref="TargetException">The system cannot run it.</exception>
    public async Task<LoadReport> Run(IWorkload workload, ILoadTarget target, SnapperTarget? system, CancellationToken cancellation)
    {
        var log = new RunLog(text => Say("  * " + text));
        await workload.Prepare(target, cancellation);
        var recorder = new Recorder(options.Duration, options.Timeout, workload.Actors, log);
        var loop = new OpenLoop(
            new OpenLoopSettings { Shape = options.LoadShape, WarmUp = options.WarmUp, Process = options.Arrivals, Seed = options.Seed, Timeout = options.Timeout }, workload, target, recorder, log);
        GC.Collect(); // what was made until now is not to bring on collections while the time is kept
        var began = DateTimeOffset.UtcNow;
        var stolen = new StolenTime();
        using var ending = new CancellationTokenSource();
        var progress = new Progress(output, recorder, loop, log, options.Duration).Run(ending.Token);
        var running = loop.Run(cancellation);
        var change = options.Scenario.Change?.Invoke();
        var changed = ChangeOnTime(change, system, log, cancellation);
        await running;
        var (ofChange, changeProblem) = await changed;
        await ending.CancelAsync();
        await progress;

        Say("  all have ended; looking whether everything is there");
        var stolenPercent = stolen.Percent();
        var invariant = await workload.Check(target, CancellationToken.None);
        var measures = Measured.All(recorder, log, options.Duration, ofChange);
        return new LoadReport
        {
            Scenario = options.Scenario.Name,
            Summary = options.Scenario.Summary,
            Workload = workload.Describe(),
            Shape = options.LoadShape.Name,
            Arrivals = options.Arrivals.ToString(),
            RatePerSecond = options.Rate,
            DurationSeconds = options.Duration.TotalSeconds,
            WarmUpSeconds = options.WarmUp.TotalSeconds,
            Seed = options.Seed,
            Began = began,
            Addresses = [.. (system?.Addresses ?? options.Urls).Select(static address => address.AbsoluteUri)],
            Machine = string.Create(CultureInfo.InvariantCulture, $"{Environment.ProcessorCount} cores, {RuntimeInformation.OSDescription.Trim()}, {RuntimeInformation.FrameworkDescription}; {StolenTime.Describe(stolenPercent)}"),
            Command = options.Command,
            Invariant = invariant,
            Thresholds = [.. options.Thresholds.Select(threshold => threshold.Against(measures))],
            Change = change?.Describe(),
            ChangeProblem = changeProblem,
            Measures = measures,
            Outcomes = recorder.Outcomes,
            ArrivalError = ErrorOf(recorder, loop),
            LatencyByPercentile = Measured.Curve(recorder.Latency),
            Course = Measured.Points(recorder.Course),
            Windows = change is null ? [] : Measured.Windows(recorder),
            Marks = log.Marks,
            Bands = log.Bands,
        };
    }

    internal static ArrivalErrorReport ErrorOf(Recorder recorder, OpenLoop loop) => ErrorOf(recorder.ArrivalError, loop.Timing);

    internal static ArrivalErrorReport ErrorOf(LatencyHistogram error, string timing) => new(Measured.Ms(error, 50), Measured.Ms(error, 99), Measured.Ms(error, 99.9), error.Max / 1000.0, timing);

    private async Task<(IReadOnlyDictionary<string, double> Measures, string? Problem)> ChangeOnTime(IChange? change, SnapperTarget? system, RunLog log, CancellationToken cancellation)
    {
        var nothing = new Dictionary<string, double>();
        if (change is null)
        {
            return (nothing, null);
        }

        if (system is null)
        {
            return (nothing, "this target cannot be changed");
        }

        try
        {
            var wait = (options.Duration.TotalSeconds * ChangeAt) - log.Now;
            await Task.Delay(TimeSpan.FromSeconds(Math.Max(0, wait)), cancellation);
            var context = new ChangeContext { Target = system, Log = log, Worker = options.Worker, Join = options.Join };
            var measures = await change.Run(context, cancellation);
            return log.Bands.All(band => band.FromSeconds < options.Duration.TotalSeconds)
                ? (measures, null)
                : (measures, "it began when the load was over; give a longer --duration");
        }
        catch (Exception problem) when (problem is TargetException or TimeoutException or HttpRequestException)
        {
            Say("  * not done: " + problem.Message);
            return (nothing, problem.Message);
        }
        catch (OperationCanceledException) when (cancellation.IsCancellationRequested)
        {
            return (nothing, "the run was ended before");
        }
    }

    private void Say(string text)
    {
        lock (output)
        {
            output.WriteLine(text);
            output.Flush();
        }
    }
}
