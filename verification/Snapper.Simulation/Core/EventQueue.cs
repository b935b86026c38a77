namespace Snapper.Simulation.Core;

/// <summary>
/// What happens later, by virtual time (ticks of 100 ns); at the same time in the order of scheduling. A binary heap of its own: every step looks into it, and
/// the library's compares pairs through an interface.
/// </summary>
internal sealed class EventQueue
{
    private Entry[] _heap = new Entry[256];
    private Event[] _events = new Event[256];
    private long _order;

    public int Count { get; private set; }

    public void Add(long due, ProcessScope? scope, Action action)
    {
        if (Count == _heap.Length)
        {
            Array.Resize(ref _heap, Count * 2);
            Array.Resize(ref _events, Count * 2);
        }

        // Behind the heap's end stand the slots that are free.
        var slot = _heap[Count].Slot > 0 ? _heap[Count].Slot : Count + 1;
        _events[slot - 1] = new Event(scope, action);
        Rise(Count++, new Entry(due, _order++, slot));
    }

    /// <summary>Time of the next event.</summary>
    public bool TryPeek(out long due)
    {
        due = _heap[0].Due;
        return Count > 0;
    }

    /// <summary>Runs the next event, if its process lives: when it goes on, if it is paused.</summary>
    public void RunNext()
    {
        var next = Take();
        if (next.Scope is { } scope)
        {
            scope.Do(next.Action);
        }
        else
        {
            next.Action();
        }
    }

    private Event Take()
    {
        var slot = _heap[0].Slot;
        var last = _heap[--Count];
        Sink(last);
        _heap[Count] = new Entry(0, 0, slot);
        var taken = _events[slot - 1];
        _events[slot - 1] = default;
        return taken;
    }

    private void Rise(int at, Entry entry)
    {
        var heap = _heap;
        while (at > 0)
        {
            var above = (at - 1) / 2;
            if (!entry.IsBefore(heap[above]))
            {
                break;
            }

            heap[at] = heap[above];
            at = above;
        }

        heap[at] = entry;
    }

    /// <summary>Puts an entry in the place of the first one.</summary>
    private void Sink(Entry entry)
    {
        var heap = _heap.AsSpan(0, Count);
        var at = 0;
        for (var below = 1; below < heap.Length; below = (2 * at) + 1)
        {
            below += below + 1 < heap.Length && heap[below + 1].IsBefore(heap[below]) ? 1 : 0;
            if (!heap[below].IsBefore(entry))
            {
                break;
            }

            heap[at] = heap[below];
            at = below;
        }

        if (heap.Length > 0)
        {
            heap[at] = entry;
        }
    }

    /// <summary>When, and (from 1) where the event is kept.</summary>
    private readonly record struct Entry(long Due, long Order, int Slot)
    {
        public bool IsBefore(in Entry other) => Due < other.Due || (Due == other.Due && Order < other.Order);
    }

    private readonly record struct Event(ProcessScope? Scope, Action Action);
}
