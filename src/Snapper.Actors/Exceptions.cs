using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;

namespace Snapper.Actors;

/// <summary>Thrown by <c>throw Abort("...")</c>: the application refuses the transaction; nothing of it remains.</summary>
public sealed class TransactionAbortException(string message) : Exception(message);

/// <summary>
/// The transaction can no longer commit: a callee failed, a lock was refused, a declaration was wrong, time ran out.
/// Catching it changes nothing (protocol A10); every later use of the context throws it again.
/// </summary>
public sealed class TransactionDoomedException(AbortReason reason, string message, ActorKey? actor = null) : Exception(message)
{
    /// <summary>Why.</summary>
    public AbortReason Reason { get; } = reason;

    /// <summary>Where it happened; null when no single actor is to blame.</summary>
    public ActorKey? Actor { get; } = actor;
}
