namespace Snapper.Runtime.Inspection.Watching;

/// <summary>Comes back while somebody looks, so that what nobody looks at any more is let go, also where nothing happens. There is no timer while nobody looks. Thread-safe.</summary>
/// <param name="time">Clock and timers.</param>
/// <param name="lease">How often it comes.</param>
/// <param name="sweep">Lets go of what is over; true: something is not.</param>
public sealed class LeaseTimer(TimeProvider time, TimeSpan lease, Func<bool> sweep)
{
    private readonly Lock _lock = new();
    private ITimer? _timer;

    /// <summary>Somebody looks; after that is noted where <c>sweep</c> finds it.</summary>
    public void Start()
    {
        lock (_lock)
        {
            _timer ??= time.CreateTimer(static self => ((LeaseTimer)self!).OnDue(), this, lease, lease);
        }
    }

    private void OnDue()
    {
        lock (_lock)
        {
            if (!sweep())
            {
                _timer?.Dispose();
                _timer = null;
            }
        }
    }
}
