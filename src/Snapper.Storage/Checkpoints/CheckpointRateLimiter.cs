namespace Snapper.Storage.Checkpoints;

/// <summary>
/// How fast checkpoints go. Commits wait for the same store, and the longer the more of it a checkpoint takes: a checkpoint that nobody waits for rests between its calls, three times as long as
/// the call took, so that it has a quarter of the store's time at most. As soon as somebody waits for a checkpoint, no checkpoint rests. Thread-safe.
/// </summary>
internal sealed class CheckpointRateLimiter(TimeProvider time)
{
    private const int Rests = 3;
    private static readonly TimeSpan s_longest = TimeSpan.FromMilliseconds(50);

    private readonly Lock _gate = new();
    private int _waiting;
    private TaskCompletionSource? _resting;

    /// <summary>Somebody waits.</summary>
    public bool IsUrgent
    {
        get
        {
            lock (_gate)
            {
                return _waiting > 0;
            }
        }
    }

    /// <summary>Somebody waits for a checkpoint from now on; whoever rests goes on.</summary>
    public void BeginWait()
    {
        TaskCompletionSource? resting;
        lock (_gate)
        {
            _waiting++;
            resting = _resting;
            _resting = null;
        }

        resting?.SetResult();
    }

    /// <summary>That one waits no more.</summary>
    public void EndWait()
    {
        lock (_gate)
        {
            _waiting--;
        }
    }

    /// <summary>Rests between two calls of the one checkpoint that runs.</summary>
    /// <param name="since">Timestamp of the beginning of the call before.</param>
    /// <param name="cancellation">Ends the rest with an exception, on the context of whoever rests: where a delay itself is cancelled, that one goes on on the pool.</param>
    public async Task Rest(long since, CancellationToken cancellation)
    {
        var rest = Rests * time.GetElapsedTime(since);
        Task ended;
        lock (_gate)
        {
            if (_waiting > 0)
            {
                return;
            }

            ended = (_resting = new TaskCompletionSource()).Task;
        }

        var passed = Task.Delay(rest < s_longest ? rest : s_longest, time, CancellationToken.None).WaitAsync(cancellation);
        await await Task.WhenAny(passed, ended);
        lock (_gate)
        {
            _resting = null;
        }
    }
}
