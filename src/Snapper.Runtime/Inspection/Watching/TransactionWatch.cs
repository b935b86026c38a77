using Snapper.Runtime.Execution;
using Snapper.Runtime.Requests;

namespace Snapper.Runtime.Inspection.Watching;

/// <summary>
/// Samples transactions while somebody looks. Which ones says a hash of the request's id, so that all workers sample the same; how many adapts, so that watching costs about the same at
/// any load. Thread-safe.
/// </summary>
internal sealed class TransactionWatch
{
    private const int MostKept = 1024;
    private const int MostPerSecond = 200;
    private const int OneInMost = 4096;

    private readonly Lock _lock = new();
    private readonly Queue<AttemptTrace> _kept = new();
    private readonly HotActors _hot;
    private readonly AccessSums _access = new();
    private readonly string _worker;
    private readonly ITransactionObserver? _observer;
    private readonly TimeSpan _lease;
    private volatile bool _on;
    private int _oneIn = 1;
    private long _until;
    private long _since;
    private long _dropped;
    private long _second;
    private int _thisSecond;

    public TransactionWatch(TimeProvider time, string worker, TimeSpan lease, ITransactionObserver? observer)
    {
        Clock = new WatchClock(time);
        _hot = new HotActors(Clock);
        _worker = worker;
        _lease = lease;
        _observer = observer;
    }

    public WatchClock Clock { get; }

    /// <summary>The watched actors.</summary>
    public ActorTimelines Timelines { get; } = new();

    /// <summary>An attempt begins: its trace, if somebody looks and it is one of the sample.</summary>
    public AttemptTrace? Begin(Attempt attempt)
    {
        if (_observer is { } observer && observer.Wants(attempt.Request.Id, attempt.Request.Asked.TraceParent))
        {
            return new AttemptTrace(this, attempt, _worker) { IsExported = true };
        }

        return _on ? BeginWatched(attempt) : null;
    }

    /// <summary>Somebody looks.</summary>
    public void Renew()
    {
        lock (_lock)
        {
            var now = Clock.Now;
            _until = now + Clock.Ticks(_lease);
            if (!_on)
            {
                _since = now;
                _hot.Clear();
                _access.Clear();
                _on = true;
            }
        }
    }

    /// <summary>An attempt that was sampled is over.</summary>
    public void Keep(AttemptTrace trace)
    {
        if (trace.IsExported)
        {
            _observer!.Traced(trace.View(), trace.Request.Asked.TraceParent);
        }

        lock (_lock)
        {
            if (!_on)
            {
                return;
            }

            trace.Count(_hot, _access, _oneIn);
            _kept.Enqueue(trace);
            if (_kept.Count > MostKept)
            {
                _kept.Dequeue();
                _dropped++;
            }
        }
    }

    public TracesView Traces(TraceFilter filter)
    {
        Renew();
        AttemptTrace[] kept;
        long dropped;
        lock (_lock)
        {
            kept = _kept.ToArray();
            dropped = _dropped;
        }

        var traces = new List<TraceView>();
        for (var i = kept.Length - 1; i >= 0 && traces.Count < filter.Limit; i--)
        {
            if (IsAsked(kept[i], filter))
            {
                traces.Add(kept[i].View());
            }
        }

        return new TracesView(_worker, Clock.NowMs, Clock.Ms(_since), Volatile.Read(ref _oneIn), kept.Length, dropped, traces);
    }

    public HotView Hot(int limit)
    {
        Renew();
        lock (_lock)
        {
            return new HotView(_worker, Clock.NowMs, Clock.Ms(_since), _oneIn, _hot.View(limit));
        }
    }

    public AccessView Access()
    {
        Renew();
        lock (_lock)
        {
            return new AccessView(_worker, Clock.Ms(_since), _oneIn, _access.View());
        }
    }

    private static bool IsAsked(AttemptTrace trace, TraceFilter filter) =>
        (filter.Request is null || trace.Request.Id == filter.Request)
        && (filter.Reason is null || trace.Reason == filter.Reason)
        && (filter.Outcome is null || trace.Outcome == filter.Outcome)
        && (filter.AtLeastMs <= 0 || trace.ElapsedMs >= filter.AtLeastMs)
        && (filter.Actor is null || trace.Uses(filter.Actor));

    private AttemptTrace? BeginWatched(Attempt attempt)
    {
        var now = Clock.Now;
        if (now > Volatile.Read(ref _until))
        {
            _on = false;
            return null;
        }

        var oneIn = (ulong)Volatile.Read(ref _oneIn);
        if (oneIn > 1 && (ulong)IdempotencyIndex.KeyOf(attempt.Request.Id) % oneIn != 0)
        {
            return null;
        }

        Adapt(now);
        return new AttemptTrace(this, attempt, _worker);
    }

    /// <summary>The sample is halved when it is large, and doubled when it is small. A smaller one is part of every larger one.</summary>
    private void Adapt(long now)
    {
        lock (_lock)
        {
            var second = (long)(Clock.Ms(now) / 1000);
            if (second == _second)
            {
                if (++_thisSecond > MostPerSecond && _oneIn < OneInMost)
                {
                    _oneIn *= 2;
                    _thisSecond /= 2;
                }

                return;
            }

            if (_thisSecond < MostPerSecond / 4 && _oneIn > 1)
            {
                _oneIn /= 2;
            }

            _second = second;
            _thisSecond = 1;
        }
    }
}
