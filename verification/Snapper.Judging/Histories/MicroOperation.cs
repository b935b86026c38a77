namespace Snapper.Judging.Histories;

/// <summary>What an operation did, and to what sort of key. A key is a list or a register throughout a history.</summary>
public enum MicroOperationKind
{
    /// <summary>A read whose result the client never saw, of a list or a register.</summary>
    UnseenRead,

    /// <summary>An append of an integer to a list.</summary>
    Append,

    /// <summary>A read of a whole list.</summary>
    ReadList,

    /// <summary>A write of a register, which made a version of it.</summary>
    Write,

    /// <summary>A read of one version of a register.</summary>
    ReadRegister,
}

/// <summary>
/// One operation of a transaction as its client saw it. Lists carry the order of their versions in themselves; registers are for systems that
/// number the versions of a key and tell the numbers.
/// </summary>
public readonly struct MicroOperation
{
    private readonly long[]? _elements;
    private readonly int _length;

    private MicroOperation(MicroOperationKind kind, string key, long value, long[]? elements, int length)
    {
        ArgumentNullException.ThrowIfNull(key);
        Kind = kind;
        Key = key;
        Value = value;
        _elements = elements;
        _length = length;
    }

    private MicroOperation(MicroOperationKind kind, string key, long? version, long? value)
        : this(kind, key, value ?? 0, null, 0)
    {
        Version = version;
        HasValue = value.HasValue;
    }

    /// <summary>What it did.</summary>
    public MicroOperationKind Kind { get; }

    /// <summary>True for an append to a list.</summary>
    public bool IsAppend => Kind == MicroOperationKind.Append;

    /// <summary>True for whatever changes the key: an append or a write.</summary>
    public bool IsWrite => Kind is MicroOperationKind.Append or MicroOperationKind.Write;

    /// <summary>The key; any string.</summary>
    public string Key { get; }

    /// <summary>
    /// The appended integer, unique among all appends to this key in the history; for a register the value, when <see cref="HasValue"/>; otherwise 0.
    /// </summary>
    public long Value { get; }

    /// <summary>True when a register's operation says the value, not only the version.</summary>
    public bool HasValue { get; }

    /// <summary>The version of a register that was made or read, see <see cref="Write"/>; null when it is not known, and for lists.</summary>
    public long? Version { get; }

    /// <summary>What a read of a list returned, oldest element first, own appends included; null for anything else, and when the client never saw the result.</summary>
    public IReadOnlyList<long>? List => _elements is null || _length == _elements.Length ? _elements : (IReadOnlyList<long>)new ArraySegment<long>(_elements, 0, _length);

    internal long[] Elements => _elements!;

    internal int Length => _length;

    /// <summary>An append of <paramref name="value"/> to the list at <paramref name="key"/>.</summary>
    public static MicroOperation Append(string key, long value) => new(MicroOperationKind.Append, key, value, null, 0);

    /// <summary>A read of <paramref name="key"/> that returned <paramref name="list"/>.</summary>
    public static MicroOperation Read(string key, params long[] list)
    {
        ArgumentNullException.ThrowIfNull(list);
        return new(MicroOperationKind.ReadList, key, 0, list, list.Length);
    }

    /// <summary>
    /// A read of <paramref name="key"/> that returned the first <paramref name="length"/> elements of <paramref name="list"/>. Many reads may share one array,
    /// which makes long lists cheap: what was compared once is not compared again. Elements that have been handed over must never change.
    /// </summary>
    public static MicroOperation ReadPrefix(string key, long[] list, int length)
    {
        ArgumentNullException.ThrowIfNull(list);
        ArgumentOutOfRangeException.ThrowIfNegative(length);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(length, list.Length);
        return new(MicroOperationKind.ReadList, key, 0, list, length);
    }

    /// <summary>A read whose result the client never saw (aborted, or the answer was lost).</summary>
    public static MicroOperation UnseenRead(string key) => new(MicroOperationKind.UnseenRead, key, 0, null, 0);

    /// <summary>A write of the register at <paramref name="key"/>.</summary>
    /// <param name="key">The key.</param>
    /// <param name="version">
    /// The version that it made, from 1, rising along the order of the key's versions, gaps allowed. Required for a transaction's last write to a key when it
    /// is committed; null when it is not known.
    /// </param>
    /// <param name="value">What was written; null when not told. It identifies writes without a version, so unique values prove more.</param>
    public static MicroOperation Write(string key, long? version, long? value = null)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(version ?? 1, 1, nameof(version));
        return new(MicroOperationKind.Write, key, version, value);
    }

    /// <summary>A read of the register at <paramref name="key"/>.</summary>
    /// <param name="key">The key.</param>
    /// <param name="version">The version read; 0: as it was before the first write. Null when not known, as for a read of the transaction's own write.</param>
    /// <param name="value">What was read; null when not told.</param>
    public static MicroOperation ReadVersion(string key, long? version, long? value = null)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(version ?? 0, nameof(version));
        return new(MicroOperationKind.ReadRegister, key, version, value);
    }

    /// <inheritdoc/>
    public override string ToString() => Kind switch
    {
        MicroOperationKind.Append => $"append {Key} {Value}",
        MicroOperationKind.ReadList => $"read {Key} [{string.Join(' ', List!)}]",
        MicroOperationKind.Write => $"write {Key}{Register()}",
        MicroOperationKind.ReadRegister => $"read {Key}{Register()}",
        _ => $"read {Key}",
    };

    private string Register() => (Version is { } version ? $" version {version}" : "") + (HasValue ? $" = {Value}" : "");
}
