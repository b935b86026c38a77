using Snapper.Protocol.Identity;

namespace Snapper.Protocol.Batches;

/// <summary>One actor's part of a batch, as its coordinator formed it.</summary>
public sealed class SubBatch
{
    private const int Ordered = 1;
    private const int Queued = 2;

    // Most have one.
    private SubBatchEntry _first;
    private SubBatchEntry[] _others = [];
    private volatile SubBatch? _before;
    private volatile PlacedBatch? _placed;
    private volatile int _stage;

    /// <summary>A sub-batch without entries yet.</summary>
    /// <param name="actor">Whose.</param>
    /// <param name="bid">The batch.</param>
    /// <param name="before">
    /// The sub-batch before it on this actor; null when that one is final or there was none.
    /// </param>
    /// <param name="slot">Its index among the batch's actors; completions name it.</param>
    public SubBatch(ActorKey actor, BatchId bid, SubBatch? before, int slot)
    {
        if (before?.Bid >= bid)
        {
            throw new ProtocolViolationException($"Batch {bid} on {actor} claims to follow batch {before.Bid}.");
        }

        Actor = actor;
        Bid = bid;
        _before = before;
        Previous = before?.Bid ?? BatchId.None;
        Slot = slot;
    }

    /// <summary>
    /// It is final, and its record is queued in the log: nothing of it can be undone any more. Read by any thread, set
    /// by the commit machine's.
    /// </summary>
    public bool IsFinal => _stage == Queued;

    /// <summary>The batch before it on this actor while that is not final, else none. Read by any thread.</summary>
    public BatchId OpenBefore => _before is { IsFinal: false } before ? before.Bid : BatchId.None;

    /// <summary>What is before it on this actor is final, so that it has executed there. Read by any thread.</summary>
    internal bool FollowsFinal => OpenBefore == BatchId.None;

    /// <summary>Its place in the actor's schedule, set when it has one; it completes after that.</summary>
    internal PlacedBatch? Placed { set => _placed = value; }

    // The commit machine's alone, all of them.

    /// <summary>Its actor has completed it, and no undo has taken that back.</summary>
    internal bool IsComplete { get; set; }

    /// <summary>What it has changed; null: nothing, or it is not complete.</summary>
    internal Change? Change { get; set; }

    /// <summary>Only a completion sent after this undo counts (A5).</summary>
    internal long RequiredUndo { get; set; }

    /// <summary>The next slot of the same component; -1: it is the last.</summary>
    internal int NextSlot { get; set; } = -1;

    /// <summary>Its component; null once that is final, and until the batch is announced.</summary>
    internal Component? Component { get; set; }

    /// <summary>The sub-batch before it on this actor; null: what was before it is final.</summary>
    internal SubBatch? Before { get => _before; set => _before = value; }

    /// <summary>The sub-batch behind it on this actor, once that is announced.</summary>
    internal SubBatch? Behind { get; set; }

    /// <summary>An ACT waits for it (H3).</summary>
    internal bool HasActBehind { get; set; }

    /// <summary>It is final in the commit machine's own order; its record may not be queued yet.</summary>
    internal bool IsInOrder => _stage >= Ordered;

    /// <summary>The commit machine has made it final.</summary>
    internal void Order()
    {
        _stage = Ordered;
        Component = null;
        Before = null;
        Behind = null;
        _first = default; // a coordinator keeps it for a while, and need not keep requests alive
        _others = [];
    }

    /// <summary>Its record is queued, or it needs none.</summary>
    internal void Queue()
    {
        _stage = Queued;
        _placed?.MakeFinal();
    }

    /// <summary>Whose.</summary>
    public ActorKey Actor { get; }

    /// <summary>The batch.</summary>
    public BatchId Bid { get; }

    /// <summary>The batch before it on this actor (prevBid).</summary>
    public BatchId Previous { get; }

    /// <summary>Index among the batch's actors.</summary>
    public int Slot { get; }

    /// <summary>Number of entries, at least 1 once formed.</summary>
    public int Count { get; private set; }

    /// <summary>Entry at a position, in tid order.</summary>
    public ref readonly SubBatchEntry this[int index] => ref index == 0 ? ref _first : ref _others[index - 1];

    /// <summary>It has the root of a transaction, which begins here. Read by any thread.</summary>
    public bool HasRoot { get; private set; }

    /// <summary>Adds an entry; tids must grow.</summary>
    public void Add(in SubBatchEntry entry)
    {
        HasRoot |= entry.Ticket is not null;
        if (Count++ == 0)
        {
            _first = entry;
            return;
        }

        if (Count - 2 == _others.Length)
        {
            Array.Resize(ref _others, Math.Max(2, _others.Length * 2));
        }

        _others[Count - 2] = entry;
    }
}

/// <summary>One transaction's declared access to one actor.</summary>
/// <param name="Tid">The transaction.</param>
/// <param name="Access">What of the actor: all of it, for plain actors.</param>
/// <param name="Calls">Most method calls, at least 1.</param>
/// <param name="Marked">The root is <c>[MayAbort]</c> or runs again after a failure (A1, A4): the turn is held until the end.</param>
/// <param name="Ticket">On the root's actor the request to start, else null.</param>
public readonly record struct SubBatchEntry(TransactionId Tid, Access Access, int Calls, bool Marked, PactTicket? Ticket);
