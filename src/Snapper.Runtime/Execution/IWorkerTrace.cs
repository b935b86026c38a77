using Snapper.Protocol;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;
using Snapper.Storage.Log.Records;
using Snapper.Storage.States;

namespace Snapper.Runtime.Execution;

/// <summary>
/// Hears everything that a worker does in its order; for whoever verifies it by the rules. Called on the executor of the machine that does it, and not
/// synchronized: only for a worker whose executors run in one thread.
/// </summary>
internal interface IWorkerTrace : IProtocolTrace
{
    /// <summary>A message has come to the commit machine; before it is handled.</summary>
    void Received(in Message message);

    /// <summary>A batch or an ACT's outcome was queued; <paramref name="record"/> null: as a barrier, without a record.</summary>
    void Queued(object item, LogRecord? record, long sequence, long ticket);

    /// <summary>The requests of a batch or an ACT are answered.</summary>
    void Answered(object item);

    /// <summary>An actor is in memory: with what the store had of it, and the object that was made of that.</summary>
    void Loaded(ActorKey actor, StoredState? stored, object? state);

    /// <summary>An exception has left a method of the transaction, or a call of it was refused (A10).</summary>
    void Failed(TransactionId tid);
}
