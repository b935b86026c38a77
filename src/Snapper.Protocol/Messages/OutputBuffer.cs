using System.Runtime.CompilerServices;
using Snapper.Protocol.Batches;
using Snapper.Protocol.Commitment;
using Snapper.Protocol.Identity;

namespace Snapper.Protocol.Messages;

/// <summary>What the shell has to do with an <see cref="Output"/>.</summary>
public enum OutputKind : byte
{
    /// <summary>Deliver the message to an actor (Message.Actor).</summary>
    SendToActor,

    /// <summary>Deliver the message to a coordinator of this worker's ring (Index).</summary>
    SendToCoordinator,

    /// <summary>Deliver the message to the commit machine of this worker.</summary>
    SendToCommit,

    /// <summary>Deliver the message to the root of the transaction (Message.Tid; Body may hold its ticket).</summary>
    SendToRoot,

    /// <summary>Deliver the message to the master (thesis 4.2: the global coordinator).</summary>
    SendToMaster,

    /// <summary>Deliver the message to an actor of another worker (Message.Actor), about the PACT in Message.Body: its <see cref="GlobalMember"/>.</summary>
    SendToBranch,

    /// <summary>Deliver the message to another worker of an ACT (Message.Body: its <see cref="ActOutcome"/>; Index: which of <see cref="ActOutcome.Others"/>).</summary>
    SendToParticipant,

    /// <summary>Deliver the message to the worker of an ACT's root (Message.Body: its <see cref="ActOutcome"/>).</summary>
    SendToRootWorker,

    /// <summary>Run the user code of a call (Message.Body). Comes last of a step's outputs for one actor.</summary>
    Invoke,

    /// <summary>Run the root call of a PACT (Message.Body: its ticket; Tid, Bid; Flag: marked).</summary>
    InvokeRoot,

    /// <summary>A call is refused: its transaction is doomed (Message.Body: the call; Reason).</summary>
    Refuse,

    /// <summary>A lock that a call waited for is granted (Message.Body: the call).</summary>
    GrantLock,

    /// <summary>Queue a record (Message.Body: <see cref="Batch"/>, <see cref="ActOutcome"/>, <see cref="PreparedPart"/>, <see cref="DecidedPart"/>, <see cref="PreparedAct"/> or <see cref="DecidedAct"/>); the shell answers with <see cref="CommitMachine.Queued"/>.</summary>
    Append,

    /// <summary>Durable (Message.Body: what was queued). Answer the requests of a <see cref="Batch"/> or an <see cref="ActOutcome"/>; those of a global batch were answered when it was decided.</summary>
    Reply,

    /// <summary>A PACT goes back without a number: an actor of it is frozen, or not this worker's any more (M1; Message.Body: its ticket; Actor).</summary>
    NotNumbered,

    /// <summary>A PACT that waited for its number is dropped (Message.Body: ticket; Reason).</summary>
    Dropped,
}

/// <summary>One effect of a step, as data.</summary>
public struct Output
{
    /// <summary>What to do.</summary>
    public OutputKind Kind;

    /// <summary>Index of the coordinator, for <see cref="OutputKind.SendToCoordinator"/>.</summary>
    public int Index;

    /// <summary>With what.</summary>
    public Message Message;
}

/// <summary>
/// The effects of a step in the order in which they must take place: a send never overtakes an append listed before it
/// (L1). Reused; holds no references after <see cref="Clear"/>.
/// </summary>
public sealed class OutputBuffer
{
    private Output[] _items = new Output[32];
    private int _count;

    /// <summary>Number of effects.</summary>
    public int Count => _count;

    /// <summary>The effect at a position.</summary>
    public ref readonly Output this[int index] => ref _items[index];

    /// <summary>Forgets all effects.</summary>
    public void Clear()
    {
        Array.Clear(_items, 0, _count);
        _count = 0;
    }

    /// <summary>Adds an effect and returns its message to be filled.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public ref Message Add(OutputKind kind, MessageKind message = MessageKind.None, int index = 0)
    {
        if (_count == _items.Length)
        {
            Array.Resize(ref _items, _count * 2);
        }

        ref var output = ref _items[_count++];
        output.Kind = kind;
        output.Index = index;
        output.Message.Kind = message;
        return ref output.Message;
    }

    /// <summary>Adds a message to the commit machine.</summary>
    public ref Message ToCommit(MessageKind kind, TransactionId tid, BatchId bid)
    {
        ref var message = ref Add(OutputKind.SendToCommit, kind);
        message.Tid = tid;
        message.Bid = bid;
        return ref message;
    }

    /// <summary>Adds a message to an actor.</summary>
    public ref Message ToActor(MessageKind kind, ActorKey actor, TransactionId tid, BatchId bid)
    {
        ref var message = ref Add(OutputKind.SendToActor, kind);
        message.Actor = actor;
        message.Tid = tid;
        message.Bid = bid;
        return ref message;
    }
}
