using System.Collections;
using System.Collections.Immutable;

namespace Snapper.Generators;

/// <summary>An immutable array that is equal to another when their elements are, so that unchanged models are not emitted again.</summary>
internal readonly struct EquatableArray<T> : IEquatable<EquatableArray<T>>, IEnumerable<T>
    where T : IEquatable<T>
{
    private readonly ImmutableArray<T> _items;

    public EquatableArray(ImmutableArray<T> items) => _items = items;

    public int Count => Items.Length;

    private ImmutableArray<T> Items => _items.IsDefault ? ImmutableArray<T>.Empty : _items;

    public T this[int index] => Items[index];

    public bool Equals(EquatableArray<T> other)
    {
        var mine = Items;
        var theirs = other.Items;
        if (mine.Length != theirs.Length)
        {
            return false;
        }

        for (var i = 0; i < mine.Length; i++)
        {
            if (!mine[i].Equals(theirs[i]))
            {
                return false;
            }
        }

        return true;
    }

    public override bool Equals(object? obj) => obj is EquatableArray<T> other && Equals(other);

    public override int GetHashCode()
    {
        var hash = 17;
        foreach (var item in Items)
        {
            hash = unchecked((hash * 31) + item.GetHashCode());
        }

        return hash;
    }

    public ImmutableArray<T>.Enumerator GetEnumerator() => Items.GetEnumerator();

    IEnumerator<T> IEnumerable<T>.GetEnumerator() => ((IEnumerable<T>)Items).GetEnumerator();

    IEnumerator IEnumerable.GetEnumerator() => ((IEnumerable)Items).GetEnumerator();
}
