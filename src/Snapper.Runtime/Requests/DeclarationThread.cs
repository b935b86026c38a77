using Snapper.Runtime.Door;
using Snapper.Runtime.Execution;

namespace Snapper.Runtime.Requests;

/// <summary>
/// Runs the declarations of which nothing is proven, one after another, on a thread that the worker can do without. One
/// that does not come back within the turn bound is given up: its request is refused, the thread is replaced, and until
/// it comes back its method takes no request that needs it. A thread cannot be stopped in .NET: it goes on, and uses a
/// core if it computes; there is one for each such method at most. Thread-safe.
/// </summary>
internal sealed class DeclarationThread : IDisposable
{
    // While a process stands still, none of its threads is to blame: of the time between two looks so much counts.
    private const int StepsOfBound = 4;

    private readonly object _lock = new();
    private readonly Queue<Job> _waiting = new();
    private readonly HashSet<RootMethod> _stuck = [];
    private readonly Worker _worker;
    private readonly Declarations _declarations;
    private readonly ITimer _timer;
    private readonly TimeSpan _bound;
    private readonly TimeSpan _tick;
    private Job? _running;
    private int _life; // counts the threads; each but the last was given up
    private bool _hasThread;
    private bool _isWatched;
    private bool _isOver;
    private TimeSpan _runningFor;
    private long _lookedAt;

    public DeclarationThread(Worker worker, Declarations declarations)
    {
        _worker = worker;
        _declarations = declarations;
        _bound = worker.Options.TurnBound;
        _tick = worker.Options.TurnTick;
        _timer = worker.Time.CreateTimer(_ => Look(), null, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
    }

    /// <summary>Threads that were given up, and have not come back.</summary>
    public int Disowned
    {
        get
        {
            lock (_lock)
            {
                return _stuck.Count;
            }
        }
    }

    /// <summary>Has a method declare.</summary>
    public Task<TransactionRequest> Declare(TransactionRequest asked, RootMethod method)
    {
        var job = new Job(asked, method);
        lock (_lock)
        {
            if (_isOver)
            {
                return Task.FromResult(asked); // the worker is stopping, and says so
            }

            if (_stuck.Contains(method))
            {
                return Task.FromResult(Closed(asked));
            }

            if (_waiting.Count >= _worker.Options.MaxInFlight)
            {
                var full = $"{_worker.Options.MaxInFlight} requests wait for their declarations.";
                return Task.FromResult(
                    Declarations.Failed(asked, RejectionKind.Overloaded, full, Admission.ShortRetry));
            }

            _waiting.Enqueue(job);
            if (!_hasThread)
            {
                StartThread();
            }

            if (!_isWatched)
            {
                _isWatched = true;
                _lookedAt = _worker.Time.GetTimestamp();
                _timer.Change(_tick, _tick);
            }

            Monitor.Pulse(_lock);
        }

        return job.Answer.Task;
    }

    public void Dispose()
    {
        lock (_lock)
        {
            _isOver = true;
            while (_waiting.TryDequeue(out var job))
            {
                job.Answer.TrySetResult(job.Asked);
            }

            _running?.Answer.TrySetResult(_running.Asked);
            Monitor.PulseAll(_lock);
        }

        _timer.Dispose();
    }

    private static TransactionRequest Closed(TransactionRequest asked) => Declarations.Failed(
        asked, RejectionKind.Overloaded, $"{Declarations.What(asked)} has not come back from an earlier request.",
        Admission.ShortRetry);

    private void StartThread()
    {
        var life = ++_life;
        _hasThread = true;
        new Thread(() => Loop(life)) { IsBackground = true, Name = "snapper-declarations" }.Start();
    }

    private void Loop(int life)
    {
        while (Next(life) is { } job)
        {
            var declared = _declarations.Of(job.Asked, job.Method);
            if (!End(life, job, declared))
            {
                return;
            }
        }
    }

    private Job? Next(int life)
    {
        lock (_lock)
        {
            while (!_isOver && life == _life)
            {
                if (!_waiting.TryDequeue(out var job))
                {
                    Monitor.Wait(_lock);
                }
                else if (_stuck.Contains(job.Method))
                {
                    job.Answer.TrySetResult(Closed(job.Asked));
                }
                else
                {
                    _running = job;
                    _runningFor = TimeSpan.Zero;
                    return job;
                }
            }

            return null;
        }
    }

    /// <returns>False: another thread has gone on in the place of this one.</returns>
    private bool End(int life, Job job, TransactionRequest declared)
    {
        lock (_lock)
        {
            if (life != _life)
            {
                _stuck.Remove(job.Method);
                return false;
            }

            _running = null;
        }

        job.Answer.TrySetResult(declared);
        return true;
    }

    private void Look()
    {
        Job? stuck = null;
        lock (_lock)
        {
            var now = _worker.Time.GetTimestamp();
            var passed = _worker.Time.GetElapsedTime(_lookedAt, now);
            _lookedAt = now;
            if (_running is null && _waiting.Count == 0)
            {
                _isWatched = false; // an idle worker burns no CPU
                _timer.Change(Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
            }
            else if (_running is not null && !_isOver)
            {
                var most = _bound / StepsOfBound;
                _runningFor += passed < most ? passed : most;
                if (_runningFor >= _bound)
                {
                    stuck = _running;
                    _stuck.Add(stuck.Method);
                    _running = null;
                    StartThread();
                }
            }
        }

        if (stuck is not null)
        {
            RuntimeLog.DeclarationStuck(_worker.Logger, stuck.Asked.Actor.Type, stuck.Asked.Method,
                (long)_bound.TotalMilliseconds);
            var why = $"{Declarations.What(stuck.Asked)} had not ended after {_bound.TotalMilliseconds:0} ms.";
            stuck.Answer.TrySetResult(Declarations.Failed(stuck.Asked, RejectionKind.Invalid, why));
        }
    }

    private sealed record Job(TransactionRequest Asked, RootMethod Method)
    {
        public TaskCompletionSource<TransactionRequest> Answer { get; } =
            new(TaskCreationOptions.RunContinuationsAsynchronously);
    }
}
