using Snapper.Protocol.Identity;

namespace Snapper.Protocol.Scheduling;

/// <summary>One method call on an actor, as the schedule sees it. The shell implements it; the machine owns the last two members.</summary>
public interface IActorCall
{
    /// <summary>The transaction.</summary>
    TransactionId Tid { get; }

    /// <summary>Its batch; none for an ACT.</summary>
    BatchId Bid { get; }

    /// <summary>Age for wait-die: the tid of the request's first attempt (W1, W2).</summary>
    TransactionId Age { get; }

    /// <summary>False once the attempt can no longer commit: late calls are then refused (W3, A8).</summary>
    bool IsAlive { get; }

    /// <summary>
    /// ceil(T) as far as it is known: the lowest batch behind one of the transaction's places; none: nothing is behind it.
    /// Machines lower it when a batch arrives behind a place (H5); a call carries it to the next actor.
    /// </summary>
    BatchId Ceil { get; set; }

    /// <summary>The call whose method made this one; null for a root.</summary>
    IActorCall? Caller { get; }

    /// <summary>The call of the same transaction that this one interrupted on its actor; null: none.</summary>
    IActorCall? Below { get; set; }

    /// <summary>The transaction's stay on the actor; set when the call is let in.</summary>
    Visit? Visit { get; set; }

    /// <summary>
    /// The call is kept back by another call of its own transaction, whose turn it is: nobody else is to blame for the wait
    /// (W4). May be said more than once.
    /// </summary>
    void WaitsForItsOwn()
    {
    }
}
