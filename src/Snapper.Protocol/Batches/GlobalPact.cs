using Snapper.Protocol.Identity;

namespace Snapper.Protocol.Batches;

/// <summary>
/// A PACT over several workers that asks the master for a number. Method and input stay with the root's worker (I5); the master learns who is touched and by whom to
/// ask again.
/// </summary>
/// <param name="Root">The worker that owns the root actor and keeps the request; requests of a fenced one are dropped (A9).</param>
/// <param name="Handle">Names the request there.</param>
/// <param name="RootActor">The root actor; among the declared.</param>
/// <param name="Declared">Each actor once, with its most calls.</param>
/// <param name="Marked">Holds every turn until the end (A1).</param>
public sealed record GlobalPact(Incarnation Root, long Handle, ActorKey RootActor, ActorAccess[] Declared, bool Marked)
{
    /// <summary>
    /// Whose it is, a caller that is known apart from others; null: of an unknown one. For its turn at the master:
    /// parts do not have it.
    /// </summary>
    public string? Caller { get; init; }

    /// <summary>Bytes that it adds to each message that carries it, at most: a part has to fit into one. Counted when asked for, which the master alone does.</summary>
    public int Weigh()
    {
        const int Numbers = 64; // of a transaction, and of one access with its owner: several times what they need
        const int PerLetter = 3; // UTF-8
        var weight = Numbers + (PerLetter * (RootActor.Type.Length + RootActor.Id.Length));
        foreach (var access in Declared)
        {
            weight += Numbers + (PerLetter * (access.Actor.Type.Length + access.Actor.Id.Length));
        }

        return weight;
    }
}

/// <summary>A numbered <see cref="GlobalPact"/>, as every worker that it touches learns it.</summary>
/// <param name="Tid">Its global number (gtid).</param>
/// <param name="Pact">What asked for it.</param>
/// <param name="Owners">The worker of each declared actor, by index of <see cref="GlobalPact.Declared"/>: calls of this attempt go there, whatever directories say meanwhile.</param>
public sealed record GlobalMember(TransactionId Tid, GlobalPact Pact, Incarnation[] Owners)
{
    /// <summary>True when it touches an actor of the worker.</summary>
    public bool Touches(Incarnation worker)
    {
        foreach (var owner in Owners)
        {
            if (owner == worker)
            {
                return true;
            }
        }

        return false;
    }

    /// <summary>The declared actors of a worker.</summary>
    public ActorAccess[] DeclaredAt(Incarnation worker)
    {
        var count = 0;
        foreach (var owner in Owners)
        {
            count += owner == worker ? 1 : 0;
        }

        var here = new ActorAccess[count];
        for (int i = 0, at = 0; i < Owners.Length; i++)
        {
            if (Owners[i] == worker)
            {
                here[at++] = Pact.Declared[i];
            }
        }

        return here;
    }
}

/// <summary>One worker's part of a global batch, as the master sends it (thesis 4.2.3.1).</summary>
/// <param name="Bid">The global batch (gbid).</param>
/// <param name="Previous">The global batch before it that has a part on this worker; none: there is none, or it does not matter any more.</param>
/// <param name="Members">Its transactions that touch this worker, in the order of their global numbers; at least one.</param>
public sealed record GlobalPart(BatchId Bid, BatchId Previous, GlobalMember[] Members);
