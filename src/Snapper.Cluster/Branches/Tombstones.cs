using Snapper.Protocol.Identity;
using Snapper.Protocol.Transactions;

namespace Snapper.Cluster.Branches;

/// <summary>ACTs that were aborted here: calls of them that are still under way come too late (W3). Kept for longer than a message takes.</summary>
internal sealed class Tombstones(TimeProvider time) : ITombstones
{
    private static readonly TimeSpan s_kept = TimeSpan.FromSeconds(60);

    private readonly HashSet<TransactionId> _dead = [];
    private readonly Queue<(TransactionId Tid, long At)> _order = new();

    public bool Contains(TransactionId tid) => _dead.Contains(tid);

    public void Add(TransactionId tid)
    {
        while (_order.TryPeek(out var oldest) && time.GetElapsedTime(oldest.At) > s_kept)
        {
            _dead.Remove(_order.Dequeue().Tid);
        }

        if (_dead.Add(tid))
        {
            _order.Enqueue((tid, time.GetTimestamp()));
        }
    }
}
