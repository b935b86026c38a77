using Snapper.Protocol.Batches;

namespace Snapper.Protocol.Coordination;

/// <summary>
/// PACTs that wait for a number: those of one caller in the order of their coming, and the callers in turn. All that
/// wait are at the same time under way, so that any order of them is one (strict serializability).
/// </summary>
internal sealed class WaitingPacts
{
    /// <summary>Of the declared actors of a batch one caller has this part while others wait, too.</summary>
    private const int CallersShare = 4;

    private const int LanesKept = 16;

    private readonly Dictionary<string, Lane> _named = new(StringComparer.Ordinal);
    private readonly Lane _unnamed = new();
    private readonly List<Lane> _waiting = []; // not empty, in the order of their turns
    private readonly Stack<Lane> _unused = new();
    private readonly List<PactTicket> _taken = [];
    private int _turn;

    public int Count { get; private set; }

    /// <summary>Callers of whom something is kept.</summary>
    public int Lanes => _named.Count;

    public void Add(PactTicket ticket)
    {
        var lane = LaneOf(ticket.Caller);
        if (lane.Tickets.Count == 0)
        {
            // Behind all that wait now: its turn comes last.
            var at = Math.Min(_turn, _waiting.Count);
            _waiting.Insert(at, lane);
            _turn = at + 1;
        }

        lane.Tickets.Enqueue(ticket);
        Count++;
    }

    /// <summary>
    /// Takes the members of a batch. While several callers wait, each has a turn, and one has a share at most.
    /// </summary>
    /// <param name="most">So many at most.</param>
    /// <param name="mostAccesses">With so many declared actors at most, if it is more than one.</param>
    /// <returns>Null: all that waited were withdrawn.</returns>
    public PactTicket[]? Take(int most, int mostAccesses)
    {
        _taken.Clear();
        var (share, shareOfAccesses) = _waiting.Count > 1
            ? (Math.Max(1, most / CallersShare), mostAccesses / CallersShare)
            : (most, mostAccesses);
        var accesses = 0;
        for (var lanes = _waiting.Count; lanes > 0; lanes--)
        {
            _turn = _turn < _waiting.Count ? _turn : 0;
            var lane = _waiting[_turn];
            var before = _taken.Count;
            var isFull = !TakeFrom(
                lane, Math.Min(most, before + share), accesses + shareOfAccesses, mostAccesses, ref accesses);
            if (lane.Tickets.Count == 0)
            {
                _waiting.RemoveAt(_turn);
                Forget(lane);
            }
            else if (_taken.Count > before)
            {
                _turn++;
            }

            if (isFull)
            {
                break; // a lane of which nothing was taken is the first one of the next batch
            }
        }

        return _taken.Count == 0 ? null : _taken.ToArray();
    }

    /// <summary>Takes what a lane may give.</summary>
    /// <returns>False: the next ticket does not fit into the batch.</returns>
    private bool TakeFrom(Lane lane, int until, int untilAccesses, int mostAccesses, ref int accesses)
    {
        var isFirst = true;
        while (_taken.Count < until && lane.Tickets.TryPeek(out var ticket))
        {
            if (!ticket.Withdrawn)
            {
                var with = accesses + ticket.Here.Length;
                if (with > mostAccesses && _taken.Count > 0)
                {
                    return false;
                }

                if (with > untilAccesses && !isFirst)
                {
                    return true;
                }

                (accesses, isFirst) = (with, false);
                _taken.Add(ticket);
            }

            lane.Tickets.Dequeue();
            Count--;
        }

        return true;
    }

    private Lane LaneOf(string? caller)
    {
        if (caller is null)
        {
            return _unnamed;
        }

        if (!_named.TryGetValue(caller, out var lane))
        {
            lane = _unused.TryPop(out var unused) ? unused : new Lane();
            lane.Caller = caller;
            _named.Add(caller, lane);
        }

        return lane;
    }

    /// <summary>Callers come and go: of one that does not wait nothing stays.</summary>
    private void Forget(Lane lane)
    {
        if (lane.Caller is { } caller)
        {
            _named.Remove(caller);
            lane.Caller = null;
            if (_unused.Count < LanesKept)
            {
                _unused.Push(lane);
            }
        }
    }

    private sealed class Lane
    {
        public string? Caller { get; set; }

        public Queue<PactTicket> Tickets { get; } = new();
    }
}
