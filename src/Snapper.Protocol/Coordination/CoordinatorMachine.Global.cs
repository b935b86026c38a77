using Snapper.Protocol.Batches;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;

namespace Snapper.Protocol.Coordination;

/// <summary>Parts of global batches, merged into the worker's own order (thesis 4.2.3.1). All of them come to coordinator 0, in the order of their global numbers.</summary>
public sealed partial class CoordinatorMachine
{
    private BatchId _lastGlobal;

    private void PlaceParts(RingToken token, OutputBuffer outputs)
    {
        foreach (var part in _parts)
        {
            if (part.Part.Bid <= _lastGlobal || part.Part.Previous > _lastGlobal)
            {
                throw new ProtocolViolationException($"Global batch {part.Part.Bid} follows {part.Part.Previous}; the last one placed here is {_lastGlobal}.");
            }

            RequireOwned(part);
            _lastGlobal = part.Part.Bid;
            ForgetFinal(token);
            Place(token, part.Tickets, part.Part, outputs);
        }

        _parts.Clear();
    }

    /// <summary>M7: an actor moves only when everything that was numbered for it is final. Whatever let it go earlier, there must not be two owners.</summary>
    private void RequireOwned(BoundPart part)
    {
        if (ownership is null)
        {
            return;
        }

        foreach (var ticket in part.Tickets)
        {
            foreach (var access in ticket.Here)
            {
                if (!ownership.Owns(access.Actor))
                {
                    throw new ProtocolViolationException($"Global batch {part.Part.Bid} was numbered for {access.Actor}, which this worker does not own any more (M7).");
                }
            }
        }
    }

    /// <summary>M1: ownership is looked at where numbers are given. What is frozen or moved goes back.</summary>
    /// <returns>Null: nobody is left.</returns>
    private PactTicket[]? Owned(PactTicket[] tickets, OutputBuffer outputs)
    {
        if (ownership is null)
        {
            return tickets;
        }

        var kept = 0;
        foreach (var ticket in tickets)
        {
            if (NotOwned(ticket) is { } actor)
            {
                ref var message = ref outputs.Add(OutputKind.NotNumbered);
                message.Body = ticket;
                message.Actor = actor;
            }
            else
            {
                tickets[kept++] = ticket;
            }
        }

        return kept == tickets.Length ? tickets : kept == 0 ? null : tickets[..kept];
    }

    private ActorKey? NotOwned(PactTicket ticket)
    {
        if (!ownership!.MayBegin(ticket))
        {
            return ticket.Root;
        }

        foreach (var access in ticket.Declared)
        {
            if (!ownership!.MayNumber(access.Actor))
            {
                return access.Actor;
            }
        }

        return null;
    }

    /// <summary>A9: parts that have no place yet are lost without an undo. What has one, the commit machine undoes; it hears of it behind their announcement.</summary>
    private void OnGlobalUndo(in Message message, OutputBuffer outputs)
    {
        List<PactTicket>? dropped = null;
        for (var i = _parts.Count - 1; i >= 0; i--)
        {
            if (_parts[i].Part.Bid >= message.Bid)
            {
                (dropped ??= []).AddRange(_parts[i].Tickets);
                _parts.RemoveAt(i);
            }
        }

        ref var forwarded = ref outputs.Add(OutputKind.SendToCommit);
        forwarded = message;
        forwarded.Body = dropped;
    }
}
