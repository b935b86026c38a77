using Snapper.Runtime.Inspection;
using System.Diagnostics;
using Snapper.Benchmarks.Measurement;
using Snapper.Benchmarks.Runs;
using Snapper.Benchmarks.Statistics;

namespace Snapper.Benchmarks.Load;

/// <summary>How long a run takes.</summary>
public readonly record struct RunTimes(TimeSpan Warmup, TimeSpan Measured);

/// <summary>
/// Drives N pipelines as closed loops. Finds capacity; its latencies leave out the wait that arrivals at a fixed rate would see. What is
/// counted is what completed inside the measured window, while the load goes on before and after it.
/// </summary>
public static class ClosedLoop
{
    private static readonly TimeSpan AnswerDeadline = TimeSpan.FromSeconds(30);

    /// <summary>Runs the pipelines and disposes them.</summary>
    /// <param name="pipelines">One loop each.</param>
    /// <param name="times">Warm-up and measured time.</param>
    /// <param name="processes">Processes of the system; this one is measured as well.</param>
    /// <param name="ownRole">What this process is in the table.</param>
    public static async Task<RunResult> RunAsync(
        IReadOnlyList<IPipeline> pipelines, RunTimes times, IReadOnlyList<MeasuredProcess> processes, string ownRole = CpuMeter.Generator)
    {
        var shared = new SharedState();
        var loops = new Loop[pipelines.Count];
        var running = new Task[pipelines.Count];
        for (var i = 0; i < loops.Length; i++)
        {
            var loop = loops[i] = new Loop(pipelines[i], shared);
            running[i] = Task.Run(loop.RunAsync);
        }

        await Task.Delay(times.Warmup);
        string? failure = null;
        IReadOnlyList<CpuShare> cpu = [];
        var started = Stopwatch.GetTimestamp();
        try
        {
            var meter = CpuMeter.Start(processes);
            started = Stopwatch.GetTimestamp();
            shared.Measuring = true;
            await Task.Delay(times.Measured);
            shared.Measuring = false;
            cpu = meter.Stop(ownRole);
        }
        catch (InvalidOperationException ended)
        {
            failure = ended.Message;
        }

        var seconds = Stopwatch.GetElapsedTime(started).TotalSeconds;
        shared.Stopping = true;
        failure ??= await DrainAsync(running);
        foreach (var pipeline in pipelines)
        {
            await pipeline.DisposeAsync();
        }

        return RunResult.Of(Total(loops), pipelines.Count, seconds, cpu, shared.Latency, failure);
    }

    /// <summary>Runs until that many transactions were sent; for loading data. Nothing is measured but the count.</summary>
    public static async Task<Tally> RunCountAsync(IReadOnlyList<IPipeline> pipelines, int transactionsPerRequest, long total)
    {
        var shared = new SharedState { Measuring = true, RequestsLeft = (total + transactionsPerRequest - 1) / transactionsPerRequest };
        var loops = new Loop[pipelines.Count];
        var running = new Task[pipelines.Count];
        for (var i = 0; i < loops.Length; i++)
        {
            var loop = loops[i] = new Loop(pipelines[i], shared);
            running[i] = Task.Run(loop.RunAsync);
        }

        await Task.WhenAll(running);
        foreach (var pipeline in pipelines)
        {
            await pipeline.DisposeAsync();
        }

        return Total(loops);
    }

    private static async Task<string?> DrainAsync(Task[] running)
    {
        try
        {
            await Task.WhenAll(running).WaitAsync(AnswerDeadline);
            return null;
        }
        catch (TimeoutException)
        {
            var waiting = running.Count(task => !task.IsCompleted);
            return $"{waiting} requests had no answer {AnswerDeadline.TotalSeconds:0} s after the load ended.";
        }
    }

    private static Tally Total(Loop[] loops)
    {
        var total = new Tally();
        foreach (var loop in loops)
        {
            total.Add(loop.Measured);
            total.AddErrors(loop.Unmeasured);
        }

        return total;
    }

    private sealed class SharedState
    {
        public volatile bool Measuring;
        public volatile bool Stopping;
        public long RequestsLeft = long.MaxValue;
        public readonly LatencyHistogram Latency = new();
    }

    private sealed class Loop(IPipeline pipeline, SharedState shared)
    {
        public Tally Measured { get; } = new();

        public Tally Unmeasured { get; } = new();

        public async Task RunAsync()
        {
            // The moment of its end decides where a request counts, so it is first counted in a tally of its own.
            var one = new Tally();
            while (!shared.Stopping && Interlocked.Decrement(ref shared.RequestsLeft) >= 0)
            {
                var begin = Stopwatch.GetTimestamp();
                one.Clear();
                try
                {
                    await pipeline.RunOnceAsync(one);
                }
                catch (Exception failure)
                {
                    one.Error($"{failure.GetType().Name}: {failure.Message}");
                    await Task.Delay(20);
                }

                if (shared.Measuring)
                {
                    Measured.Add(one);
                    shared.Latency.Record((long)Stopwatch.GetElapsedTime(begin).TotalMicroseconds);
                }
                else
                {
                    Unmeasured.Add(one);
                }
            }
        }
    }
}
