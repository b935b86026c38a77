using Snapper.Protocol.Identity;

namespace Snapper.Protocol.Batches;

/// <summary>What the commit machine knows of one transaction of a batch.</summary>
public enum MemberState : byte
{
    /// <summary>Its root has no result yet.</summary>
    Running,

    /// <summary>Its root returned.</summary>
    Committed,

    /// <summary>It aborted by itself (A3); an outcome like any other.</summary>
    Aborted,

    /// <summary>Taken out by an undo (A4, A5): no effects, no outcome; it runs again under a new number.</summary>
    Removed,
}

/// <summary>How far a worker's part of a global batch is (L3, R).</summary>
public enum PartState : byte
{
    /// <summary>It executes.</summary>
    Executing,

    /// <summary>Complete, everything before it here final or prepared: its <c>Prepared</c> is queued.</summary>
    Prepared,

    /// <summary>The master's decision to commit is known here.</summary>
    Decided,

    /// <summary>Lost to an undo of the master (A9). It keeps its node as an empty local batch (A7).</summary>
    Lost,
}

/// <summary>
/// A batch of this worker's order from forming to its record: a local one, or this worker's part of a global one. Only the commit machine changes it after it was formed.
/// </summary>
public sealed class Batch
{
    private readonly List<Slot> _slots = [];
    private readonly MemberState[] _members;

    /// <summary>A batch without slots yet.</summary>
    public Batch(BatchId bid, BatchId previous, PactTicket[] tickets, GlobalPart? part = null)
    {
        Bid = bid;
        Previous = previous;
        Tickets = tickets;
        Part = part;
        _members = new MemberState[tickets.Length];
        Undecided = tickets.Length;
        for (var i = 0; part is not null && i < tickets.Length; i++)
        {
            if (tickets[i].IsRemote)
            {
                // Its root's worker decides it, and acknowledges its own part only then.
                _members[i] = MemberState.Committed;
                Undecided--;
            }
        }
    }

    /// <summary>The part of a global batch that this is; null: a local batch.</summary>
    public GlobalPart? Part { get; }

    /// <summary>How far that part is.</summary>
    public PartState PartState { get; internal set; }

    /// <summary>It waits for the master's decision, or will have to (L2): what is behind it cannot become final.</summary>
    public bool IsGlobal => Part is not null && PartState != PartState.Lost;

    /// <summary>Its number: the tid of its first transaction.</summary>
    public BatchId Bid { get; }

    /// <summary>The batch before it in the worker's order; none for the first.</summary>
    public BatchId Previous { get; }

    /// <summary>Its transactions in tid order: number i has tid bid + i, unless it was removed and numbered anew.</summary>
    public PactTicket[] Tickets { get; }

    /// <summary>Number of its last transaction.</summary>
    public TransactionId LastTid => new(Bid.Value + Tickets.Length - 1);

    /// <summary>Number of actors.</summary>
    public int SlotCount => _slots.Count;

    /// <summary>Actors whose completion is missing.</summary>
    public int Incomplete { get; private set; }

    /// <summary>Transactions without result.</summary>
    public int Undecided { get; private set; }

    /// <summary>Everything is here: it may become final when everything before it is (L2).</summary>
    public bool IsComplete => Incomplete == 0;

    /// <summary>The actor's part.</summary>
    public SubBatch SubBatchOf(int slot) => _slots[slot].SubBatch;

    /// <summary>The actor's change; null: none, or not complete.</summary>
    public Change? ChangeOf(int slot) => _slots[slot].Change;

    /// <summary>The actor's completion is here.</summary>
    public bool IsSlotComplete(int slot) => _slots[slot].Complete;

    /// <summary>State of a transaction of this batch.</summary>
    public MemberState StateOf(int member) => _members[member];

    /// <summary>Adds an actor; only while the batch is formed.</summary>
    internal void AddSlot(SubBatch subBatch)
    {
        _slots.Add(new Slot(subBatch));
        Incomplete++;
    }

    /// <summary>Index of a transaction's current attempt in this batch.</summary>
    /// <exception cref="ProtocolViolationException">It is none of this batch's.</exception>
    internal int MemberOf(TransactionId tid)
    {
        var member = tid.Value - Bid.Value;
        return member >= 0 && member < Tickets.Length
            ? (int)member
            : throw new ProtocolViolationException($"Transaction {tid} is not in batch {Bid}.");
    }

    internal bool Contains(TransactionId tid) => tid.Value >= Bid.Value && tid.Value < Bid.Value + Tickets.Length;

    internal void Decide(int member, bool committed)
    {
        if (_members[member] == MemberState.Removed)
        {
            return; // A5: removed meanwhile; its result counts for nothing
        }

        if (_members[member] != MemberState.Running)
        {
            throw new ProtocolViolationException($"Transaction {Bid.Value + member} was decided twice.");
        }

        _members[member] = committed ? MemberState.Committed : MemberState.Aborted;
        Undecided--;
    }

    internal void Remove(int member)
    {
        if (_members[member] == MemberState.Running)
        {
            Undecided--;
        }

        _members[member] = MemberState.Removed;
    }

    /// <summary>Takes a completion in, unless it is older than the actor's last undo (A5).</summary>
    /// <returns>True: it was missing until now.</returns>
    internal bool CompleteSlot(int slot, long undoNumber, Change? change)
    {
        var entry = _slots[slot];
        if (undoNumber < entry.RequiredUndo)
        {
            return false;
        }

        var isNew = !entry.Complete;
        if (isNew)
        {
            entry.Complete = true;
            Incomplete--;
        }

        entry.Change = change;
        return isNew;
    }

    /// <summary>Forgets the completion of an actor that is undoing: only one sent after undo <paramref name="undoNumber"/> counts.</summary>
    internal void ReopenSlot(int slot, long undoNumber)
    {
        var entry = _slots[slot];
        entry.RequiredUndo = undoNumber;
        entry.Change = null;
        if (entry.Complete)
        {
            entry.Complete = false;
            Incomplete++;
        }
    }

    private sealed class Slot(SubBatch subBatch)
    {
        public SubBatch SubBatch { get; } = subBatch;

        public Change? Change { get; set; }

        public bool Complete { get; set; }

        public long RequiredUndo { get; set; }
    }
}
