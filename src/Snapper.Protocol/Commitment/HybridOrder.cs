using Snapper.Protocol.Batches;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;

namespace Snapper.Protocol.Commitment;

/// <summary>
/// The early abort of ACTs (H5): floor(T) is the highest batch ahead of T that is not final there, those ahead of ACTs
/// whose locks it waits for included; ceil(T) the lowest batch behind it. floor &gt;= ceil: T would close a ring, so it
/// dies.
/// </summary>
/// <remarks>
/// Exact on one worker: in any ring of waits batches wait for smaller or equal ones, a batch that waits for an ACT is at or
/// above its ceil, an ACT that waits for a batch has it at or below its floor, an ACT that waits for an ACT inherits its
/// floor; floor &lt; ceil everywhere would make a batch smaller than itself. Only ACTs that ever stood beside a batch that
/// was not final, or waited for a lock, are known here: pure ACT load costs one entry per lock wait.
/// </remarks>
public sealed partial class HybridOrder
{
    private const int TombstoneLimit = 8192;

    private readonly Dictionary<TransactionId, Node> _nodes = [];
    private readonly List<Node> _waiters = [];
    private readonly Queue<TransactionId> _tombstones = new();
    private readonly HashSet<TransactionId> _ended = [];
    private int _round;

    /// <summary>ACTs known here.</summary>
    public int Count => _nodes.Count;

    /// <summary>T took a place behind a batch.</summary>
    public void Visited(TransactionId tid, SubBatch ahead, List<AbortRequested> doomed)
    {
        if (ahead.IsInOrder || Find(tid) is not { } node)
        {
            return;
        }

        ahead.HasActBehind = true;
        node.Ahead.Add(ahead);
        Judge(node, doomed);
    }

    /// <summary>A batch arrived behind a place of T.</summary>
    public void Overtaken(TransactionId tid, BatchId behind, List<AbortRequested> doomed)
    {
        if (Find(tid) is not { } node)
        {
            return;
        }

        if (node.Ceil == BatchId.None || behind < node.Ceil)
        {
            node.Ceil = behind;
            Judge(node, doomed);
        }
    }

    /// <summary>T waits for locks of others.</summary>
    public void Waits(TransactionId tid, TransactionId[] holders, List<AbortRequested> doomed)
    {
        if (Find(tid) is not { } node)
        {
            return;
        }

        if (node.WaitsFor.Count == 0)
        {
            _waiters.Add(node);
        }

        node.WaitsFor.AddRange(holders);
        Judge(node, doomed);
    }

    /// <summary>T must die for a reason of its own: another worker does not vote for it.</summary>
    public void RequestAbort(TransactionId tid, List<AbortRequested> doomed)
    {
        if (Find(tid) is { IsAborting: false } node)
        {
            node.IsAborting = true;
            doomed.Add(new AbortRequested(tid, AbortReason.Failure, BatchId.None, BatchId.None));
        }
    }

    /// <summary>T has finished; from now on it dies of <see cref="AbortReason.Serializability"/>.</summary>
    public void Finished(TransactionId tid, List<AbortRequested> doomed)
    {
        if (_nodes.TryGetValue(tid, out var node))
        {
            node.HasFinished = true;
            Judge(node, doomed);
        }
    }

    /// <summary>Something ahead of T on one of its actors is not final: what H3 waits for.</summary>
    public bool IsBehindOpen(TransactionId tid) =>
        _nodes.TryGetValue(tid, out var node) && node.OpenAhead() != BatchId.None;

    /// <summary>T was told to die: it must not be queued any more.</summary>
    public bool IsAborting(TransactionId tid) => _nodes.TryGetValue(tid, out var node) && node.IsAborting;

    /// <summary>T is over. Messages about it that are still on their way are ignored.</summary>
    public void Ended(TransactionId tid)
    {
        if (_nodes.Remove(tid, out var node) && node.WaitsFor.Count > 0)
        {
            _waiters.Remove(node);
        }

        if (_ended.Add(tid))
        {
            _tombstones.Enqueue(tid);
            if (_tombstones.Count > TombstoneLimit)
            {
                _ended.Remove(_tombstones.Dequeue());
            }
        }
    }

    /// <summary>
    /// ACTs that are over. Of those that ended only the last ones are remembered: what an executor that stood still for
    /// longer sends of one that is over is taken for news of a new one, and nothing would ever end that.
    /// </summary>
    public List<TransactionId> FindOver(Func<TransactionId, bool> isOver)
    {
        var over = new List<TransactionId>();
        foreach (var tid in _nodes.Keys)
        {
            if (isOver(tid))
            {
                over.Add(tid);
            }
        }

        return over;
    }

    private Node? Find(TransactionId tid)
    {
        if (_nodes.TryGetValue(tid, out var node))
        {
            return node;
        }

        if (_ended.Contains(tid))
        {
            return null;
        }

        node = new Node(tid);
        _nodes.Add(tid, node);
        return node;
    }

    private void Judge(Node changed, List<AbortRequested> doomed)
    {
        JudgeOne(changed, doomed);
        foreach (var waiter in _waiters)
        {
            if (!ReferenceEquals(waiter, changed))
            {
                JudgeOne(waiter, doomed);
            }
        }
    }

    private void JudgeOne(Node node, List<AbortRequested> doomed)
    {
        if (node.IsAborting || node.Ceil == BatchId.None)
        {
            return;
        }

        _round++;
        var floor = FloorOf(node);
        if (floor != BatchId.None && floor >= node.Ceil)
        {
            node.IsAborting = true;
            var reason = node.HasFinished ? AbortReason.Serializability : AbortReason.Deadlock;
            doomed.Add(new AbortRequested(node.Tid, reason, floor, node.Ceil));
        }
    }

    private BatchId FloorOf(Node node)
    {
        if (node.Round == _round)
        {
            return BatchId.None;
        }

        node.Round = _round;
        var floor = node.OpenAhead();
        foreach (var holder in node.WaitsFor)
        {
            // A holder that has ended is gone from here, and with it what T inherited from it.
            if (_nodes.TryGetValue(holder, out var other))
            {
                var inherited = FloorOf(other);
                if (inherited > floor)
                {
                    floor = inherited;
                }
            }
        }

        return floor;
    }

    private sealed partial class Node(TransactionId tid)
    {
        public TransactionId Tid { get; } = tid;

        /// <summary>What stands ahead of it, one per actor at most; what is final leaves.</summary>
        public List<SubBatch> Ahead { get; } = [];

        public BatchId Ceil { get; set; }

        public bool HasFinished { get; set; }

        public bool IsAborting { get; set; }

        public List<TransactionId> WaitsFor { get; } = [];

        public int Round { get; set; }

        /// <summary>The highest batch ahead that is not final there; none: all are.</summary>
        public BatchId OpenAhead()
        {
            var highest = BatchId.None;
            for (var i = Ahead.Count - 1; i >= 0; i--)
            {
                if (Ahead[i].IsInOrder)
                {
                    Ahead.RemoveAt(i);
                }
                else if (Ahead[i].Bid > highest)
                {
                    highest = Ahead[i].Bid;
                }
            }

            return highest;
        }
    }
}

/// <summary>An ACT that must die, with the bound that failed.</summary>
public readonly record struct AbortRequested(TransactionId Tid, AbortReason Reason, BatchId Floor, BatchId Ceil);
