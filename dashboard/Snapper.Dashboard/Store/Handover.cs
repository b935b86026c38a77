namespace Snapper.Dashboard.Store;

/// <summary>
/// What a page asks for that was drawn before its browser is connected: it goes on being asked for until the connection may have come, so that what is shown is not taken away and asked for anew.
/// Bounded. Thread-safe.
/// </summary>
public sealed class Handover(Fleet fleet, Streams streams, TimeProvider time) : IDisposable
{
    /// <summary>How long it waits for a browser.</summary>
    public static readonly TimeSpan Longest = TimeSpan.FromSeconds(10);

    /// <summary>Most things that are kept; beyond it the oldest goes. So few that visits alone never use up <see cref="Feeds.Most"/>.</summary>
    public const int Most = 128;

    private readonly Lock _lock = new();
    private readonly Queue<(IDisposable What, DateTimeOffset Until)> _kept = [];
    private ITimer? _timer;
    private bool _isOver;

    /// <summary>How many are kept now.</summary>
    public int Count
    {
        get
        {
            lock (_lock) return _kept.Count;
        }
    }

    /// <summary>Somebody will look.</summary>
    public void Expect() => Keep(new Viewer(fleet, streams));

    /// <summary>Disposes it later.</summary>
    public void Keep(IDisposable what)
    {
        var old = what;
        lock (_lock)
        {
            if (!_isOver)
            {
                old = _kept.Count == Most ? _kept.Dequeue().What : null;
                _kept.Enqueue((what, time.GetUtcNow() + Longest));
                _timer ??= time.CreateTimer(_ => End(), null, Longest, Timeout.InfiniteTimeSpan);
            }
        }

        old?.Dispose();
    }

    /// <summary>Keeps nothing any more.</summary>
    public void Dispose()
    {
        (IDisposable What, DateTimeOffset)[] rest;
        lock (_lock)
        {
            _isOver = true;
            rest = [.. _kept];
            _kept.Clear();
            _timer?.Dispose();
            _timer = null;
        }

        foreach (var (what, _) in rest) what.Dispose();
    }

    private void End()
    {
        var over = new List<IDisposable>();
        lock (_lock)
        {
            var now = time.GetUtcNow();
            while (_kept.TryPeek(out var oldest) && oldest.Until <= now) over.Add(_kept.Dequeue().What);
            _timer?.Dispose();
            _timer = _kept.TryPeek(out var next) && !_isOver ? time.CreateTimer(_ => End(), null, next.Until - now, Timeout.InfiniteTimeSpan) : null;
        }

        foreach (var one in over) one.Dispose();
    }
}
