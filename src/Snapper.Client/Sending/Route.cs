namespace Snapper.Client.Sending;

/// <summary>One address of the workers: its door, its batches, and whether it makes sense to send there now. Thread-safe.</summary>
internal sealed class Route(Uri address, ServiceEndpoint door, BatchSender sender)
{
    private const long FirstPauseMs = 50;
    private const long LongestPauseMs = 5000;

    private long _awayUntil;
    private long _pauseMs = FirstPauseMs;

    public Uri Address => address;

    public ServiceEndpoint Door => door;

    public BatchSender Sender => sender;

    /// <summary>Name of the worker that answers there, as it said last; null: not known, or it is alone.</summary>
    public string? Worker => door.Worker;

    /// <summary>Until when it is passed over, as <see cref="Environment.TickCount64"/>.</summary>
    public long AwayUntil => Volatile.Read(ref _awayUntil);

    public void IsThere()
    {
        if (Volatile.Read(ref _awayUntil) != 0)
        {
            Volatile.Write(ref _pauseMs, FirstPauseMs);
            Volatile.Write(ref _awayUntil, 0);
        }
    }

    /// <summary>No answer, or one that takes nothing now: others are asked for a while, longer each time.</summary>
    public void IsAway(long now)
    {
        // Many calls may fail at once: they count as one failure.
        if (now < Volatile.Read(ref _awayUntil))
        {
            return;
        }

        var pause = Volatile.Read(ref _pauseMs);
        Volatile.Write(ref _pauseMs, Math.Min(pause * 2, LongestPauseMs));
        Volatile.Write(ref _awayUntil, now + pause);
    }
}
