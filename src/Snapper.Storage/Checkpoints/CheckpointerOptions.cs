using Snapper.Protocol;

namespace Snapper.Storage.Checkpoints;

/// <summary>When and how much is checkpointed.</summary>
public sealed record CheckpointerOptions
{
    /// <summary>Checkpoints that fail for as long make the worker unhealthy.</summary>
    public static readonly TimeSpan FailingMax = TimeSpan.FromMinutes(1);

    /// <summary>Decides where the protocol leaves a choice.</summary>
    internal SchedulingPolicy SchedulingPolicy { get; init; }

    /// <summary>Time from the first change that is not checkpointed to the next checkpoint. Range: 10 ms to 1 h. Default: 5 s.</summary>
    public TimeSpan Interval
    {
        get;
        init
        {
            ArgumentOutOfRangeException.ThrowIfLessThan(value, TimeSpan.FromMilliseconds(10), nameof(Interval));
            ArgumentOutOfRangeException.ThrowIfGreaterThan(value, TimeSpan.FromHours(1), nameof(Interval));
            field = value;
        }
    } = TimeSpan.FromSeconds(5);

    /// <summary>Bytes of records since the last checkpoint that start one at once. Range: 64 KiB or more. Default: 32 MiB.</summary>
    public long UnfoldedBytesMax
    {
        get;
        init
        {
            ArgumentOutOfRangeException.ThrowIfLessThan(value, 64 * 1024, nameof(UnfoldedBytesMax));
            field = value;
        }
    } = 32 * 1024 * 1024;

    /// <summary>Most bytes of state handed to the store in one call. Range: 4 KiB or more. Default: 2 MiB.</summary>
    public int ChunkBytes
    {
        get;
        init
        {
            ArgumentOutOfRangeException.ThrowIfLessThan(value, 4 * 1024, nameof(ChunkBytes));
            field = value;
        }
    } = 2 * 1024 * 1024;

    /// <summary>
    /// Most actors handed to the store in one call while nobody waits for the checkpoint; it rests between such calls. Range: 1 or more. Default: 50.
    /// </summary>
    public int PacedActors
    {
        get;
        init
        {
            ArgumentOutOfRangeException.ThrowIfLessThan(value, 1, nameof(PacedActors));
            field = value;
        }
    } = 50;
}
