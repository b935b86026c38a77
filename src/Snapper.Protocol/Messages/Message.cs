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

    /// <summary>The rest.</summary>
    public object? Body;
}
