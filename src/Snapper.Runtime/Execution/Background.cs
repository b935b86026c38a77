namespace Snapper.Runtime.Execution;

/// <summary>
/// Where a worker does what it does beside its executors: on the pool; or wherever a simulator puts it, which has one thread and one order of things.
/// </summary>
/// <param name="later">Does something soon, in the place of the pool; null: the pool does.</param>
public sealed class Background(Action<Action>? later)
{
    /// <summary>The pool's.</summary>
    public static Background Pool { get; } = new(null);

    /// <summary>The pool and threads do the work.</summary>
    public bool HasThreads => later is null;

    /// <summary>Begins something that goes on by itself.</summary>
    public Task Run(Func<Task> work)
    {
        if (later is null)
        {
            return Task.Run(work);
        }

        var begun = new TaskCompletionSource<Task>();
        later(() => begun.SetResult(work()));
        return begun.Task.Unwrap();
    }

    /// <summary>A promise whose keeper does not run what waits for it.</summary>
    public Promise<T> Promise<T>() => new(later);

    /// <summary>
    /// A pause that can be given up. Not <c>Task.Delay</c> with the token: where that is cancelled, who waits goes on on the pool, away from a simulator.
    /// </summary>
    public static Task Pause(TimeSpan pause, TimeProvider time, CancellationToken cancellation) => Task.Delay(pause, time, CancellationToken.None).WaitAsync(cancellation);

    /// <summary>Takes a turn at something that one does at a time; for what is seldom taken. A wait of the semaphore's own would end on the pool.</summary>
    public static async Task Enter(SemaphoreSlim one, TimeProvider time, CancellationToken cancellation)
    {
        while (!one.Wait(0, CancellationToken.None))
        {
            await Pause(s_turn, time, cancellation).ConfigureAwait(false);
        }
    }

    private static readonly TimeSpan s_turn = TimeSpan.FromMilliseconds(2);
}

/// <summary>Something that one sets and others wait for. Thread-safe.</summary>
public sealed class Promise<T>(Action<Action>? later)
{
    private readonly TaskCompletionSource<T> _source = new(later is null ? TaskCreationOptions.RunContinuationsAsynchronously : TaskCreationOptions.None);

    public Task<T> Task => _source.Task;

    public void TrySet(T value)
    {
        if (later is null)
        {
            _source.TrySetResult(value);
        }
        else
        {
            later(() => _source.TrySetResult(value));
        }
    }

    public void TryFail(Exception exception)
    {
        if (later is null)
        {
            _source.TrySetException(exception);
        }
        else
        {
            later(() => _source.TrySetException(exception));
        }
    }

    public void TryCancel()
    {
        if (later is null)
        {
            _source.TrySetCanceled();
        }
        else
        {
            later(() => _source.TrySetCanceled());
        }
    }
}
