namespace Snapper.Dashboard.Store;

/// <summary>
/// One open page: when it shall draw itself again, at most every half second and only when something was heard; not at all while it is paused. One per circuit.
/// </summary>
public sealed class Pulse : IDisposable
{
    private static readonly TimeSpan Least = TimeSpan.FromMilliseconds(500);

    // One look at a worker brings several views, one after the other: they are drawn together.
    private static readonly TimeSpan Together = TimeSpan.FromMilliseconds(50);

    private readonly Fleet _fleet;
    private readonly Poller _poller;
    private readonly Feeds _feeds;
    private readonly Streams _streams;
    private readonly Timer _timer;
    private readonly Lock _lock = new();
    private DateTimeOffset _last;
    private bool _armed;

    public Pulse(Fleet fleet, Poller poller, Feeds feeds, Streams streams)
    {
        (_fleet, _poller, _feeds, _streams) = (fleet, poller, feeds, streams);
        _timer = new Timer(_ => Fire(), null, Timeout.Infinite, Timeout.Infinite);
        fleet.Viewing(1);
        poller.Polled += Arm;
        feeds.Answered += Arm;
        streams.Told += Arm;
        poller.Hurry();
        streams.Hurry();
    }

    /// <summary>Time to draw; raised on a pool thread.</summary>
    public event Action? Beat;

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
        _fleet.Viewing(-1);
        _streams.Hurry();
        _timer.Dispose();
    }

    private void Arm()
    {
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
