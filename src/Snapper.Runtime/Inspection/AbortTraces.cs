namespace Snapper.Runtime.Inspection;

/// <summary>The most recent aborts, those that the system repeats included. Thread-safe.</summary>
internal sealed class AbortTraces(int capacity)
{
    private readonly Lock _lock = new();
    private readonly Queue<AbortView> _recent = new();

    public void Add(AbortView abort)
    {
        lock (_lock)
        {
            _recent.Enqueue(abort);
            if (_recent.Count > capacity)
            {
                _recent.Dequeue();
            }
        }
    }

    public IReadOnlyList<AbortView> Recent(int limit)
    {
        lock (_lock)
        {
            return _recent.Reverse().Take(Math.Max(0, limit)).ToList();
        }
    }
}
