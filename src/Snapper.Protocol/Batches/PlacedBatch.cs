using Snapper.Protocol.Identity;

namespace Snapper.Protocol.Batches;

/// <summary>
/// A sub-batch that has its place in an actor's schedule: how far it is and what it changed. An actor without work
/// keeps its last one, so it must not keep more alive. The actor's alone, but for <see cref="SubBatch"/>.
/// </summary>
public sealed class PlacedBatch
{
    private volatile SubBatch? _subBatch;

    /// <summary>A sub-batch that has just arrived.</summary>
    /// <param name="subBatch">As it was formed.</param>
    public PlacedBatch(SubBatch subBatch)
    {
        Bid = subBatch.Bid;
        Slot = subBatch.Slot;
        Count = subBatch.Count;
        Unfinished = subBatch.Count;
        _subBatch = subBatch;
        subBatch.Placed = this;
    }

    /// <summary>As it was formed; null once it is final and its record is queued. Read by any thread.</summary>
    public SubBatch? SubBatch => _subBatch;

    /// <summary>The batch.</summary>
    public BatchId Bid { get; }

    /// <summary>Index among the batch's actors.</summary>
    public int Slot { get; }

    /// <summary>Number of its entries.</summary>
    public int Count { get; }

    /// <summary>Entries whose turn is not over.</summary>
    public int Unfinished { get; set; }

    /// <summary>All turns are over (A2): the next batch may start, and the completion was sent.</summary>
    public bool Executed { get; set; }

    /// <summary>Version of its change; 0: it changed nothing. Given when it has executed, final when the batch is (L7).</summary>
    public long Version { get; set; }

    /// <summary>The actor's version before it.</summary>
    public long VersionBefore { get; set; }

    /// <summary>The state after its last turn (L4). Meaningful while <see cref="Version"/> is not 0.</summary>
    public object? EndState { get; set; }

    /// <summary>Nothing of it can be undone any more; set by the commit machine.</summary>
    internal void MakeFinal() => _subBatch = null;
}
