using Snapper.Contracts;
using Snapper.Protocol.Batches;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;
using Snapper.Runtime.Door;

namespace Snapper.Runtime.Inspection.Watching;

/// <summary>
/// What one sampled attempt does, call by call. Its executors write, each for its own calls; anyone reads. Only sampled attempts have one: for all others each place that would tell
/// something costs one test. It outlives its attempt where it is kept, so it has its own copy of what is shown: names, ids (bounded by the rules for names) and times. No inputs,
/// results or states.
/// </summary>
public sealed class AttemptTrace(TransactionWatch watch, IWatchedAttempt attempt, IWatchedAttempt? before, string worker)
{
    /// <summary>More calls are counted, not kept.</summary>
    public const int MaxCalls = 128;

    private readonly Lock _lock = new();
    private readonly List<Call> _calls = [];
    private readonly int _number = attempt.Request.Attempts;
    private readonly TransactionId _tid = attempt.Tid;
    private readonly BatchId _bid = attempt.Bid;
    private readonly bool _branch = attempt.IsBranch;
    private readonly bool _pact = !attempt.Tid.IsAct;
    private readonly ActorKey _root = attempt.Request.Asked.Actor;
    private readonly string? _method = attempt.Request.Asked.Method is { Length: > 0 } method ? method : null;
    private readonly ActorAccess[] _declared = attempt.Request.Declared ?? [];
    private readonly long _receivedAt = attempt.Request.ReceivedAt == 0 ? attempt.BeganAt : attempt.Request.ReceivedAt;
    private readonly long _waitsSince = WaitsSince(attempt, before);
    private readonly WatchClock _clock = watch.Clock;
    private DeclaredAccess[]? _touched;
    private IWatchedAttempt? _attempt = attempt; // released at the end, with the request, its input and its result
    private string? _outcome;
    private string? _reason;
    private int _dropped;
    private long _endedAt;
    private long _answeredAt;
    private long _finishedAt;

    public string Request { get; } = attempt.Request.Id;

    /// <summary>W3C trace context of the caller; null: none.</summary>
    public string? TraceParent { get; } = attempt.Request.Asked.TraceParent;

    /// <summary>What goes along with it; null: nothing.</summary>
    public string? TraceState { get; } = attempt.Request.Asked.TraceState;

    public long BeganAt { get; } = attempt.BeganAt;

    /// <summary>How many transactions it stood for when it began; 0: it is not in the sample.</summary>
    public int OneIn { get; init; }

    /// <summary>What it holds: calls, declared and touched actors.</summary>
    public int Weight => _calls.Count + _declared.Length + (_touched?.Length ?? 0);

    /// <summary>The observer of the worker wants it.</summary>
    public bool IsExported { get; init; }

    /// <summary>It is over, and tells nothing any more.</summary>
    public bool IsOver => Volatile.Read(ref _outcome) is not null;

    /// <summary>A call was made, or the root begins.</summary>
    /// <returns>Its index for the other members; -1: there are too many.</returns>
    public int Asked(ActorKey actor, string method, int parent, string? elsewhere = null)
    {
        lock (_lock)
        {
            if (_outcome is not null)
            {
                return -1;
            }

            if (_calls.Count == MaxCalls)
            {
                _dropped++;
                return -1;
            }

            // A call that runs elsewhere has a trace of its own there; here it lasts from its question to its answer.
            // The root was asked for before its attempt began: that begins when the root's turn has come.
            var now = _calls.Count == 0 && !_branch ? _waitsSince : _clock.Now;
            _calls.Add(new Call
            {
                Actor = actor, Method = method, Parent = parent, Worker = elsewhere ?? worker, AskedAt = now, StartedAt = elsewhere is null ? 0 : now, WaitsSince = elsewhere is null ? now : 0,
            });
            return _calls.Count - 1;
        }
    }

    public void Started(int call) => Change(call, static (call, now) =>
    {
        call.StartedAt = now;
        call.GoOn(now);
    });

    public void Waits(int call) => Change(call, static (call, now) => call.WaitsSince = call.WaitsSince == 0 ? now : call.WaitsSince);

    public void GoesOn(int call) => Change(call, static (call, now) => call.GoOn(now));

    public void Ended(int call) => Change(call, static (call, now) =>
    {
        call.EndedAt = now;
        call.GoOn(now);
    });

    /// <summary>Its user code is over. A branch of a transaction whose root is elsewhere is done with that.</summary>
    public void CodeEnded()
    {
        _endedAt = _clock.Now;
        if (_branch)
        {
            Finish("branch", null);
        }
    }

    /// <summary>The system runs it again.</summary>
    public void Repeated(AbortReason reason) => Finish("repeated", AbortReasons.Name(reason));

    public void Answered(Outcome outcome, AbortReason reason)
    {
        _answeredAt = outcome == Door.Outcome.Committed ? _clock.Now : 0;
        Finish(
            outcome switch { Door.Outcome.Committed => "committed", Door.Outcome.Aborted => "aborted", _ => "inDoubt" },
            reason == AbortReason.None ? null : AbortReasons.Name(reason));
    }

    public bool Uses(string actor)
    {
        lock (_lock)
        {
            foreach (var call in _calls)
            {
                if (call.Actor.ToString() == actor)
                {
                    return true;
                }
            }
        }

        return false;
    }

    public string? Reason => _reason;

    public string? Outcome => _outcome;

    public double ElapsedMs => _clock.Elapsed(_receivedAt, Math.Max(_answeredAt, _endedAt));

    /// <summary>Adds it to the sums of those who keep some.</summary>
    public void Count(HotActors hot, AccessSums access)
    {
        lock (_lock)
        {
            var now = _clock.Now;
            for (var i = 0; i < _calls.Count; i++)
            {
                var call = _calls[i];
                if (call.Worker == worker)
                {
                    var ended = call.EndedAt == 0 ? _endedAt : call.EndedAt;
                    var executing = call.StartedAt == 0 ? 0 : Math.Max(0, _clock.Elapsed(call.StartedAt, Math.Max(ended, call.StartedAt)) - call.WaitedAfterStart(_clock));
                    hot.Add(call.Actor, IsFirst(i) ? OneIn : 0, OneIn * _clock.Elapsed(0, call.Waited), OneIn * executing, _reason == "conflict" ? OneIn : 0, now);
                }
            }
        }

        if (!_branch && _pact)
        {
            access.Add(_root.Type, _method!, _declared, _touched!, _reason == "undeclared");
        }
    }

    public TraceView View()
    {
        lock (_lock)
        {
            var calls = new CallView[_calls.Count];
            for (var i = 0; i < calls.Length; i++)
            {
                var call = _calls[i];
                calls[i] = new CallView(
                    call.Actor.ToString(), call.Method, call.Worker, call.Parent, _clock.Ms(call.AskedAt), _clock.MsOrNull(call.StartedAt), _clock.MsOrNull(call.EndedAt),
                    _clock.Elapsed(0, call.Waited));
            }

            var declared = Array.ConvertAll(_declared, access => new TouchedView(access.Actor.ToString(), access.Calls));
            var touched = Array.ConvertAll(_touched ?? [], access => new TouchedView(access.Actor.ToString(), access.Calls));
            return new TraceView(
                Request, _tid.Value, _bid.Value, _pact ? "pact" : "act", _root.ToString(), _method, worker, _number, _outcome!, _reason, _clock.Ms(_receivedAt), _clock.Ms(BeganAt),
                _clock.MsOrNull(_endedAt), _clock.MsOrNull(_answeredAt))
            {
                Declared = declared,
                Touched = touched,
                Calls = calls,
                CallsDropped = _dropped,
            };
        }
    }

    /// <summary>Since when the root waits: a first attempt since the request came, one that an undo took out since that. An ACT that has died is no longer in its root's line.</summary>
    private static long WaitsSince(IWatchedAttempt attempt, IWatchedAttempt? before)
    {
        var request = attempt.Request;
        if (before is null)
        {
            return request.ReceivedAt == 0 ? attempt.BeganAt : request.ReceivedAt;
        }

        return !attempt.Tid.IsAct && before.Trace is { } trace && Volatile.Read(ref trace._finishedAt) is not 0 and var at ? at : attempt.BeganAt;
    }

    private bool IsFirst(int index)
    {
        for (var i = 0; i < index; i++)
        {
            if (_calls[i].Actor.Equals(_calls[index].Actor))
            {
                return false;
            }
        }

        return true;
    }

    private void Change(int call, Action<Call, long> change)
    {
        if (call < 0)
        {
            return;
        }

        lock (_lock)
        {
            if (_outcome is null)
            {
                change(_calls[call], _clock.Now);
            }
        }
    }

    private void Finish(string outcome, string? reason)
    {
        lock (_lock)
        {
            if (_outcome is not null)
            {
                return;
            }

            var now = _clock.Now;
            foreach (var call in _calls)
            {
                call.GoOn(now); // it ends while it waits, as at a timeout
            }

            _touched = _attempt!.Touched();
            _attempt = null;
            Volatile.Write(ref _finishedAt, now);
            _reason = reason;
            _outcome = outcome;
        }

        watch.Keep(this);
    }

    private sealed class Call
    {
        public required ActorKey Actor { get; init; }

        public required string Method { get; init; }

        public required string Worker { get; init; }

        public required int Parent { get; init; }

        public required long AskedAt { get; init; }

        public long StartedAt { get; set; }

        public long EndedAt { get; set; }

        /// <summary>In ticks of the clock.</summary>
        public long Waited { get; private set; }

        public long WaitsSince { get; set; }

        public void GoOn(long now)
        {
            if (WaitsSince != 0)
            {
                Waited += now - WaitsSince;
                WaitsSince = 0;
            }
        }

        public double WaitedAfterStart(WatchClock clock) => Math.Max(0, clock.Elapsed(0, Waited) - clock.Elapsed(AskedAt, StartedAt));
    }
}
