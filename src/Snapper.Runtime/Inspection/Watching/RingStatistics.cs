using Snapper.Protocol.Batches;

namespace Snapper.Runtime.Inspection.Watching;

/// <summary>How the ring of coordinators does: counted always, once per batch and per pass of the token. Thread-safe.</summary>
public sealed class RingStatistics(int coordinators, TimeProvider time)
{
    private readonly long[] _batches = new long[coordinators];
    private readonly long[] _transactions = new long[coordinators];
    private long _lastPass;

    /// <summary>Times round the ring, in microseconds.</summary>
    public LatencyHistogram Rotations { get; } = new();

    /// <summary>Transactions per batch.</summary>
    public LatencyHistogram BatchSizes { get; } = new();

    public long BatchesOf(int coordinator) => Volatile.Read(ref _batches[coordinator]);

    public long TransactionsOf(int coordinator) => Volatile.Read(ref _transactions[coordinator]);

    public void Formed(Batch batch)
    {
        var coordinator = Math.Clamp(batch.Tickets[0].Coordinator, 0, _batches.Length - 1);
        Interlocked.Increment(ref _batches[coordinator]);
        Interlocked.Add(ref _transactions[coordinator], batch.Tickets.Length);
        BatchSizes.Record(batch.Tickets.Length);
    }

    /// <summary>The token has come to the first coordinator.</summary>
    public void TokenCame()
    {
        var now = time.GetTimestamp();
        var last = Interlocked.Exchange(ref _lastPass, now);
        if (last != 0)
        {
            Rotations.Record((long)time.GetElapsedTime(last, now).TotalMicroseconds);
        }
    }
}
