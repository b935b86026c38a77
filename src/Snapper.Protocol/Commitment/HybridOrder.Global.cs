using Snapper.Protocol.Batches;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;

namespace Snapper.Protocol.Commitment;

/// <summary>
/// The early abort over workers (H6): gfloor(T) is the highest undecided global batch at or before T's floor on any worker, gceil(T) the lowest at or behind its ceil.
/// gfloor &gt;= gceil: T stands in a ring of waits. Each worker finds its own bounds and tells the worker of T's root, which judges.
/// </summary>
/// <remarks>
/// Global batches have one order on all workers, so that bounds of different workers compare. Bounds may be old when they are compared: a batch behind T is undecided for
/// as long as T lives, and so are all above it; a floor that has been decided meanwhile is below every ceil that can still come.
/// </remarks>
public sealed partial class HybridOrder
{
    /// <summary>Finds the bounds of all ACTs known here that have become narrower.</summary>
    /// <param name="parts">This worker's parts of global batches that are not final, in order.</param>
    /// <param name="news">Receives them.</param>
    /// <param name="doomed">Receives ACTs that must die.</param>
    public void FindGlobalBounds(List<Batch> parts, List<GlobalBounds> news, List<AbortRequested> doomed)
    {
        foreach (var node in _nodes.Values)
        {
            _round++;
            var floor = HighestGlobal(parts, FloorOf(node));
            var ceil = node.Ceil == BatchId.None ? BatchId.None : LowestGlobal(parts, node.Ceil);
            var narrower = floor > node.OwnFloor;
            if (narrower)
            {
                node.OwnFloor = floor;
            }

            if (ceil != BatchId.None && (node.OwnCeil == BatchId.None || ceil < node.OwnCeil))
            {
                node.OwnCeil = ceil;
                narrower = true;
            }

            if (narrower)
            {
                news.Add(new GlobalBounds(node.Tid, node.OwnFloor, node.OwnCeil));
                Narrow(node, node.OwnFloor, node.OwnCeil, doomed);
            }
        }
    }

    /// <summary>Another worker has told its bounds of an ACT whose root is here.</summary>
    public void Narrow(GlobalBounds bounds, List<AbortRequested> doomed)
    {
        if (Find(bounds.Tid) is { } node)
        {
            Narrow(node, bounds.Floor, bounds.Ceil, doomed);
        }
    }

    private static void Narrow(Node node, BatchId floor, BatchId ceil, List<AbortRequested> doomed)
    {
        if (floor > node.GlobalFloor)
        {
            node.GlobalFloor = floor;
        }

        if (ceil != BatchId.None && (node.GlobalCeil == BatchId.None || ceil < node.GlobalCeil))
        {
            node.GlobalCeil = ceil;
        }

        if (!node.IsAborting && node.GlobalCeil != BatchId.None && node.GlobalFloor >= node.GlobalCeil)
        {
            node.IsAborting = true;
            doomed.Add(new AbortRequested(node.Tid, node.HasFinished ? AbortReason.Serializability : AbortReason.Deadlock, node.GlobalFloor, node.GlobalCeil));
        }
    }

    /// <summary>The highest global batch that is not decided, at or before a place.</summary>
    private static BatchId HighestGlobal(List<Batch> parts, BatchId place)
    {
        for (var i = parts.Count - 1; i >= 0; i--)
        {
            if (parts[i].Bid <= place && parts[i] is { IsGlobal: true, PartState: not PartState.Decided })
            {
                return parts[i].Part!.Bid;
            }
        }

        return BatchId.None;
    }

    /// <summary>The lowest global batch at or behind a place.</summary>
    private static BatchId LowestGlobal(List<Batch> parts, BatchId place)
    {
        foreach (var batch in parts)
        {
            if (batch.Bid >= place && batch.IsGlobal)
            {
                return batch.Part!.Bid;
            }
        }

        return BatchId.None;
    }

    private sealed partial class Node
    {
        /// <summary>gfloor as far as this worker sees it; none: nothing global is ahead here.</summary>
        public BatchId OwnFloor { get; set; }

        /// <summary>gceil as far as this worker sees it; none: nothing global is behind it here.</summary>
        public BatchId OwnCeil { get; set; }

        /// <summary>gfloor over all workers that have told; only where the root is.</summary>
        public BatchId GlobalFloor { get; set; }

        /// <summary>gceil over all workers that have told; only where the root is.</summary>
        public BatchId GlobalCeil { get; set; }
    }
}

/// <summary>Bounds of an ACT among the global batches, as one worker sees them (H6).</summary>
/// <param name="Tid">The ACT.</param>
/// <param name="Floor">gfloor; none: no global batch is ahead.</param>
/// <param name="Ceil">gceil; none: no global batch is behind.</param>
public readonly record struct GlobalBounds(TransactionId Tid, BatchId Floor, BatchId Ceil);
