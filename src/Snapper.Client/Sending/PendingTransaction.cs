using System.Threading.Tasks.Sources;

namespace Snapper.Client.Sending;

/// <summary>A transaction on its way: its bytes, and the task that one sending of it completes.</summary>
internal sealed class PendingTransaction : IValueTaskSource<Attempt>
{
    private const int Ended = 0;
    private const int Queued = 1;
    private const int Sent = 2;

    // Continuations run elsewhere: the sender must not run its callers' code.
    private ManualResetValueTaskSourceCore<Attempt> _attempt = new() { RunContinuationsAsynchronously = true };
    private int _state;

    public required string Id { get; init; }

    /// <summary>The whole request as JSON; the same bytes at every sending, for the worker compares them.</summary>
    public required byte[] Body { get; init; }

    /// <summary>When its caller waits no longer, as <see cref="Environment.TickCount64"/>.</summary>
    public required long WaitUntil { get; init; }

    /// <summary>Of an attempt that has ended: it had been handed to the connection, in whole or in part.</summary>
    public bool WasSent { get; private set; }

    /// <summary>
    /// What was said, not by a worker, to a request of several that it was in, before it was sent once more; null:
    /// nothing.
    /// </summary>
    public string? TurnedAway { get; set; }

    /// <summary>Begins an attempt. The last one has ended.</summary>
    public ValueTask<Attempt> Begin()
    {
        _attempt.Reset();
        Volatile.Write(ref _state, Queued);
        return new ValueTask<Attempt>(this, _attempt.Version);
    }

    /// <summary>Notes that it is about to be sent; false when its caller waits no longer.</summary>
    public bool TrySend() => Interlocked.CompareExchange(ref _state, Sent, Queued) == Queued;

    /// <summary>Ends the attempt, unless it has ended.</summary>
    public void End(in Attempt attempt)
    {
        var before = Interlocked.Exchange(ref _state, Ended);
        if (before != Ended)
        {
            WasSent = before == Sent;
            _attempt.SetResult(attempt);
        }
    }

    Attempt IValueTaskSource<Attempt>.GetResult(short token) => _attempt.GetResult(token);

    ValueTaskSourceStatus IValueTaskSource<Attempt>.GetStatus(short token) => _attempt.GetStatus(token);

    void IValueTaskSource<Attempt>.OnCompleted(
        Action<object?> continuation, object? state, short token, ValueTaskSourceOnCompletedFlags flags) =>
        _attempt.OnCompleted(continuation, state, token, flags);
}
