namespace Snapper.Simulation.Core;

/// <summary>What happens later, by virtual time (ticks of 100 ns); at the same time in the order of scheduling.</summary>
internal sealed class EventQueue
{
    private readonly PriorityQueue<Event, (long Due, long Order)> _queue = new();
    private long _order;

    public int Count => _queue.Count;

    public void Add(long due, ProcessScope? scope, Action action) => _queue.Enqueue(new Event(scope, action), (due, _order++));

    /// <summary>Time of the next event.</summary>
    public bool TryPeek(out long due)
    {
        var any = _queue.TryPeek(out _, out var priority);
        due = priority.Due;
        return any;
    }

    /// <summary>Runs the next event, unless its process is dead or paused.</summary>
    public void RunNext()
    {
        var next = _queue.Dequeue();
        if (next.Scope is { IsDead: true })
        {
            return;
        }

        if (next.Scope is { IsPaused: true } paused)
        {
            paused.Missed.Enqueue(next.Action);
            return;
        }

        next.Action();
    }

    private readonly record struct Event(ProcessScope? Scope, Action Action);
}
