using Snapper.Protocol.Batches;
using Snapper.Protocol.Identity;

namespace Snapper.Protocol.Coordination;

/// <summary>
/// PACTs that wait for a number, in the order of their coming; those known to be slow in a line of their own. A batch commits as a whole and in order (L2), so
/// everybody in it waits for its slowest actor: of the slow ones a batch takes no two that share an actor. Whoever shares nothing with them waits for one slow turn
/// per open batch, not for all that are in line (W4).
/// </summary>
internal sealed class WaitingPacts
{
    // Looked at per batch: enough to find some that share nothing, and no cost that grows with the line.
    private const int SlowLookedAt = 64;

    private readonly Queue<PactTicket> _ordinary = new();
    private readonly List<PactTicket> _slow = [];
    private readonly List<PactTicket> _taken = [];
    private readonly HashSet<ActorKey> _actors = [];

    public int Count => _ordinary.Count + _slow.Count;

    public void Add(PactTicket ticket)
    {
        if (ticket.IsSlow)
        {
            _slow.Add(ticket);
        }
        else
        {
            _ordinary.Enqueue(ticket);
        }
    }

    /// <summary>Takes the members of a batch: the ordinary ones, and behind them slow ones.</summary>
    /// <returns>Null: nobody waits who was not withdrawn.</returns>
    public PactTicket[]? Take(int most)
    {
        _taken.Clear();
        if (_slow.Count > 0)
        {
            TakeSlow(most);
        }

        var slow = _taken.Count;
        while (_taken.Count < most && _ordinary.TryDequeue(out var ticket))
        {
            if (!ticket.Withdrawn)
            {
                _taken.Add(ticket);
            }
        }

        if (_taken.Count == 0)
        {
            return null;
        }

        var members = new PactTicket[_taken.Count];
        _taken.CopyTo(slow, members, 0, _taken.Count - slow);
        _taken.CopyTo(0, members, _taken.Count - slow, slow);
        _taken.Clear();
        return members;
    }

    private void TakeSlow(int most)
    {
        _actors.Clear();
        var kept = 0;
        var at = 0;
        var looked = 0;
        for (; at < _slow.Count && looked < SlowLookedAt && _taken.Count < most; at++)
        {
            var ticket = _slow[at];
            if (ticket.Withdrawn)
            {
                continue;
            }

            looked++;
            if (SharesAnActor(ticket))
            {
                _slow[kept++] = ticket;
                continue;
            }

            _taken.Add(ticket);
            foreach (var access in ticket.Declared)
            {
                _actors.Add(access.Actor);
            }
        }

        _slow.RemoveRange(kept, at - kept);
    }

    private bool SharesAnActor(PactTicket ticket)
    {
        foreach (var access in ticket.Declared)
        {
            if (_actors.Contains(access.Actor))
            {
                return true;
            }
        }

        return false;
    }
}
