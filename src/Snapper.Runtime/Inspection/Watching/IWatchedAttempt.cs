using Snapper.Protocol.Batches;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Scheduling;
using Snapper.Runtime.Door;

namespace Snapper.Runtime.Inspection.Watching;

public interface IWatchedAttempt
{
    TransactionId Tid { get; }

    /// <summary>Number of its batch; none for an ACT.</summary>
    BatchId Bid { get; }

    /// <summary>Its root is on another worker.</summary>
    bool IsBranch { get; }

    /// <summary>When it began, as a timestamp of the worker's clock.</summary>
    long BeganAt { get; }

    IWatchedRequest Request { get; }

    /// <summary>Its trace; null: it has none.</summary>
    AttemptTrace? Trace { get; }

    /// <summary>What it has called so far, in the shape of a declaration.</summary>
    DeclaredAccess[] Touched();
}

public interface IWatchedRequest
{
    string Id { get; }

    /// <summary>As its caller sent it; of a branch, as far as it is known here.</summary>
    TransactionRequest Asked { get; }

    /// <summary>A PACT's access set; null for an ACT.</summary>
    ActorAccess[]? Declared { get; }

    /// <summary>How many attempts have begun.</summary>
    int Attempts { get; }

    /// <summary>When it came, as a timestamp of the worker's clock; 0: it came to another worker.</summary>
    long ReceivedAt { get; }
}

public interface IWatchedCall : IActorCall
{
    IWatchedRequest Request { get; }
}
