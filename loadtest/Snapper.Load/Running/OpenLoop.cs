using System.Diagnostics;
using Snapper.Client.Messages;
using Snapper.Scenarios.Changes;
using Snapper.Scenarios.Shapes;
using Snapper.Scenarios.Targets;
using Snapper.Scenarios.Workloads;

namespace Snapper.Load.Running;

/// <summary>What an open loop is made with.</summary>
internal sealed record OpenLoopSettings
{
    /// <summary>The rate over the measured time.</summary>
    public required LoadShape Shape { get; init; }

    /// <summary>At the first rate before it, counted nowhere.</summary>
    public required TimeSpan WarmUp { get; init; }

    public ArrivalProcess Process { get; init; }

    public ulong Seed { get; init; } = 1;

    /// <summary>How long the end of the last one is waited for.</summary>
    public required TimeSpan Timeout { get; init; }

    /// <summary>Beyond that many under way, arrivals are counted as errors: memory has an end.</summary>
    public int UnderWayMax { get; init; } = 50_000;
}

/// <summary>
/// Sends transactions at moments that follow from the arrival process alone, whatever the system answers and however late it is. One thread of its own keeps the time and hands over; what is
/// to be sent is made before its moment. Latency counts from the intended moment, so that neither a stall of the system nor one of this program can hide (no coordinated omission).
/// </summary>
internal sealed class OpenLoop(OpenLoopSettings settings, IWorkload workload, ILoadTarget target, Recorder recorder, RunLog log)
{
    // A source of cancellation has one lock for all who wait for it: with many, the thread that keeps the time hardly ever meets somebody who holds one and has no core.
    private const int CancellationPool = 256;

    private static readonly TimeSpan s_grace = TimeSpan.FromSeconds(10);
    private static readonly TimeSpan s_ready = TimeSpan.FromMilliseconds(100);

    private readonly CancellationTokenSource[] _giveUps = NewGiveUps();
    private readonly TaskCompletionSource _quiet = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private uint _sent;
    private long _begin;
    private int _underWay = 1; // the thread itself counts until it has handed over the last one

    /// <summary>Transactions that are under way.</summary>
    public int UnderWay => Math.Max(0, Volatile.Read(ref _underWay) - 1);

    /// <summary>How the thread that keeps the time sleeps.</summary>
    public string Timing { get; private set; } = "";

    /// <summary>Runs until the last transaction has ended, or is given up.</summary>
    /// <param name="cancellation">Ends the arrivals; those under way are seen to their end.</param>
    public async Task Run(CancellationToken cancellation)
    {
        var started = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var thread = new Thread(() => KeepTime(started, cancellation)) { IsBackground = true, Name = "arrivals" };

        // The clock is set before the thread runs, so that whoever looks at it meanwhile sees a time before the beginning.
        var begin = Stopwatch.GetTimestamp() + Ticks(s_ready.TotalSeconds);
        log.Begin(begin + Ticks(settings.WarmUp.TotalSeconds));
        _begin = begin;
        thread.Start();
        await started.Task.ConfigureAwait(false);
        if (await Task.WhenAny(_quiet.Task, Task.Delay(settings.Timeout + s_grace, CancellationToken.None)).ConfigureAwait(false) != _quiet.Task)
        {
            foreach (var one in _giveUps)
            {
                await one.CancelAsync().ConfigureAwait(false);
            }

            await _quiet.Task.ConfigureAwait(false);
        }

        foreach (var one in _giveUps)
        {
            one.Dispose();
        }
    }

    private static CancellationTokenSource[] NewGiveUps()
    {
        var made = new CancellationTokenSource[CancellationPool];
        for (var i = 0; i < made.Length; i++)
        {
            made[i] = new CancellationTokenSource();
        }

        return made;
    }

    private static long Ticks(double seconds) => (long)(seconds * Stopwatch.Frequency);

    private void KeepTime(TaskCompletionSource ended, CancellationToken cancellation)
    {
        try
        {
            Timing = PreciseSleep.Prepare();
            var arrivals = new Arrivals(settings.Shape.After(settings.WarmUp), settings.Process, settings.Seed);
            while (arrivals.Next() is { } at && !cancellation.IsCancellationRequested)
            {
                var planned = workload.Next();
                var intended = _begin + Ticks(at);
                PreciseSleep.Until(intended);
                HandOver(planned, intended);
            }

            Leave();
            ended.SetResult();
        }
        catch (Exception problem)
        {
            ended.SetException(problem);
        }
    }

    private void HandOver(PlannedTransaction planned, long intended)
    {
        var now = Stopwatch.GetTimestamp();
        var measured = intended >= log.Origin;
        var window = measured ? recorder.Arrive(intended, now) : Window.Before;
        if (UnderWay >= settings.UnderWayMax)
        {
            // It was never sent, so the workload has nothing to remember.
            if (measured)
            {
                recorder.End(planned, null, Ending.NotSent, window, intended, now);
            }

            return;
        }

        Interlocked.Increment(ref _underWay);
        _ = SeeToItsEnd(planned, window, intended, now, measured, _giveUps[_sent++ % CancellationPool].Token);
    }

    private async Task SeeToItsEnd(PlannedTransaction planned, Window window, long intended, long handedOver, bool measured, CancellationToken giveUp)
    {
        TransactionReply? reply = null;
        string? failure = null;
        try
        {
            reply = await target.Submit(planned.Message, giveUp).ConfigureAwait(false);
        }
        catch (OperationCanceledException)
        {
            failure = "no answer";
        }
        catch (Exception problem)
        {
            // The client answers for every outcome; whatever it throws is a finding of the load test, not its end.
            failure = $"{problem.GetType().Name}: {problem.Message}";
        }

        var ended = Stopwatch.GetTimestamp();
        workload.Record(planned, reply, new SentAt(handedOver, ended));
        if (measured)
        {
            recorder.End(planned, reply, failure, window, intended, ended);
        }

        Leave();
    }

    private void Leave()
    {
        if (Interlocked.Decrement(ref _underWay) == 0)
        {
            _quiet.TrySetResult();
        }
    }
}
