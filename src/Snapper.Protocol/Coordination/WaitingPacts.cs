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

    private readonly CallerLanes<PactTicket> _lanes = new();
    private readonly List<PactTicket> _taken = [];

    public int Count => _lanes.Count;

    /// <summary>Callers of whom something is kept.</summary>
    public int Lanes => _lanes.Named;

    public void Add(PactTicket ticket) => _lanes.Add(ticket.Caller, ticket);

    /// <summary>
    /// Takes the members of a batch. While several callers wait, each has a turn, and one has a share at most.
    /// </summary>
    /// <param name="most">So many at most.</param>
    /// <param name="mostAccesses">With so many declared actors at most, if it is more than one.</param>
    /// <returns>Null: all that waited were withdrawn.</returns>
    public PactTicket[]? Take(int most, int mostAccesses)
    {
        _taken.Clear();
        var (share, shareOfAccesses) = _lanes.Waiting > 1
            ? (Math.Max(1, most / CallersShare), mostAccesses / CallersShare)
            : (most, mostAccesses);
        var accesses = 0;
        for (var lanes = _lanes.Waiting; lanes > 0; lanes--)
        {
            var tickets = _lanes.Current.Items;
            var before = _taken.Count;
            var isFull = !TakeFrom(
                tickets, Math.Min(most, before + share), accesses + shareOfAccesses, mostAccesses, ref accesses);
            if (tickets.Count == 0 || _taken.Count > before)
            {
                _lanes.Next();
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
    private bool TakeFrom(
        Queue<PactTicket> tickets, int until, int untilAccesses, int mostAccesses, ref int accesses)
    {
        var isFirst = true;
        while (_taken.Count < until && tickets.TryPeek(out var ticket))
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

            _lanes.Dequeue();
        }

        return true;
    }
}
