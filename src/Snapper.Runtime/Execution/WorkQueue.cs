namespace Snapper.Runtime.Execution;

/// <summary>A growing ring of work items; not thread-safe.</summary>
public sealed class WorkQueue
{
    // Small, and as large as it ever has to be: what goes round in a small ring stays in the cache.
    private WorkItem[] _items = new WorkItem[16];
    private int _head;
    private int _count;

    public int Count => _count;

    public void Enqueue(in WorkItem item)
    {
        if (_count == _items.Length)
        {
            Grow();
        }

        _items[(_head + _count) & (_items.Length - 1)] = item;
        _count++;
    }

    public bool TryDequeue(out WorkItem item)
    {
        if (_count == 0)
        {
            item = default;
            return false;
        }

        ref var slot = ref _items[_head];
        item = slot;
        slot = default; // no references are kept alive by the ring
        _head = (_head + 1) & (_items.Length - 1);
        _count--;
        return true;
    }

    private void Grow()
    {
        var items = new WorkItem[_items.Length * 2];
        var first = _items.Length - _head;
        Array.Copy(_items, _head, items, 0, first);
        Array.Copy(_items, 0, items, first, _head);
        _items = items;
        _head = 0;
    }
}
