using Snapper.Protocol.Batches;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;
using Snapper.Protocol.Scheduling;

namespace Snapper.Protocol;

/// <summary>
/// Hears what the machines of one worker do, when they do it; for whoever verifies it by the rules. Where nobody listens it is null, and each place that
/// would tell something costs one test.
/// </summary>
internal interface IProtocolTrace
{
    /// <summary>A message has come to an actor; before it is handled. Calls may come without one.</summary>
    void Arrived(ActorKey actor, in Message message);

    /// <summary>A call's user code is let in: from now on it may read the state (A5: a touch).</summary>
    void LetIn(ActorKey actor, IActorCall call);

    /// <summary>A call was given the state.</summary>
    void Read(ActorKey actor, IActorCall call, object? state);

    /// <summary>A call has replaced the state.</summary>
    void Wrote(ActorKey actor, IActorCall call, object state);

    /// <summary>A call of an ACT has asked for a lock (W1).</summary>
    void Asked(ActorKey actor, IActorCall call, LockMode mode, LockAnswer answer);

    /// <summary>A call that waited holds its lock (W1).</summary>
    void Granted(ActorKey actor, IActorCall call, LockMode mode);

    /// <summary>The actor has told the commit order what a batch has changed; null: nothing. The last word of several counts (A5).</summary>
    void Completed(ActorKey actor, BatchId bid, Change? change);

    /// <summary>
    /// A component that is complete would have too large a record: its last transactions are removed next (L6).
    /// </summary>
    void Outgrown(Component component);

    /// <summary>The undo manager removes these transactions, all in one round (A5).</summary>
    void Removing(IReadOnlyList<TransactionId> tids);

    /// <summary>The last round of the undo is acknowledged everywhere.</summary>
    void UndoOver();
}
