using Snapper.Runtime.Inspection;
using System.Collections.Concurrent;
using Snapper.Benchmarks.Statistics;
using Snapper.Client.Messages;
using Snapper.Scenarios.Changes;
using Snapper.Scenarios.Workloads;

namespace Snapper.Load.Running;

/// <summary>Counts what becomes of the arrivals of the measured time. Thread-safe, of bounded size.</summary>
internal sealed class Recorder
{
    private const int KindsMax = 64;

    private readonly ConcurrentDictionary<string, long> _outcomes = new(StringComparer.Ordinal);
    private readonly WindowCounts[] _windows = [new(), new(), new(), new()];
    private readonly long[] _longestWait;
    private readonly RunLog _log;
    private long _attempts;
    private long _answered;
    private long _errors;
    private long _systemAborts;
    private long _applicationAborts;

    public Recorder(TimeSpan length, TimeSpan timeout, int actors, RunLog log)
    {
        _log = log;
        _longestWait = new long[actors];
        Course = new Course(length, timeout);
    }

    /// <summary>Microseconds from the intended start, of everything that arrived.</summary>
    public LatencyHistogram Latency { get; } = new();

    /// <summary>Microseconds from the intended start to the moment at which the transaction was handed over.</summary>
    public LatencyHistogram ArrivalError { get; } = new();

    /// <summary>The same over time.</summary>
    public Course Course { get; }

    /// <summary>How many ended how.</summary>
    public IReadOnlyDictionary<string, long> Outcomes => _outcomes;

    public long Arrivals { get; private set; }

    public long Committed => _outcomes.GetValueOrDefault(Ending.Committed);

    public long Errors => Volatile.Read(ref _errors);

    public long SystemAborts => Volatile.Read(ref _systemAborts);

    public long ApplicationAborts => Volatile.Read(ref _applicationAborts);

    /// <summary>How often the system started those that it numbered, on average.</summary>
    public double MeanAttempts => _answered == 0 ? 0 : (double)Volatile.Read(ref _attempts) / Volatile.Read(ref _answered);

    public WindowCounts this[Window window] => _windows[(int)window];

    /// <summary>A transaction arrives: called by the thread that keeps the time, in order.</summary>
    /// <param name="intended">When it should be handed over, in ticks.</param>
    /// <param name="handedOver">When it is.</param>
    public Window Arrive(long intended, long handedOver)
    {
        Arrivals++;
        ArrivalError.Record(Microseconds(handedOver - intended));
        Course.Arrive(_log.Seconds(intended));
        var window = _log.Window;
        this[window].Arrive();
        return window;
    }

    /// <summary>It has ended.</summary>
    /// <param name="planned">What it was.</param>
    /// <param name="reply">Null: no answer.</param>
    /// <param name="failure">Without an answer: why.</param>
    /// <param name="window">When it arrived.</param>
    /// <param name="intended">When it should have been handed over.</param>
    /// <param name="ended">When its answer was there, or nobody waited any more.</param>
    public void End(PlannedTransaction planned, TransactionReply? reply, string? failure, Window window, long intended, long ended)
    {
        var latency = Microseconds(ended - intended);
        var (kind, label) = Ending.Of(reply, failure);
        Latency.Record(latency);
        Count(label);
        if (reply is { Attempts: > 0 })
        {
            Interlocked.Add(ref _attempts, reply.Attempts);
            Interlocked.Increment(ref _answered);
        }

        _ = kind switch
        {
            EndingKind.Error => Interlocked.Increment(ref _errors),
            EndingKind.SystemAbort => Interlocked.Increment(ref _systemAborts),
            EndingKind.ApplicationAbort => Interlocked.Increment(ref _applicationAborts),
            _ => 0,
        };
        Course.End(_log.Seconds(intended), _log.Seconds(ended), latency, kind);
        this[window].End(latency, kind);
        if (window != Window.During)
        {
            return;
        }

        foreach (var actor in planned.Actors)
        {
            AtomicMax.Raise(ref _longestWait[actor], latency);
        }
    }

    /// <summary>The longest wait, in microseconds, of each actor's callers during the change; actors that were not touched then are left out.</summary>
    public long[] LongestWaits() => [.. _longestWait.Where(static wait => wait > 0)];

    private void Count(string label)
    {
        // Details of refusals may differ without end; a bound keeps a broken system from filling the memory with them.
        label = _outcomes.Count < KindsMax || _outcomes.ContainsKey(label) ? label : Ending.Others;
        _outcomes.AddOrUpdate(label, 1, static (_, count) => count + 1);
    }

    private static long Microseconds(long ticks) => (long)(ticks / (double)System.Diagnostics.Stopwatch.Frequency * 1_000_000);
}

/// <summary>What became of the arrivals of a part of the run.</summary>
internal sealed class WindowCounts
{
    private long _arrivals;
    private long _systemAborts;

    public LatencyHistogram Latency { get; } = new();

    public long Arrivals => Volatile.Read(ref _arrivals);

    public long SystemAborts => Volatile.Read(ref _systemAborts);

    public void Arrive() => Interlocked.Increment(ref _arrivals);

    public void End(long latency, EndingKind kind)
    {
        Latency.Record(latency);
        if (kind == EndingKind.SystemAbort)
        {
            Interlocked.Increment(ref _systemAborts);
        }
    }
}
