using Snapper.Protocol.Batches;
using Snapper.Protocol.Identity;

namespace Snapper.Protocol.Messages;

/// <summary>One message between machines. Which fields count is said at its <see cref="MessageKind"/>.</summary>
/// <remarks>A struct that is copied into queues: sending allocates nothing.</remarks>
public struct Message
{
    /// <summary>What it says.</summary>
    public MessageKind Kind;

    /// <summary>Yes or no.</summary>
    public bool Flag;

    /// <summary>Why.</summary>
    public AbortReason Reason;

    /// <summary>A count or an index.</summary>
    public int Count;

    /// <summary>The transaction.</summary>
    public TransactionId Tid;

    /// <summary>The batch.</summary>
    public BatchId Bid;

    /// <summary>A number.</summary>
    public long Value;

    /// <summary>The actor it goes to or comes from.</summary>
    public ActorKey? Actor;

    /// <summary>The rest; what it is, says <see cref="Kind"/>.</summary>
    public object? Body;

    /// <summary>The body of a message about a PACT.</summary>
    public readonly PactTicket Ticket => (PactTicket)Body!;

    /// <summary>The body of a message about a batch.</summary>
    public readonly Batch Batch => (Batch)Body!;

    /// <summary>The body of <see cref="MessageKind.SubBatch"/>.</summary>
    public readonly SubBatch SubBatch => (SubBatch)Body!;

    /// <summary>The body of <see cref="MessageKind.Undo"/>.</summary>
    public readonly UndoOrder Undo => (UndoOrder)Body!;

    /// <summary>The body of a message to a branch of a PACT.</summary>
    public readonly GlobalMember Member => (GlobalMember)Body!;

    /// <summary>A PACT asks for a number.</summary>
    public static Message NewPact(PactTicket ticket) => new() { Kind = MessageKind.NewPact, Body = ticket };
}
