using Snapper.Protocol.Identity;

namespace Snapper.Protocol.Batches;

/// <summary>
/// A PACT on its way to its end: what it declares, and the numbers of its current attempt. One ticket per request; it is
/// numbered again after an undo (A4).
/// </summary>
public sealed class PactTicket
{
    /// <summary>A ticket.</summary>
    /// <param name="root">The root actor; must be among the declared.</param>
    /// <param name="declared">Each actor once, with its most calls.</param>
    /// <param name="request">The shell's own request; the machines never look into it.</param>
    public PactTicket(ActorKey root, ActorAccess[] declared, object request)
    {
        Root = root;
        Declared = declared;
        Here = declared;
        Request = request;
    }

    /// <summary>The root actor.</summary>
    public ActorKey Root { get; }

    /// <summary>The declared actors, those of other workers included.</summary>
    public ActorAccess[] Declared { get; }

    /// <summary>The declared actors of this worker: all, unless its current attempt is part of a global batch.</summary>
    public ActorAccess[] Here { get; set; }

    /// <summary>Its global number and owners, while its current attempt is part of a global batch; null: a local one.</summary>
    public GlobalMember? Global { get; set; }

    /// <summary>Its root is on another worker: that one decides its outcome, keeps the request and sends it again.</summary>
    public bool IsRemote { get; init; }

    /// <summary>
    /// Who asked for it, as far as it is certain: callers that wait for numbers have turns. Null: not known.
    /// </summary>
    public string? Caller { get; init; }

    /// <summary>The shell's request.</summary>
    public object Request { get; }

    /// <summary>Hold every turn until the end (A1); set for good once an unmarked attempt has failed (A4).</summary>
    public bool Marked { get; set; }

    /// <summary>Number of the current attempt; none while it waits for one.</summary>
    public TransactionId Tid { get; set; }

    /// <summary>Batch of the current attempt.</summary>
    public BatchId Bid { get; set; }

    /// <summary>The coordinator that gives its numbers, also after an undo; withdrawing goes there too.</summary>
    public int Coordinator { get; init; }

    /// <summary>Attempts numbered so far.</summary>
    public int Attempts { get; set; }

    /// <summary>Dropped before it was numbered.</summary>
    public bool Withdrawn { get; set; }
}

/// <summary>An actor of an access set.</summary>
/// <param name="Actor">The actor.</param>
/// <param name="Access">What of it.</param>
/// <param name="Calls">Most method calls, at least 1.</param>
public readonly record struct ActorAccess(ActorKey Actor, Access Access, int Calls);
