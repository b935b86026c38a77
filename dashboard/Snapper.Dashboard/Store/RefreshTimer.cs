namespace Snapper.Dashboard.Store;

/// <summary>
/// One open page: when it shall draw itself again, at most every half second and only when something was heard; not at all while it is paused. One per circuit.
/// </summary>
public sealed class RefreshTimer : IDisposable
{
    private static readonly TimeSpan Least = TimeSpan.FromMilliseconds(500);

    // One look at a worker brings several views, one after the other: they are drawn together.
    private static readonly TimeSpan Together = TimeSpan.FromMilliseconds(50);

    private readonly Poller _poller;
    private readonly Feeds _feeds;
    private readonly Streams _streams;
    private readonly Viewer _viewer;
    private readonly Timer _timer;
    private readonly Lock _lock = new();
    private DateTimeOffset _last;
    private TaskCompletionSource _heard = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private bool _armed;

    public RefreshTimer(Fleet fleet, Poller poller, Feeds feeds, Streams streams)
    {
        (_poller, _feeds, _streams) = (poller, feeds, streams);
        _timer = new Timer(_ => Fire(), null, Timeout.Infinite, Timeout.Infinite);
        _viewer = new Viewer(fleet, streams);
        poller.Polled += Arm;
        feeds.Answered += Arm;
        streams.Told += Arm;
        poller.Hurry();
    }

    /// <summary>Time to draw; raised on a pool thread.</summary>
    public event Action? Beat;

    /// <summary>Is done when something more has been heard; take it before looking at what is known.</summary>
    public Task Heard => Volatile.Read(ref _heard).Task;

    /// <summary>What is shown stays as it is.</summary>
    public bool Paused { get; private set; }

    /// <summary>When it was paused.</summary>
    public DateTimeOffset? PausedAt { get; private set; }

    /// <summary>Pauses, or goes on.</summary>
    public void Pause(bool paused)
    {
        (Paused, PausedAt) = (paused, paused ? DateTimeOffset.UtcNow : null);
        Beat?.Invoke();
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _poller.Polled -= Arm;
        _feeds.Answered -= Arm;
        _streams.Told -= Arm;
        _viewer.Dispose();
        _timer.Dispose();
    }

    private void Arm()
    {
        Interlocked.Exchange(ref _heard, new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously)).TrySetResult();
        lock (_lock)
        {
            if (_armed || Paused) return;
            _armed = true;
            var wait = _last + Least - DateTimeOffset.UtcNow;
            try
            {
                _timer.Change(wait > Together ? wait : Together, Timeout.InfiniteTimeSpan);
            }
            catch (ObjectDisposedException)
            {
                // The page was closed at this moment.
            }
        }
    }

    private void Fire()
    {
        lock (_lock)
        {
            _armed = false;
            _last = DateTimeOffset.UtcNow;
        }

        if (!Paused) Beat?.Invoke();
    }
}
