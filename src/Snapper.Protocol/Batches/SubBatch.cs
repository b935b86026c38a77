using Snapper.Protocol.Identity;

namespace Snapper.Protocol.Batches;

/// <summary>One actor's part of a batch, as its coordinator formed it.</summary>
public sealed class SubBatch
{
    private SubBatchEntry[] _entries = new SubBatchEntry[2];

    /// <summary>A sub-batch without entries yet.</summary>
    /// <param name="actor">Whose.</param>
    /// <param name="bid">The batch.</param>
    /// <param name="previous">The batch before it on this actor; none when that one is final or there was none.</param>
    /// <param name="slot">Its index among the batch's actors; completions name it.</param>
    public SubBatch(ActorKey actor, BatchId bid, BatchId previous, int slot)
    {
        if (previous >= bid)
        {
            throw new ProtocolViolationException($"Batch {bid} on {actor} claims to follow batch {previous}.");
        }

        Actor = actor;
        Bid = bid;
        Previous = previous;
        Slot = slot;
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
    public ref readonly SubBatchEntry this[int index] => ref _entries[index];

    /// <summary>Adds an entry; tids must grow.</summary>
    public void Add(in SubBatchEntry entry)
    {
        if (Count == _entries.Length)
        {
            Array.Resize(ref _entries, Count * 2);
        }

        _entries[Count++] = entry;
    }
}

/// <summary>One transaction's declared access to one actor.</summary>
/// <param name="Tid">The transaction.</param>
/// <param name="Access">What of the actor: all of it, for plain actors.</param>
/// <param name="Calls">Most method calls, at least 1.</param>
/// <param name="Marked">The root is <c>[MayAbort]</c> or runs again after a failure (A1, A4): the turn is held until the end.</param>
/// <param name="Ticket">On the root's actor the request to start, else null.</param>
public readonly record struct SubBatchEntry(TransactionId Tid, Access Access, int Calls, bool Marked, PactTicket? Ticket);
