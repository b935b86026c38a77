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
    private readonly List<SubBatch> _slots = [];
    private readonly Member[] _members;
    private volatile Component[] _components = [];
    private int _queuedComponents;
    private volatile bool _isFinal;

    /// <summary>A batch without slots yet.</summary>
    public Batch(BatchId bid, BatchId previous, PactTicket[] tickets, GlobalPart? part = null)
    {
        Bid = bid;
        Previous = previous;
        Tickets = tickets;
        Part = part;
        _members = new Member[tickets.Length];
        for (var i = 0; part is not null && i < tickets.Length; i++)
        {
            if (tickets[i].IsRemote)
            {
                // Its root's worker decides it, and acknowledges its own part only then.
                _members[i].State = MemberState.Committed;
            }
        }
    }

    /// <summary>The part of a global batch that this is; null: a local batch.</summary>
    public GlobalPart? Part { get; }

    /// <summary>How far that part is.</summary>
    public PartState PartState { get; internal set; }

    /// <summary>
    /// It waits for the master's decision, or will have to: what is behind it on its actors cannot become final (D7).
    /// </summary>
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

    /// <summary>
    /// What it is divided into (D1), in the order of their first transactions; empty until it is announced to the
    /// commit machine. Read by any thread.
    /// </summary>
    public IReadOnlyList<Component> Components => _components;

    /// <summary>Components that are not final.</summary>
    public int OpenComponents { get; internal set; }

    /// <summary>An undo has taken all its transactions out (A7).</summary>
    public bool IsEmpty => Array.TrueForAll(_members, static member => member.State == MemberState.Removed);

    /// <summary>All its sub-batches are final, with their records queued. Read by any thread.</summary>
    public bool IsFinal => _isFinal;

    /// <summary>All of a local batch is durable, or an undo has emptied it.</summary>
    public bool IsSettled => SettledComponents == _components.Length;

    /// <summary>Components that are durable, or that an undo has emptied.</summary>
    internal int SettledComponents { get; set; }

    /// <summary>It no longer holds back the next batch.</summary>
    internal bool IsReleased { get; set; }

    /// <summary>It was formed, or something of it was completed, since the last look at what takes long.</summary>
    internal bool HasProgressed { get; set; } = true;

    /// <summary>
    /// A transaction of it waits for something else than this worker: the others do not wait for a record with it.
    /// </summary>
    internal bool Lingers { get; set; }

    /// <summary>The component of a transaction.</summary>
    public Component ComponentOf(int member) => _components[_members[member].Component];

    /// <summary>The component of an actor's part.</summary>
    public Component ComponentOfSlot(int slot) => _slots[slot].Component
        ?? throw new ProtocolViolationException($"Batch {Bid}: its part on {_slots[slot].Actor} is final.");

    /// <summary>The next transaction of the same component; -1: it is the last.</summary>
    public int NextMember(int member) => _members[member].Next;

    /// <summary>
    /// The first transaction of a component that has its root on this worker, and was not removed; -1: there is none.
    /// </summary>
    public int FirstRoot(Component component) => RootFrom(component.FirstMember);

    /// <summary>The next one of the same component as <see cref="FirstRoot"/>; -1: there is none.</summary>
    public int NextRoot(int member) => RootFrom(NextMember(member));

    /// <summary>The next actor of the same component; -1: it is the last.</summary>
    public int NextSlot(int slot) => _slots[slot].NextSlot;

    /// <summary>The actor's part.</summary>
    public SubBatch SubBatchOf(int slot) => _slots[slot];

    /// <summary>The actor's change; null: none, or not complete.</summary>
    public Change? ChangeOf(int slot) => _slots[slot].Change;

    /// <summary>The actor's completion is here.</summary>
    public bool IsSlotComplete(int slot) => _slots[slot].IsComplete;

    /// <summary>State of a transaction of this batch.</summary>
    public MemberState StateOf(int member) => _members[member].State;

    private int RootFrom(int member)
    {
        while (member >= 0 && (_members[member].State == MemberState.Removed || Tickets[member].IsRemote))
        {
            member = _members[member].Next;
        }

        return member;
    }

    /// <summary>Adds an actor; only while the batch is formed.</summary>
    internal void AddSlot(SubBatch subBatch)
    {
        _slots.Add(subBatch);
        Incomplete++;
    }

    /// <summary>
    /// Divides a local batch into its components (D1). A part of a global batch is one, whatever its transactions
    /// share: its worker prepares it as a whole (D7).
    /// </summary>
    internal void Divide()
    {
        var count = Tickets.Length;
        Span<int> least = count <= 512 ? stackalloc int[count] : new int[count];
        for (var i = 0; i < count; i++)
        {
            least[i] = Part is null ? i : 0;
        }

        var components = Part is null ? count : 1;
        for (var slot = 0; Part is null && slot < _slots.Count; slot++)
        {
            var subBatch = _slots[slot];
            for (var entry = 1; entry < subBatch.Count; entry++)
            {
                components -= Join(least, MemberOf(subBatch[0].Tid), MemberOf(subBatch[entry].Tid)) ? 1 : 0;
            }
        }

        var divided = new Component[components];
        DivideMembers(least, divided);
        DivideSlots(divided);
        OpenComponents = components;
        _components = divided; // who reads it beside the commit machine sees all of them, or none
    }

    // The least member of each set stands for it: parents point to lower indices alone.
    private static bool Join(Span<int> least, int left, int right)
    {
        left = Find(least, left);
        right = Find(least, right);
        if (left == right)
        {
            return false;
        }

        least[Math.Max(left, right)] = Math.Min(left, right);
        return true;
    }

    private static int Find(Span<int> least, int member)
    {
        while (least[member] != member)
        {
            least[member] = least[least[member]];
            member = least[member];
        }

        return member;
    }

    private void DivideMembers(Span<int> least, Component[] components)
    {
        Span<int> last = components.Length <= 512 ? stackalloc int[components.Length] : new int[components.Length];
        var found = 0;
        for (var i = 0; i < least.Length; i++)
        {
            ref var member = ref _members[i];
            var first = Find(least, i);
            if (first == i)
            {
                components[found] = new Component(this, i) { FirstSlot = -1 };
                member.Component = found++;
            }
            else
            {
                member.Component = _members[first].Component;
                _members[last[member.Component]].Next = i;
            }

            member.Next = -1;
            last[member.Component] = i;
            components[member.Component].Undecided += member.State == MemberState.Running ? 1 : 0;
        }
    }

    private void DivideSlots(Component[] components)
    {
        Span<int> last = components.Length <= 512 ? stackalloc int[components.Length] : new int[components.Length];
        for (var slot = 0; slot < _slots.Count; slot++)
        {
            var subBatch = _slots[slot];
            var index = _members[MemberOf(subBatch[0].Tid)].Component;
            var component = components[index];
            subBatch.Component = component;
            component.Incomplete++;
            if (component.FirstSlot < 0)
            {
                component.FirstSlot = slot;
            }
            else
            {
                _slots[last[index]].NextSlot = slot;
            }

            last[index] = slot;
        }
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
        ref var state = ref _members[member].State;
        if (state == MemberState.Removed)
        {
            return; // A5: removed meanwhile; its result counts for nothing
        }

        if (state != MemberState.Running)
        {
            throw new ProtocolViolationException($"Transaction {Bid.Value + member} was decided twice.");
        }

        state = committed ? MemberState.Committed : MemberState.Aborted;
        ComponentOf(member).Undecided--;
    }

    internal void Remove(int member)
    {
        ref var state = ref _members[member].State;
        if (state == MemberState.Running)
        {
            ComponentOf(member).Undecided--;
        }

        state = MemberState.Removed;
    }

    /// <summary>Takes a completion in, unless it is older than the actor's last undo (A5).</summary>
    /// <returns>True: it was missing until now.</returns>
    internal bool CompleteSlot(int slot, long undoNumber, Change? change)
    {
        var subBatch = _slots[slot];
        if (undoNumber < subBatch.RequiredUndo)
        {
            return false;
        }

        var isNew = !subBatch.IsComplete;
        if (isNew)
        {
            subBatch.IsComplete = true;
            Incomplete--;
            ComponentOfSlot(slot).Incomplete--;
        }

        subBatch.Change = change;
        return isNew;
    }

    /// <summary>Forgets the completion of an actor that is undoing: only one sent after undo <paramref name="undoNumber"/> counts.</summary>
    internal void ReopenSlot(int slot, long undoNumber)
    {
        var subBatch = _slots[slot];
        subBatch.RequiredUndo = undoNumber;
        subBatch.Change = null;
        if (subBatch.IsComplete)
        {
            subBatch.IsComplete = false;
            Incomplete++;
            ComponentOfSlot(slot).Incomplete++;
        }
    }

    /// <summary>The record of a component is queued, or it needs none.</summary>
    internal void MarkQueued(Component component)
    {
        for (var slot = component.FirstSlot; slot >= 0; slot = NextSlot(slot))
        {
            _slots[slot].Queue();
        }

        _isFinal = ++_queuedComponents == _components.Length;
    }

    private struct Member
    {
        public MemberState State;
        public int Component; // its index
        public int Next; // of the same component; -1: it is the last
    }
}
