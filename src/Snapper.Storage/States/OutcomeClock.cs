namespace Snapper.Storage.States;

/// <summary>
/// The minutes by which copied outcomes are filed and dropped (I2). No wall clock moves them: a life of the log goes on where the last copying was noted, in the
/// newest minute that is filed, and counts from there by its monotonic clock. Time in which nobody owns the log, and what a life does before its first and behind
/// its last copying, does not count, so that an id is found longer then, never shorter. Not thread-safe.
/// </summary>
internal sealed class OutcomeClock(TimeProvider time, StateStoreOptions options)
{
    /// <summary>A copy outlives what a worker's memory knows of its id, which is forgotten one to two minutes behind the window.</summary>
    private const long MoreMinutes = 5;

    /// <summary>A minute, in milliseconds.</summary>
    public const long MinuteMs = 60_000;

    private long _epoch = -1;
    private long _first;
    private long _began;
    private TimeSpan _passed;

    /// <summary>It counts in this epoch already.</summary>
    public bool HasBegun(long epoch) => _epoch == epoch;

    /// <summary>Begins to count.</summary>
    /// <param name="epoch">The life of the log.</param>
    /// <param name="newest">The newest minute that earlier lives have filed; 0: there is none.</param>
    /// <param name="passedMs">How much of it had passed at the last copying: lives may all be shorter than a minute.</param>
    public void Begin(long epoch, long newest, long passedMs)
    {
        _epoch = epoch;
        _first = newest;
        _passed = TimeSpan.FromMilliseconds(passedMs);
        _began = time.GetTimestamp();
    }

    /// <summary>What is copied now is filed under this one.</summary>
    public long Minute => Now.Minute;

    /// <summary>The same, and how much of it has passed, for the next life.</summary>
    public (long Minute, long PassedMs) Now
    {
        get
        {
            var passed = _passed + time.GetElapsedTime(_began);
            return (_first + (long)passed.TotalMinutes, (long)passed.TotalMilliseconds % MinuteMs);
        }
    }

    /// <summary>The oldest minute that may hold an id inside its window; those before it are dropped.</summary>
    public long Oldest => Minute - (long)Math.Ceiling(options.OutcomeWindow.TotalMinutes) - MoreMinutes;
}
