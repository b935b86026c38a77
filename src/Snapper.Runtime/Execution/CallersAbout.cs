namespace Snapper.Runtime.Execution;

/// <summary>
/// Knows whether requests of several callers come: only then may one of them have to wait for the others. Thread-safe.
/// </summary>
/// <param name="frequency">Ticks of the clock per second.</param>
public sealed class CallersAbout(long frequency)
{
    // Longer than callers wait or pause between two requests, as a rule.
    private readonly long _while = 2 * frequency;

    private string? _last;
    private long _contestedUntil;

    /// <summary>A request has come.</summary>
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

    /// <summary>Requests of two callers have come within the last two seconds.</summary>
    public bool AreSeveral(long now) => LeftOfSeveral(now) > 0;

    /// <summary>Ticks until one is taken for alone, if no other comes; 0 or less: it is.</summary>
    public long LeftOfSeveral(long now) => Volatile.Read(ref _contestedUntil) - now;
}
