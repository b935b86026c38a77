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
    private long _contestedUntil; // 0: for long there was one alone

    /// <summary>A request has come, or begins.</summary>
    /// <param name="caller">Whose; null: of an unknown one.</param>
    /// <param name="now">Timestamp.</param>
    public void Note(string? caller, long now)
    {
        var last = _last;
        if (ReferenceEquals(caller, last) || string.Equals(caller, last, StringComparison.Ordinal))
        {
            return;
        }

        _last = caller;
        Volatile.Write(ref _contestedUntil, now + _while);
    }

    /// <summary>False: one is alone, whatever the time.</summary>
    public bool MayBeSeveral => Volatile.Read(ref _contestedUntil) != 0;

    /// <summary>Requests of two callers have come or begun within the last second.</summary>
    public bool AreSeveral(long now)
    {
        var until = Volatile.Read(ref _contestedUntil);
        if (until == 0 || until > now)
        {
            return until != 0;
        }

        Interlocked.CompareExchange(ref _contestedUntil, 0, until);
        return false;
    }

    /// <summary>Ticks until one is taken for alone, if no other comes; 0 or less: it is.</summary>
    public long LeftOfSeveral(long now) => Volatile.Read(ref _contestedUntil) - now;
}
