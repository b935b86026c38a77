namespace Snapper.TransactionLog.Files;

/// <summary>Settings of the file log.</summary>
public sealed record FileLogOptions
{
    /// <summary>Length from which on a segment takes no further group. Trimming removes whole segments. Range: 64 KiB to 1 GiB. Default: 16 MiB.</summary>
    public long SegmentBytes
    {
        get;
        init
        {
            ArgumentOutOfRangeException.ThrowIfLessThan(value, 64 * 1024, nameof(SegmentBytes));
            ArgumentOutOfRangeException.ThrowIfGreaterThan(value, 1024 * 1024 * 1024, nameof(SegmentBytes));
            field = value;
        }
    } = 16 * 1024 * 1024;
}
