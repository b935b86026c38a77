using Snapper.Contracts;
using Snapper.Protocol.Identity;

namespace Snapper.Runtime.Inspection.Watching;

/// <summary>
/// Samples transactions while somebody looks. Which ones says a hash of the request's id, so that all workers sample the same; how many adapts, so that watching costs about the same at
/// any load. Thread-safe.
/// </summary>
public sealed class TransactionWatch
{
    private const int MaxKept = 1024;

    /// <summary>Calls, declared and touched actors over all that is kept: some transactions have thousands.</summary>
    private const int MaxWeight = 128 * 1024;

    private readonly Lock _lock = new();
    private readonly Queue<AttemptTrace> _kept = new();
    private readonly SampleRate _rate;
    private readonly LeaseTimer _timer;
    private readonly HotActors _hot;
    private readonly AccessSums _access = new();
    private readonly string _worker;
    private readonly ITransactionObserver? _observer;
    private readonly long _lease;
    private volatile bool _on;
    private long _until;
    private long _since;
    private long _dropped;
    private int _weight;

    /// <summary>Nobody looks yet.</summary>
    /// <param name="time">Clock and timers.</param>
    /// <param name="worker">Name of the worker.</param>
    /// <param name="lease">For how long a question keeps watching up.</param>
    /// <param name="observer">Who exports transactions; null: nobody.</param>
    /// <param name="post">Runs an action on an actor's executor.</param>
    public TransactionWatch(TimeProvider time, string worker, TimeSpan lease, ITransactionObserver? observer, Action<ActorKey, Action> post)
    {
        Clock = new WatchClock(time);
        _hot = new HotActors(Clock);
        _rate = new SampleRate(Clock);
        _worker = worker;
        _lease = Clock.Ticks(lease);
        _observer = observer;
        _timer = new LeaseTimer(time, lease, Sweep);
        Timelines = new ActorTimelines(Clock, _lease, _timer, post);
    }

    public WatchClock Clock { get; }

    public ActorTimelines Timelines { get; }

    /// <summary>An attempt begins: its trace, if somebody looks and it is one of the sample.</summary>
    /// <param name="attempt">The attempt.</param>
    /// <param name="before">The attempt of the same request before it; null: it is the first.</param>
    public AttemptTrace? Begin(IWatchedAttempt attempt, IWatchedAttempt? before)
    {
        var exported = _observer is { } observer && observer.Wants(attempt.Request.Id, attempt.Request.Asked.TraceParent);
        var oneIn = _on ? Sample(attempt) : 0;
        return exported || oneIn != 0 ? new AttemptTrace(this, attempt, before, _worker) { IsExported = exported, OneIn = oneIn } : null;
    }

    /// <summary>An attempt that was traced is over.</summary>
    public void Keep(AttemptTrace trace)
    {
        if (trace.IsExported)
        {
            _observer!.Traced(trace.View(), trace.TraceParent, trace.TraceState);
        }

        lock (_lock)
        {
            if (!_on || trace.OneIn == 0)
            {
                return;
            }

            trace.Count(_hot, _access);
            _kept.Enqueue(trace);
            _weight += trace.Weight;
            while (_kept.Count > MaxKept || (_weight > MaxWeight && _kept.Count > 1))
            {
                _weight -= _kept.Dequeue().Weight;
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

        return new TracesView(_worker, Clock.NowMs, Clock.Ms(_since), _rate.OneIn, kept.Length, dropped) { Traces = traces };
    }

    public HotView Hot(int limit)
    {
        Renew();
        lock (_lock)
        {
            return new HotView(_worker, Clock.NowMs, Clock.Ms(_since), _rate.OneIn) { Actors = _hot.View(limit) };
        }
    }

    public AccessView Access()
    {
        Renew();
        lock (_lock)
        {
            return new AccessView(_worker, Clock.Ms(_since), _rate.OneIn) { Methods = _access.View() };
        }
    }

    private static bool IsAsked(AttemptTrace trace, TraceFilter filter) =>
        (filter.Request is null || trace.Request == filter.Request)
        && (filter.Reason is null || trace.Reason == filter.Reason)
        && (filter.Outcome is null || trace.Outcome == filter.Outcome)
        && (filter.AtLeastMs <= 0 || trace.ElapsedMs >= filter.AtLeastMs)
        && (filter.Actor is null || trace.Uses(filter.Actor));

    /// <summary>Somebody looks.</summary>
    private void Renew()
    {
        lock (_lock)
        {
            var now = Clock.Now;
            if (now > _until)
            {
                Forget(); // a lease that nothing has ended: what was gathered under it has holes
            }

            Volatile.Write(ref _until, now + _lease);
            if (_on)
            {
                _rate.Settle(now);
            }
            else
            {
                _since = now;
                _rate.Reset(now);
                _on = true;
            }
        }

        _timer.Start();
    }

    private int Sample(IWatchedAttempt attempt)
    {
        var now = Clock.Now;
        if (now <= Volatile.Read(ref _until))
        {
            return _rate.Take(attempt.Request.Id, now);
        }

        EndLease(now);
        return 0;
    }

    /// <summary>Lets go of everything that nobody has asked for during a lease.</summary>
    /// <returns>True: there is something left that somebody looks at.</returns>
    private bool Sweep()
    {
        var now = Clock.Now;
        var timelines = Timelines.Sweep(now);
        return EndLease(now) || timelines;
    }

    private bool EndLease(long now)
    {
        lock (_lock)
        {
            if (now > _until)
            {
                Forget();
            }

            return _on;
        }
    }

    private void Forget()
    {
        _on = false;
        _kept.Clear();
        _kept.TrimExcess();
        _hot.Clear();
        _access.Clear();
        _dropped = 0;
        _weight = 0;
    }
}
