using System.Collections.Concurrent;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Scheduling;

namespace Snapper.Runtime.Inspection.Watching;

/// <summary>The actors that somebody looks at, and when the newest batches were durable. Thread-safe.</summary>
/// <param name="clock">The clock.</param>
/// <param name="leaseTicks">For how long a question keeps a timeline up.</param>
/// <param name="timer">Sweeps.</param>
/// <param name="post">Runs an action on an actor's executor.</param>
public sealed class ActorTimelines(WatchClock clock, long leaseTicks, LeaseTimer timer, Action<ActorKey, Action> post)
{
    public const int Most = IWorkerWatch.TimelinesMax;

    private const int Batches = 8192;

    private readonly Lock _changes = new();
    private readonly ConcurrentDictionary<ActorKey, ActorTimeline> _watched = new(); // changed under the lock, read without
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
    public void Durable(long bid)
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
    public ActorTimeline? Watch(ActorKey actor)
    {
        var now = clock.Now;
        Sweep(now, but: actor);
        ActorTimeline? timeline;
        lock (_changes)
        {
            if (!_watched.TryGetValue(actor, out timeline))
            {
                if (_watched.Count >= Most)
                {
                    return null;
                }

                _watched[actor] = timeline = new ActorTimeline(clock, this);
            }

            timeline.Renew(now, now + leaseTicks);
            _any = true;
        }

        timer.Start();
        return timeline;
    }

    /// <summary>It is the one that somebody looks at. Another one may have taken its place.</summary>
    public bool Has(ActorKey actor, ActorTimeline timeline) => _watched.TryGetValue(actor, out var watched) && ReferenceEquals(watched, timeline);

    /// <summary>Its lease seems to be over: takes it out, and never another one of the same actor.</summary>
    /// <returns>False: somebody looks at it, after all.</returns>
    public bool Forget(ActorKey actor, ActorTimeline timeline)
    {
        lock (_changes)
        {
            if (Has(actor, timeline))
            {
                if (!timeline.IsOver(clock.Now))
                {
                    return false;
                }

                Remove(actor);
            }

            return true;
        }
    }

    /// <summary>Takes out those that nobody looks at any more, and lets go of their machines, which may hear of nothing for long.</summary>
    /// <returns>True: there are others.</returns>
    public bool Sweep(long now, ActorKey? but = null)
    {
        List<(ActorKey Actor, ActorTimeline Timeline)>? over = null;
        lock (_changes)
        {
            foreach (var (actor, timeline) in _watched)
            {
                if (timeline.IsOver(now) && !actor.Equals(but))
                {
                    (over ??= []).Add((actor, timeline));
                    Remove(actor);
                }
            }
        }

        foreach (var (actor, timeline) in over ?? [])
        {
            post(actor, timeline.Detach);
        }

        return _any;
    }

    private void Remove(ActorKey actor)
    {
        _watched.TryRemove(actor, out _);
        _any = !_watched.IsEmpty;
    }
}
