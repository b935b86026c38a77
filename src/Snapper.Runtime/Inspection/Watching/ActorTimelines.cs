using System.Collections.Concurrent;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Scheduling;

namespace Snapper.Runtime.Inspection.Watching;

/// <summary>The actors that somebody looks at, and when the newest batches were durable. Thread-safe.</summary>
internal sealed class ActorTimelines
{
    /// <summary>Actors at a time.</summary>
    public const int Most = IWorkerWatch.TimelinesMax;

    private const int Batches = 8192;

    private readonly ConcurrentDictionary<ActorKey, ActorTimeline> _watched = new();
    private readonly (long Bid, long At)[] _durable = new (long, long)[Batches];
    private volatile bool _any;
    private long _count;

    /// <summary>The actor is loaded: whoever looks at it goes on looking.</summary>
    public void Loaded(ActorKey actor, ActorMachine machine)
    {
        if (_any && _watched.TryGetValue(actor, out var timeline))
        {
            timeline.Listen(machine);
        }
    }

    /// <summary>A batch is durable. Called by the commit executor alone.</summary>
    public void Durable(long bid, WatchClock clock)
    {
        if (_any)
        {
            lock (_durable)
            {
                _durable[_count++ % Batches] = (bid, clock.Now);
            }
        }
    }

    /// <summary>When a batch was durable; 0: unknown. Batches are durable in the order of their numbers.</summary>
    public long DurableAt(long bid)
    {
        lock (_durable)
        {
            for (var i = _count - 1; i >= Math.Max(0, _count - Batches); i--)
            {
                var (known, at) = _durable[i % Batches];
                if (known <= bid)
                {
                    return known == bid ? at : 0;
                }
            }
        }

        return 0;
    }

    /// <summary>The timeline of an actor; begun, if it is not watched yet.</summary>
    /// <returns>Null: too many actors are watched.</returns>
    public ActorTimeline? Watch(ActorKey actor, WatchClock clock, long leaseTicks)
    {
        var now = clock.Now;
        foreach (var (key, other) in _watched)
        {
            if (other.IsOver(now) && !key.Equals(actor))
            {
                _watched.TryRemove(key, out _);
            }
        }

        _any = true;
        if (_watched.Count >= Most && !_watched.ContainsKey(actor))
        {
            return null;
        }

        var timeline = _watched.GetOrAdd(actor, static (_, state) => new ActorTimeline(state.clock, state.self), (clock, self: this));
        timeline.Renew(now, now + leaseTicks);
        return timeline;
    }

    /// <summary>Nobody looks at it any more.</summary>
    public void Forget(ActorKey actor)
    {
        _watched.TryRemove(actor, out _);
        _any = !_watched.IsEmpty;
    }
}
