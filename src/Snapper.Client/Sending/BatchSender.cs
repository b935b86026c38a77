namespace Snapper.Client.Sending;

/// <summary>
/// Coalesces concurrent transactions: one is sent at once while a request is free; while all requests are under way,
/// what comes queues and leaves together with the next one. No timer: load alone sets the size of the batches.
/// </summary>
internal sealed class BatchSender(ServiceEndpoint door, int maxBatch, int maxConcurrentRequests)
{
    // A sidecar refuses bodies above 4 MB unless told otherwise.
    private const int MaxBatchBytes = 2 * 1024 * 1024;

    private readonly Lock _gate = new();
    private readonly Queue<PendingTransaction> _queue = new();
    private int _underWay;

    /// <summary>Sends a transaction once, alone or with others.</summary>
    public void Send(PendingTransaction transaction)
    {
        lock (_gate)
        {
            _queue.Enqueue(transaction);
            if (_underWay == maxConcurrentRequests)
            {
                return;
            }

            _underWay++;
        }

        // The loop outlives this call: it must not carry the caller's async-local values with it.
        using (ExecutionContext.SuppressFlow())
        {
            _ = SendUntilEmpty();
        }
    }

    private async Task SendUntilEmpty()
    {
        var batch = new PendingTransaction[Math.Min(maxBatch, 16)];
        while (true)
        {
            var count = Take(ref batch);
            if (count == 0)
            {
                return;
            }

            await door.Send(new ArraySegment<PendingTransaction>(batch, 0, count)).ConfigureAwait(false);
            Array.Clear(batch, 0, count);

            // The callers that were just answered get to queue their next transactions before the next batch leaves.
            await Task.Yield();
        }
    }

    private int Take(ref PendingTransaction[] batch)
    {
        lock (_gate)
        {
            var count = 0;
            var bytes = 0;
            while (count < maxBatch && _queue.TryPeek(out var next) && (count == 0 || bytes + next.Body.Length <= MaxBatchBytes))
            {
                _queue.Dequeue();
                if (!next.TrySend())
                {
                    continue;
                }

                if (count == batch.Length)
                {
                    Array.Resize(ref batch, Math.Min(maxBatch, batch.Length * 2));
                }

                batch[count++] = next;
                bytes += next.Body.Length;
            }

            if (count == 0)
            {
                _underWay--;
            }

            return count;
        }
    }
}
