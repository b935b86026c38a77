namespace Snapper.Simulation.Storage;

/// <summary>
/// A thread that runs only while the simulator's own one waits for it: so that a call which blocks can stand still in its middle while others go on. One of
/// the two runs at any time; which one is decided by the seed alone. Idle ones are kept for the runs that follow.
/// </summary>
internal sealed class Fiber
{
    private const int MaxKept = 32;
    private static readonly Stack<Fiber> s_idle = new();

    // Semaphores spin before they sleep, on both sides: measured, sleeping at once costs a run of many hand-overs a third more processor time.
    private readonly SemaphoreSlim _go = new(0);
    private readonly SemaphoreSlim _back = new(0);
    private Action? _work;
    private bool _isDone = true;

    private Fiber() => new Thread(Loop, 256 * 1024) { IsBackground = true, Name = "simulated disk" }.UnsafeStart();

    /// <summary>One that is free.</summary>
    public static Fiber Take()
    {
        lock (s_idle)
        {
            return s_idle.TryPop(out var free) ? free : new Fiber();
        }
    }

    /// <summary>Its work is done, and others may take it.</summary>
    public void GiveBack()
    {
        lock (s_idle)
        {
            if (s_idle.Count < MaxKept)
            {
                s_idle.Push(this);
                return;
            }
        }

        End();
    }

    /// <summary>Begins work, and returns when it pauses or is done.</summary>
    /// <returns>True: it is done, and the fiber is free.</returns>
    public bool Begin(Action work)
    {
        _work = work;
        _isDone = false;
        return Continue();
    }

    /// <summary>Lets work go on that had paused.</summary>
    public bool Continue()
    {
        _go.Release();
        _back.Wait();
        return _isDone;
    }

    /// <summary>Inside of the work: waits for <see cref="Continue"/>.</summary>
    public void Pause()
    {
        _back.Release();
        _go.Wait();
    }

    /// <summary>Ends the thread; it must be free.</summary>
    private void End()
    {
        _work = null;
        _go.Release();
        _back.Wait();
        _go.Dispose();
        _back.Dispose();
    }

    private void Loop()
    {
        while (true)
        {
            _go.Wait();
            if (_work is not { } work)
            {
                _back.Release();
                return;
            }

            work(); // throws nothing: a call keeps its exception
            _work = null;
            _isDone = true;
            _back.Release();
        }
    }
}
