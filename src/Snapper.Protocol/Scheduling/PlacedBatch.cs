using Snapper.Protocol.Batches;
using Snapper.Protocol.Identity;

namespace Snapper.Protocol.Scheduling;

/// <summary>A sub-batch that has its place in an actor's schedule: how far it is and what it changed.</summary>
public sealed class PlacedBatch(SubBatch subBatch)
{
    /// <summary>As it was formed.</summary>
    public SubBatch SubBatch { get; } = subBatch;

    /// <summary>The batch.</summary>
    public BatchId Bid { get; } = subBatch.Bid;

    /// <summary>Index among the batch's actors.</summary>
    public int Slot { get; } = subBatch.Slot;

    /// <summary>Number of its entries.</summary>
    public int Count { get; } = subBatch.Count;

    /// <summary>Entries whose turn is not over.</summary>
    public int Unfinished { get; set; } = subBatch.Count;

    /// <summary>All turns are over (A2): the next batch may start, and the completion was sent.</summary>
    public bool Executed { get; set; }

    /// <summary>Version of its change; 0: it changed nothing. Given when it has executed, final when the batch is (L7).</summary>
    public long Version { get; set; }

    /// <summary>The actor's version before it.</summary>
    public long VersionBefore { get; set; }

    /// <summary>The state after its last turn (L4). Meaningful while <see cref="Version"/> is not 0.</summary>
    public object? EndState { get; set; }
}
