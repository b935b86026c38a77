using Snapper.Protocol.Batches;

namespace Snapper.Protocol.Commitment;

/// <summary>How large the record of one batch or one ACT may become (L6). The shell weighs: machines know no bytes.</summary>
/// <param name="Bytes">The most, 1 or more.</param>
/// <param name="OfComponent">Bytes of a complete component in a batch's record, or a little more.</param>
/// <param name="OfChange">Bytes of one change in an ACT's record, or a little more.</param>
public sealed record RecordLimit(long Bytes, Func<Component, long> OfComponent, Func<Change, long> OfChange)
{
    /// <summary>No limit.</summary>
    public static RecordLimit None { get; } = new(long.MaxValue, static _ => 0, static _ => 0);
}
