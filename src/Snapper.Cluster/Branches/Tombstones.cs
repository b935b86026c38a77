using Snapper.Protocol.Identity;
using Snapper.Protocol.Transactions;

namespace Snapper.Cluster.Branches;

/// <summary>ACTs that were aborted here: calls of them that are still under way come too late (W3). Kept for longer than a message takes.</summary>
internal sealed class Tombstones(TimeProvider time) : ITombstones
{
    private static readonly TimeSpan s_kept = TimeSpan.FromSeconds(60);

    private readonly HashSet<TransactionId> _dead = [];
    private readonly Queue<(TransactionId Tid, long At)> _order = new();
    private readonly Dictionary<int, long> _forgotten = []; // the highest number, by the worker that gave it

    public bool Contains(TransactionId tid) => _dead.Contains(tid);

    /// <inheritdoc/>
    /// <remarks>A worker gives its numbers in their order (R1): what is higher was not forgotten.</remarks>
    public bool MayContain(TransactionId tid) =>
        Contains(tid) || (_forgotten.TryGetValue(tid.Worker, out var highest) && tid.Counter <= highest);

    public void Add(TransactionId tid)
    {
        while (_order.TryPeek(out var oldest) && time.GetElapsedTime(oldest.At) > s_kept)
        {
            var old = _order.Dequeue().Tid;
            _dead.Remove(old);
            _forgotten[old.Worker] = Math.Max(old.Counter, _forgotten.GetValueOrDefault(old.Worker));
        }

        if (_dead.Add(tid))
        {
            _order.Enqueue((tid, time.GetTimestamp()));
        }
    }
}
