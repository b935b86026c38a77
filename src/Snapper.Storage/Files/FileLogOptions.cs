namespace Snapper.Storage.Files;

/// <summary>Settings of the file log.</summary>
public sealed record FileLogOptions
{
    private readonly long _segmentBytes = 16 * 1024 * 1024;

    /// <summary>Length from which on a segment takes no further group. Trimming removes whole segments. Range: 64 KiB to 1 GiB. Default: 16 MiB.</summary>
    public long SegmentBytes
    {
        get => _segmentBytes;
        init
        {
            ArgumentOutOfRangeException.ThrowIfLessThan(value, 64 * 1024, nameof(SegmentBytes));
            ArgumentOutOfRangeException.ThrowIfGreaterThan(value, 1024 * 1024 * 1024, nameof(SegmentBytes));
            _segmentBytes = value;
        }
    }

    /// <summary>Bytes of states that are out of date below which a data file is not moved.</summary>
    internal long DeadStateBytes { get; init; } = 16 * 1024 * 1024;

    private long SegmentBytesUnchecked { init => _segmentBytes = value; }

    /// <summary>Smaller segments than are allowed, so that a short run has many.</summary>
    internal static FileLogOptions Tiny(long segmentBytes, long deadStateBytes) => new() { DeadStateBytes = deadStateBytes, SegmentBytesUnchecked = segmentBytes };
}
