using Snapper.Protocol.Batches;
using Snapper.Protocol.Identity;

namespace Snapper.Protocol.Coordination;

/// <summary>A worker's part of a global batch with the tickets of its transactions there.</summary>
/// <param name="Part">As the master sent it.</param>
/// <param name="Tickets">One per member, in the same order: the request's own where the root is here, else one made for the purpose.</param>
public sealed record BoundPart(GlobalPart Part, PactTicket[] Tickets)
{
    /// <summary>Finds, or makes, the tickets of a part.</summary>
    /// <param name="part">The part.</param>
    /// <param name="self">This worker.</param>
    /// <param name="requests">The requests whose roots are here, by handle.</param>
    /// <param name="remote">What stands for the request of a transaction whose root is elsewhere.</param>
    /// <exception cref="ProtocolViolationException">The master numbered a request that is not kept here.</exception>
    public static BoundPart Bind(GlobalPart part, Incarnation self, Func<long, PactTicket?> requests, Func<GlobalMember, object> remote)
    {
        ArgumentNullException.ThrowIfNull(part);
        ArgumentNullException.ThrowIfNull(requests);
        ArgumentNullException.ThrowIfNull(remote);
        var tickets = new PactTicket[part.Members.Length];
        for (var i = 0; i < tickets.Length; i++)
        {
            var member = part.Members[i];
            var pact = member.Pact;
            if (pact.Root == self)
            {
                tickets[i] = requests(pact.Handle) ?? throw new ProtocolViolationException($"Request {pact.Handle} was numbered {member.Tid}, but is not kept here (I5).");
            }
            else
            {
                tickets[i] = new PactTicket(pact.RootActor, pact.Declared, remote(member)) { IsRemote = true };
            }

            tickets[i].Marked = pact.Marked;
            tickets[i].Here = member.DeclaredAt(self);
            tickets[i].Global = member;
        }

        return new BoundPart(part, tickets);
    }
}
