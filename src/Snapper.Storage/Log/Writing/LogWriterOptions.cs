using Snapper.Protocol;

namespace Snapper.Storage.Log.Writing;

/// <summary>Bounds of the append queue.</summary>
public sealed record LogWriterOptions
{
    /// <summary>Bytes from which on a group takes no further record; a larger record is a group of its own. Range: 4 KiB to 64 MiB. Default: 1 MiB (L6).</summary>
    public int GroupBytesMax { get; init; } = 1024 * 1024;

    /// <summary>First pause before the same bytes are sent again; doubles. Default: 10 ms.</summary>
    public TimeSpan RetryDelayMin { get; init; } = TimeSpan.FromMilliseconds(10);

    /// <summary>Longest pause between two tries. Default: 1 s.</summary>
    public TimeSpan RetryDelayMax { get; init; } = TimeSpan.FromSeconds(1);

    /// <summary>Decides where the protocol leaves a choice.</summary>
    internal SchedulingPolicy SchedulingPolicy { get; init; }

    internal void Validate()
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(GroupBytesMax, 4096, nameof(GroupBytesMax));
        ArgumentOutOfRangeException.ThrowIfGreaterThan(GroupBytesMax, 64 * 1024 * 1024, nameof(GroupBytesMax));
        ArgumentOutOfRangeException.ThrowIfLessThanOrEqual(RetryDelayMin, TimeSpan.Zero, nameof(RetryDelayMin));
        ArgumentOutOfRangeException.ThrowIfLessThan(RetryDelayMax, RetryDelayMin, nameof(RetryDelayMax));
    }
}
