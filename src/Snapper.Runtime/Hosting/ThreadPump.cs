using Snapper.Runtime.Execution;

namespace Snapper.Runtime.Hosting;

/// <summary>Pumps one executor on a thread of its own, and gives it a new thread when user code does not come back (W5).</summary>
public sealed class ThreadPump : IDisposable
{
    // A process that stood still looks once or twice when it goes on, and a thread on a crowded machine gets its turn
    // long before.
    private const int LooksMost = 200;
    private const int BoundsMost = 10;

    // While a process stands still, none of its threads is to blame: of the time between two looks so much counts.
    private const int StepsOfBound = 4;

    private readonly Executor _executor;
    private readonly Action<Exception> _failed;
    private readonly AutoResetEvent _signal = new(false); // a slim event holds a lock while it wakes, on which who is woken has to wait
    private volatile bool _idle;
    private volatile bool _stopped;
    private long _seenProgress;
    private TimeSpan _stuck;
    private long _lookedAt;
    private int _looks;
    private int _disowned;
    private Thread _thread;

    public ThreadPump(Executor executor, Action<Exception> failed)
    {
        _executor = executor;
        _failed = failed;
        executor.Wake = Wake;
        _thread = StartThread();
    }

    /// <summary>Threads that were given up, and have not come back.</summary>
    public int Disowned => Volatile.Read(ref _disowned);

    /// <summary>
    /// It is stuck where no other thread can go on for it: in code of a state or a result, on its way to JSON or back.
    /// </summary>
    public bool IsLost { get; private set; }

    /// <summary>
    /// Looks whether the executor is stuck in user code; called every tick while requests are under way, and always
    /// where other workers' transactions run, too.
    /// </summary>
    /// <returns>The call that was given up; null: all is well.</returns>
    public CallFrame? Watch(TimeProvider time, TimeSpan bound)
    {
        var progress = _executor.Progress;
        var now = time.GetTimestamp();
        var passed = time.GetElapsedTime(_lookedAt, now);
        _lookedAt = now;
        if (progress != _seenProgress || _idle)
        {
            _seenProgress = progress;
            _stuck = TimeSpan.Zero;
            _looks = 0;
            return null;
        }

        var most = bound / StepsOfBound;
        _stuck += passed < most ? passed : most;
        _looks++;
        if (_stuck < bound)
        {
            return null;
        }

        if (_executor.TryDisown() is not { } frame)
        {
            IsLost = _looks >= LooksMost && _stuck >= BoundsMost * bound;
            return null;
        }

        Interlocked.Increment(ref _disowned);
        _stuck = TimeSpan.Zero;
        _looks = 0;
        _thread = StartThread();
        return frame;
    }

    public void Dispose()
    {
        _stopped = true;
        _signal.Set();
        if (Thread.CurrentThread != _thread)
        {
            _thread.Join(TimeSpan.FromSeconds(5));
        }
    }

    private Thread StartThread()
    {
        var thread = new Thread(Loop) { IsBackground = true, Name = $"snapper-executor-{_executor.Index}" };
        thread.Start();
        return thread;
    }

    private void Wake()
    {
        Interlocked.MemoryBarrier(); // the item must be seen before the pump is taken for idle
        if (_idle && Interlocked.Exchange(ref _idle, false))
        {
            _signal.Set(); // once for each sleep
        }
    }

    private void Loop()
    {
        _executor.Enter();
        try
        {
            while (!_stopped)
            {
                if (!_executor.RunOne())
                {
                    Sleep();
                }
            }
        }
        catch (DisownedException)
        {
            // Another thread has gone on with the executor; this one ends here.
            Interlocked.Decrement(ref _disowned);
        }
        catch (Exception exception)
        {
            _failed(exception);
        }
        finally
        {
            Executor.Leave();
        }
    }

    private void Sleep()
    {
        _idle = true;
        Interlocked.MemoryBarrier();
        if (!_executor.HasWork && !_stopped)
        {
            _signal.WaitOne();
        }

        _idle = false;
    }
}
