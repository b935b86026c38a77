using Snapper.Protocol.Batches;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;

namespace Snapper.Protocol.Scheduling;

/// <summary>
/// The locks of one actor: strict two-phase locking with wait-die (W1), granted first come, first served.
/// </summary>
/// <remarks>
/// Invariant: every waiter is older than all that it waits for, which are the conflicting holders and the conflicting
/// waiters ahead of it. So waits never form a ring, and a grant never puts a younger waiter behind an older holder: W1
/// holds at grants without killing anyone there. A request that conflicts with an older waiter dies as if that waiter
/// held the lock, so readers do not overtake a waiting writer.
/// </remarks>
public sealed class LockTable
{
    // A table comes and goes with each ACT on its actor. Most have one holder, and no waiter.
    private static readonly List<Request> s_none = [];
    private readonly List<ActScheduleEntry> _holders = new(1);
    private List<Request> _waiters = s_none;
    private readonly ActorKey? _actor;

    /// <summary>A table without locks.</summary>
    public LockTable()
    {
    }

    /// <summary>Who listens; null: nobody.</summary>
    internal IProtocolTrace? Trace { get; set; }

    /// <summary>As the one without arguments, with somebody who listens.</summary>
    internal LockTable(ActorKey actor, IProtocolTrace? trace)
    {
        _actor = actor;
        Trace = trace;
    }

    /// <summary>Nobody holds and nobody waits.</summary>
    public bool IsEmpty => _holders.Count == 0 && _waiters.Count == 0;

    /// <summary>Somebody waits for a lock that the transaction holds or has asked for earlier.</summary>
    public bool HasWaitersBehind(ActScheduleEntry visit)
    {
        foreach (var waiter in _waiters)
        {
            if (!ReferenceEquals(waiter.Visit, visit))
            {
                return visit.Held != LockMode.None;
            }
        }

        return false;
    }

    /// <summary>Asks for a lock.</summary>
    /// <param name="visit">The ACT's stay on the actor.</param>
    /// <param name="mode">Shared or exclusive; a stronger mode than the held one is an upgrade.</param>
    /// <param name="call">Named in the later grant or refusal.</param>
    /// <param name="blockers">Those it waits for, or the one that kills it; filled only when not granted.</param>
    public LockAnswer Ask(ActScheduleEntry visit, LockMode mode, IActorCall call, List<TransactionId> blockers)
    {
        blockers.Clear();
        if (visit.Held >= mode)
        {
            return LockAnswer.Granted;
        }

        // An upgrade goes ahead of the queue: everyone in the queue waits for its shared lock already, so waiting for
        // them would be a ring.
        var position = visit.Held == LockMode.Shared ? 0 : _waiters.Count;
        foreach (var holder in _holders)
        {
            if (!ReferenceEquals(holder, visit) && Conflict(holder.Held, mode))
            {
                if (holder.Age.IsOlderThan(visit.Age))
                {
                    blockers.Clear();
                    blockers.Add(holder.Tid);
                    return LockAnswer.Die;
                }

                blockers.Add(holder.Tid);
            }
        }

        for (var i = 0; i < position; i++)
        {
            var waiter = _waiters[i];
            if (!ReferenceEquals(waiter.Visit, visit) && Conflict(waiter.Mode, mode))
            {
                if (waiter.Visit.Age.IsOlderThan(visit.Age))
                {
                    blockers.Clear();
                    blockers.Add(waiter.Visit.Tid);
                    return LockAnswer.Die;
                }

                blockers.Add(waiter.Visit.Tid);
            }
        }

        if (blockers.Count == 0)
        {
            Hold(visit, mode);
            return LockAnswer.Granted;
        }

        if (ReferenceEquals(_waiters, s_none))
        {
            _waiters = [];
        }

        _waiters.Insert(position, new Request(visit, mode, call));
        return LockAnswer.Waiting;
    }

    /// <summary>
    /// Those whom an upgrade has overtaken, granted or not. They wait for it from now on: until then they waited for the
    /// shared lock only, or only for a writer ahead of them, who may die and leave nobody but the upgrade in front.
    /// </summary>
    /// <param name="visit">The ACT whose upgrade was granted or waits at the head of the queue.</param>
    /// <param name="overtaken">Filled in the order of the queue; empty when nobody waits.</param>
    public void Overtaken(ActScheduleEntry visit, List<TransactionId> overtaken)
    {
        overtaken.Clear();
        foreach (var waiter in _waiters)
        {
            if (!ReferenceEquals(waiter.Visit, visit))
            {
                overtaken.Add(waiter.Visit.Tid);
            }
        }
    }

    /// <summary>Takes an ACT's locks and requests out. Follow with <see cref="GrantNext"/>.</summary>
    public void Release(ActScheduleEntry visit)
    {
        if (visit.Held != LockMode.None)
        {
            _holders.Remove(visit);
            visit.Held = LockMode.None;
        }

        for (var i = _waiters.Count - 1; i >= 0; i--)
        {
            if (ReferenceEquals(_waiters[i].Visit, visit))
            {
                _waiters.RemoveAt(i);
            }
        }
    }

    /// <summary>Grants from the head of the queue as far as it is compatible with the holders.</summary>
    public void GrantNext(OutputBuffer outputs)
    {
        while (_waiters.Count > 0)
        {
            var next = _waiters[0];
            foreach (var holder in _holders)
            {
                if (!ReferenceEquals(holder, next.Visit) && Conflict(holder.Held, next.Mode))
                {
                    if (holder.Age.IsOlderThan(next.Visit.Age))
                    {
                        // W1: a younger waiter behind an older holder would be a wait that can close a ring. (Of one age
                        // are two attempts of one request: the holder is dead, and its end is on its way.)
                        throw new ProtocolViolationException($"Waiter {next.Visit.Tid} is younger than holder {holder.Tid}.");
                    }

                    return;
                }
            }

            _waiters.RemoveAt(0);
            Hold(next.Visit, next.Mode);
            Trace?.Granted(_actor!, next.Call, next.Mode);
            outputs.Add(OutputKind.GrantLock).Body = next.Call;
        }
    }

    private static bool Conflict(LockMode held, LockMode asked) =>
        held != LockMode.None
        && (held == LockMode.Exclusive || asked == LockMode.Exclusive)
        && Accesses.Conflicts(Access.Whole, Access.Whole);

    private void Hold(ActScheduleEntry visit, LockMode mode)
    {
        if (visit.Held == LockMode.None)
        {
            _holders.Add(visit);
        }

        if (mode > visit.Held)
        {
            visit.Held = mode;
        }

        if (visit.Held == LockMode.Exclusive && _holders.Count != 1)
        {
            throw new ProtocolViolationException($"{visit.Tid} holds an exclusive lock beside {_holders.Count - 1} others.");
        }
    }

    private readonly record struct Request(ActScheduleEntry Visit, LockMode Mode, IActorCall Call);
}
