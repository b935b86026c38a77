using System.Collections.Concurrent;
using Snapper.Protocol.Identity;

namespace Snapper.Client.Sending;

/// <summary>
/// Which worker ran an actor's transactions last. Bounded: two generations, each of half of what is remembered; when the young one is full the old one is forgotten. What it
/// says may be wrong, which costs a hop between workers. Thread-safe.
/// </summary>
internal sealed class OwnerCache(int most)
{
    private readonly int _half = Math.Max(1, most / 2);
    private volatile ConcurrentDictionary<ActorKey, string> _young = new();
    private volatile ConcurrentDictionary<ActorKey, string> _old = new();
    private readonly Lock _gate = new();
    private int _count; // of the young ones; counting a concurrent dictionary locks it

    /// <summary>About how many are remembered, at most what was asked for and one for each thread.</summary>
    public int Count => _young.Count + _old.Count;

    /// <summary>The worker; null: not remembered.</summary>
    public string? Find(ActorKey actor) => _young.TryGetValue(actor, out var worker) || _old.TryGetValue(actor, out worker) ? worker : null;

    /// <summary>An answer named the worker that ran it.</summary>
    public void Learn(ActorKey actor, string worker)
    {
        var young = _young;
        if (young.TryGetValue(actor, out var known))
        {
            if (known != worker)
            {
                young[actor] = worker;
            }

            return;
        }

        if (!young.TryAdd(actor, worker) || Interlocked.Increment(ref _count) < _half)
        {
            return;
        }

        lock (_gate)
        {
            if (_young == young)
            {
                _old = young;
                _young = new ConcurrentDictionary<ActorKey, string>();
                Volatile.Write(ref _count, 0);
            }
        }
    }
}
