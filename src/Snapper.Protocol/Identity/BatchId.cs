using System.Globalization;

namespace Snapper.Protocol.Identity;

/// <summary>Number of a batch (bid): the tid of its first transaction. The default value means "none".</summary>
public readonly record struct BatchId(long Value) : IComparable<BatchId>
{
    /// <summary>No batch; orders before every batch.</summary>
    public static BatchId None => default;

    /// <inheritdoc/>
    public int CompareTo(BatchId other) => Value.CompareTo(other.Value);

    /// <summary>Earlier in the worker's order.</summary>
    public static bool operator <(BatchId left, BatchId right) => left.Value < right.Value;

    /// <summary>Later in the worker's order.</summary>
    public static bool operator >(BatchId left, BatchId right) => left.Value > right.Value;

    /// <summary>Earlier or the same.</summary>
    public static bool operator <=(BatchId left, BatchId right) => left.Value <= right.Value;

    /// <summary>Later or the same.</summary>
    public static bool operator >=(BatchId left, BatchId right) => left.Value >= right.Value;

    /// <inheritdoc/>
    public override string ToString() => Value.ToString(CultureInfo.InvariantCulture);
}
