using System.Collections.Concurrent;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Scheduling;

namespace Snapper.Runtime.Inspection.Watching;

/// <summary>The actors that somebody looks at, and when the newest PACTs were durable. Thread-safe.</summary>
/// <param name="clock">The clock.</param>
/// <param name="leaseTicks">For how long a question keeps a timeline up.</param>
/// <param name="timer">Sweeps.</param>
/// <param name="post">Runs an action on an actor's executor.</param>
public sealed class ActorTimelines(WatchClock clock, long leaseTicks, LeaseTimer timer, Action<ActorKey, Action> post)
{
    public const int Most = IWorkerWatch.TimelinesMax;

    private const int Remembered = 65_536;

    private readonly Lock _changes = new();
    private readonly ConcurrentDictionary<ActorKey, ActorTimeline> _watched = new(); // changed under the lock, read without
    private readonly (long Tid, long At)[] _durable = new (long, long)[Remembered];
    private volatile bool _any;

    /// <summary>The actor is loaded: whoever looks at it goes on looking.</summary>
    public void Loaded(ActorKey actor, ActorMachine machine)
    {
        if (_any && _watched.TryGetValue(actor, out var timeline))
        {
            timeline.Listen(machine);
        }
    }

    /// <summary>A PACT is durable. Called by the commit executor alone.</summary>
    public void Durable(TransactionId tid)
    {
        if (_any)
        {
            lock (_durable)
            {
                _durable[tid.Value % Remembered] = (tid.Value, clock.Now);
            }
        }
    }

    /// <summary>When one of the newest PACTs was durable; 0: unknown.</summary>
    public long DurableAt(TransactionId tid)
    {
        lock (_durable)
        {
            var (known, at) = _durable[tid.Value % Remembered];
            return known == tid.Value ? at : 0;
        }
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
