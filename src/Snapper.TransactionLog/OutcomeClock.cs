using Snapper.Protocol;

namespace Snapper.TransactionLog;

/// <summary>
/// The minutes by which copied outcomes are filed and dropped (I2). No wall clock moves them: a life of the log goes on in the newest minute that is filed, and counts from there by its monotonic clock. Time in which
/// nobody owns the log does not count, so that an id is found longer then, never shorter. Not thread-safe.
/// </summary>
internal sealed class OutcomeClock(TimeProvider time, StateStoreOptions options)
{
    /// <summary>A copy outlives what a worker's memory knows of its id, which is forgotten one to two minutes behind the window.</summary>
    private const long MoreMinutes = 5;

    private long _epoch = -1;
    private long _first;
    private long _began;

    /// <summary>It counts in this epoch already.</summary>
    public bool HasBegun(long epoch) => _epoch == epoch;

    /// <summary>Begins to count.</summary>
    /// <param name="epoch">The life of the log.</param>
    /// <param name="newest">The newest minute that earlier lives have filed; 0: there is none.</param>
    public void Begin(long epoch, long newest)
    {
        _epoch = epoch;
        _first = newest;
        _began = time.GetTimestamp();
    }

    /// <summary>What is copied now is filed under this one.</summary>
    public long Minute => _first + (long)time.GetElapsedTime(_began).TotalMinutes;

    /// <summary>The oldest minute that may hold an id inside its window; those before it are dropped.</summary>
    public long Oldest => Minute - (long)Math.Ceiling(options.OutcomeWindow.TotalMinutes) - (Planted.Is(PlantedFault.CopiesForgottenBeforeMemory) ? -2 : MoreMinutes);
}
