namespace Snapper.Testing.Histories;

/// <summary>
/// One operation of a transaction as its client saw it: an append of an integer to the list at a key, or a read of the whole list.
/// </summary>
public readonly struct MicroOperation
{
    private MicroOperation(bool isAppend, string key, long value, long[]? list)
    {
        ArgumentNullException.ThrowIfNull(key);
        IsAppend = isAppend;
        Key = key;
        Value = value;
        List = list;
    }

    /// <summary>True for an append, false for a read.</summary>
    public bool IsAppend { get; }

    /// <summary>The key; any string.</summary>
    public string Key { get; }

    /// <summary>The appended integer, unique among all appends to this key in the history; 0 for a read.</summary>
    public long Value { get; }

    /// <summary>What a read returned, oldest element first, own appends included; null when the client never saw the result, and for an append.</summary>
    public IReadOnlyList<long>? List { get; }

    /// <summary>An append of <paramref name="value"/> to <paramref name="key"/>.</summary>
    public static MicroOperation Append(string key, long value) => new(true, key, value, null);

    /// <summary>A read of <paramref name="key"/> that returned <paramref name="list"/>; the array is kept, not copied.</summary>
    public static MicroOperation Read(string key, params long[] list)
    {
        ArgumentNullException.ThrowIfNull(list);
        return new(false, key, 0, list);
    }

    /// <summary>A read whose result the client never saw (aborted, or the answer was lost).</summary>
    public static MicroOperation UnseenRead(string key) => new(false, key, 0, null);

    /// <inheritdoc/>
    public override string ToString() => IsAppend ? $"append {Key} {Value}" : List is null ? $"read {Key}" : $"read {Key} [{string.Join(' ', List)}]";
}
