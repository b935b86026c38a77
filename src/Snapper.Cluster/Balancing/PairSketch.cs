using Snapper.Protocol.Identity;

namespace Snapper.Cluster.Balancing;

/// <summary>
/// The pairs of actors that come most often, of any number, in bounded memory (Misra and Gries): a pair that comes more often than once in as many as are kept is among them, and
/// no count is too high. Thread-safe.
/// </summary>
internal sealed class PairSketch(int most)
{
    private readonly Lock _gate = new();
    private readonly Dictionary<(ActorKey, ActorKey), int> _counts = [];

    /// <summary>Number of pairs that are kept.</summary>
    public int Count
    {
        get
        {
            lock (_gate)
            {
                return _counts.Count;
            }
        }
    }

    /// <summary>A pair, in whatever order.</summary>
    public void Add(ActorKey one, ActorKey other)
    {
        var pair = one.CompareTo(other) <= 0 ? (one, other) : (other, one);
        lock (_gate)
        {
            if (_counts.TryGetValue(pair, out var count))
            {
                _counts[pair] = count + 1;
            }
            else if (_counts.Count < most)
            {
                _counts.Add(pair, 1);
            }
            else
            {
                CountAllDown();
            }
        }
    }

    /// <summary>The pairs with the highest counts, and forgets all.</summary>
    public List<(ActorKey One, ActorKey Other, int Count)> Take(int highest)
    {
        var taken = new List<(ActorKey One, ActorKey Other, int Count)>();
        lock (_gate)
        {
            foreach (var ((one, other), count) in _counts)
            {
                taken.Add((one, other, count));
            }

            _counts.Clear();
        }

        taken.Sort(static (one, other) =>
            one.Count != other.Count ? other.Count.CompareTo(one.Count)
            : one.One.CompareTo(other.One) is var byOne and not 0 ? byOne
            : one.Other.CompareTo(other.Other));
        taken.RemoveRange(Math.Min(highest, taken.Count), Math.Max(0, taken.Count - highest));
        return taken;
    }

    private void CountAllDown()
    {
        foreach (var (pair, count) in _counts)
        {
            if (count == 1)
            {
                _counts.Remove(pair);
            }
            else
            {
                _counts[pair] = count - 1;
            }
        }
    }
}
