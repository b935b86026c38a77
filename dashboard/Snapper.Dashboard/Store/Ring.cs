namespace Snapper.Dashboard.Store;

/// <summary>The newest values, at most so many. Not thread-safe.</summary>
/// <param name="capacity">1 or more.</param>
public sealed class Ring<T>(int capacity)
{
    private readonly T[] _items = new T[capacity];
    private int _next;

    /// <summary>How many there are.</summary>
    public int Count { get; private set; }

    /// <summary>Adds one; the oldest goes when it is full.</summary>
    public void Add(T item)
    {
        _items[_next] = item;
        _next = (_next + 1) % _items.Length;
        Count = Math.Min(Count + 1, _items.Length);
    }

    /// <summary>A copy, oldest first.</summary>
    public T[] ToArray()
    {
        var copy = new T[Count];
        var first = (_next - Count + _items.Length) % _items.Length;
        for (var i = 0; i < Count; i++) copy[i] = _items[(first + i) % _items.Length];
        return copy;
    }
}
