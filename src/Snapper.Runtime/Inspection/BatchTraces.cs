using Snapper.Protocol.Commitment;

namespace Snapper.Runtime.Inspection;

/// <summary>Phase times of the most recent batches. The commit executor writes; anyone reads.</summary>
internal sealed class BatchTraces(int capacity)
{
    private readonly Lock _lock = new();
    private readonly Queue<Trace> _recent = new();
    private readonly Dictionary<long, Trace> _byBid = [];
    private long _count;

    /// <summary>Batches formed since the worker started.</summary>
    public long Count => Interlocked.Read(ref _count);

    public void Formed(Batch batch, TimeProvider time)
    {
        var trace = new Trace(batch, time.GetUtcNow(), time.GetTimestamp());
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

    /// <summary>All its actors have completed; the last call counts, for an undo may take completions back.</summary>
    public void Completed(Batch batch, TimeProvider time)
    {
        lock (_lock)
        {
            if (_byBid.TryGetValue(batch.Bid.Value, out var trace))
            {
                trace.CompletedMs = time.GetElapsedTime(trace.At).TotalMilliseconds;
            }
        }
    }

    public void Queued(Batch batch, TimeProvider time)
    {
        lock (_lock)
        {
            if (_byBid.TryGetValue(batch.Bid.Value, out var trace))
            {
                trace.QueuedMs = time.GetElapsedTime(trace.At).TotalMilliseconds;
                trace.Finish();
            }
        }
    }

    public void Committed(Batch batch, TimeProvider time)
    {
        lock (_lock)
        {
            if (_byBid.TryGetValue(batch.Bid.Value, out var trace))
            {
                trace.CommittedMs = time.GetElapsedTime(trace.At).TotalMilliseconds;
            }
        }
    }

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

    private sealed class Trace(Batch batch, DateTimeOffset formedAt, long at)
    {
        private readonly long _previous = batch.Previous.Value;
        private readonly int _transactions = batch.Tickets.Length;
        private readonly int _actors = batch.SlotCount;

        // Released once the batch is queued, so that old traces keep no transactions alive.
        private Batch? _open = batch;

        public long Batch { get; } = batch.Bid.Value;

        public long At { get; } = at;

        public double? CompletedMs { get; set; }

        public double? QueuedMs { get; set; }

        public double? CommittedMs { get; set; }

        public void Finish() => _open = null;

        public BatchView View()
        {
            var waiting = new List<string>();
            for (var slot = 0; slot < (_open?.SlotCount ?? 0); slot++)
            {
                if (!_open!.IsSlotComplete(slot))
                {
                    waiting.Add(_open.SubBatchOf(slot).Actor.ToString());
                }
            }

            var state = CommittedMs is not null ? "committed" : QueuedMs is not null ? "queued" : waiting.Count == 0 ? "complete" : "executing";
            return new BatchView(Batch, _previous, _transactions, _actors, state, formedAt, CompletedMs, QueuedMs, CommittedMs, waiting);
        }
    }
}
