namespace Snapper.Runtime.Execution;

/// <summary>
/// Knows whether requests of several callers come: only then may one of them have to wait for the others. Thread-safe.
/// </summary>
/// <param name="frequency">Ticks of the clock per second.</param>
public sealed class CallersAbout(long frequency)
{
    // Longer than a caller that sends one request behind the other pauses between two, as a rule.
    private readonly long _while = frequency;

    private string? _last;
    private long _lastAt = long.MinValue / 2;
    private long _contestedUntil = long.MinValue / 2;
    private volatile bool _wereSeveral;

    /// <summary>False: no two callers ever came within a second.</summary>
    public bool MayBeSeveral => _wereSeveral;

    /// <summary>A request has come, or begins.</summary>
    /// <param name="caller">Whose; null: of an unknown one.</param>
    /// <param name="now">Timestamp.</param>
    public void Note(string? caller, long now)
    {
        if (!IsLast(caller))
        {
            if (now - Volatile.Read(ref _lastAt) < _while)
            {
                NoteSeveral(now);
            }

            _last = caller;
        }

        Volatile.Write(ref _lastAt, now);
    }

    /// <summary>Requests of several callers wait.</summary>
    /// <param name="now">Timestamp.</param>
    public void NoteSeveral(long now)
    {
        Volatile.Write(ref _contestedUntil, now + _while);
        _wereSeveral = true;
    }

    /// <summary>Requests of another caller, or of two callers, have come or begun within the last second.</summary>
    /// <param name="caller">Beside whom; null: an unknown one.</param>
    /// <param name="now">Timestamp.</param>
    public bool AreSeveral(string? caller, long now) => LeftOfSeveral(caller, now) > 0;

    /// <summary>Ticks until a caller is taken for alone, if no other comes; 0 or less: it is.</summary>
    /// <param name="caller">Beside whom; null: an unknown one.</param>
    /// <param name="now">Timestamp.</param>
    public long LeftOfSeveral(string? caller, long now)
    {
        var until = Volatile.Read(ref _contestedUntil);
        return (IsLast(caller) ? until : Math.Max(until, Volatile.Read(ref _lastAt) + _while)) - now;
    }

    private bool IsLast(string? caller)
    {
        var last = _last;
        return ReferenceEquals(caller, last) || string.Equals(caller, last, StringComparison.Ordinal);
    }
}
