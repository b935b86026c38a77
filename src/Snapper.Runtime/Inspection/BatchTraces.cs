using Snapper.Contracts;
using Snapper.Protocol.Batches;
using Snapper.Protocol.Identity;

namespace Snapper.Runtime.Inspection;

/// <summary>Phase times of the most recent batches. The commit executor writes; anyone reads.</summary>
public sealed class BatchTraces(int capacity)
{
    private readonly Lock _lock = new();
    private readonly Queue<BatchTrace> _recent = new();
    private readonly Dictionary<long, BatchTrace> _byBid = [];
    private long _count;

    /// <summary>Batches formed since the worker started.</summary>
    public long Count => Interlocked.Read(ref _count);

    public void Formed(Batch batch, TimeProvider time)
    {
        var trace = new BatchTrace(batch, time.GetUtcNow(), time.GetTimestamp());
        Interlocked.Increment(ref _count);
        lock (_lock)
        {
            _recent.Enqueue(trace);
            _byBid[batch.Bid.Value] = trace;
            while (_recent.Count > capacity)
            {
                _byBid.Remove(_recent.Dequeue().Batch);
            }
        }
    }

    /// <summary>All its actors but one have acknowledged, this one just now: the last one's delay counts from here.</summary>
    public void LeftWithOne(Batch batch, ActorKey by, TimeProvider time) => Note(batch, time, by, static (trace, by, after) => trace.Acknowledge(by, after));

    /// <summary>All its actors have acknowledged, this one last; the last call counts, for an undo may take acknowledgements back.</summary>
    public void Completed(Batch batch, ActorKey last, TimeProvider time) => Note(batch, time, last, static (trace, last, after) => trace.Complete(last, after));

    /// <summary>A part of a global batch: all before it are final or prepared, and its own <c>Prepared</c> is queued.</summary>
    public void InTurn(Batch batch, TimeProvider time) => Note(batch, time, 0, static (trace, _, after) => trace.InTurnMs = after);

    /// <summary>A part of a global batch: its <c>Prepared</c> is durable; it waits for the decision.</summary>
    public void Prepared(Batch batch, TimeProvider time) => Note(batch, time, 0, static (trace, _, after) => trace.PreparedMs = after);

    public void Queued(Batch batch, TimeProvider time) => Note(batch, time, 0, static (trace, _, after) => trace.Queue(after));

    public void Committed(Batch batch, TimeProvider time) => Note(batch, time, 0, static (trace, _, after) => trace.CommittedMs = after);

    /// <summary>An undo took all its transactions out, and it has passed its turn: nothing more will come of it.</summary>
    public void Emptied(Batch batch, TimeProvider time) => Note(batch, time, 0, static (trace, _, after) => trace.Empty(after));

    public IReadOnlyList<BatchView> Recent(int limit)
    {
        lock (_lock)
        {
            return _recent.Reverse().Take(Math.Max(0, limit)).Select(trace => trace.View()).ToList();
        }
    }

    public BatchView? Find(long bid)
    {
        lock (_lock)
        {
            return _byBid.TryGetValue(bid, out var trace) ? trace.View() : null;
        }
    }

    // Nothing of a batch that is not kept any more. The clock is read with the lock held: a trace's times never go back.
    private void Note<T>(Batch batch, TimeProvider time, T with, Action<BatchTrace, T, double> note)
    {
        lock (_lock)
        {
            if (_byBid.TryGetValue(batch.Bid.Value, out var trace)) note(trace, with, time.GetElapsedTime(trace.At).TotalMilliseconds);
        }
    }
}
