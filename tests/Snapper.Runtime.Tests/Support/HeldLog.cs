using Snapper.Storage.Log;

namespace Snapper.Runtime.Tests.Support;

/// <summary>A log whose appends a test can hold, refuse or fail.</summary>
internal sealed class HeldLog(ITransactionLog inner) : ITransactionLog
{
    private readonly Lock _lock = new();
    private TaskCompletionSource? _hold;
    private int _held;

    public volatile bool Refuses;
    public volatile bool Fails;

    /// <summary>Appends that have come to a closed log.</summary>
    public int Held => Volatile.Read(ref _held);

    public string Kind => inner.Kind;

    public void Hold()
    {
        lock (_lock)
        {
            _hold ??= new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        }
    }

    public void Release()
    {
        lock (_lock)
        {
            _hold?.SetResult();
            _hold = null;
        }
    }

    public Task<LogOpening> Open(CancellationToken cancellation) => inner.Open(cancellation);

    public Task<AppendResult> Append(long epoch, long firstSequence, int count, ReadOnlyMemory<byte> group, CancellationToken cancellation) =>
        Guarded(() => inner.Append(epoch, firstSequence, count, group, cancellation), cancellation);

    public Task<AppendResult> CheckEpoch(long epoch, CancellationToken cancellation) => Guarded(() => inner.CheckEpoch(epoch, cancellation), cancellation);

    public IAsyncEnumerable<LogGroup> Read(long fromSequence, CancellationToken cancellation) => inner.Read(fromSequence, cancellation);

    public Task<AppendResult> Trim(long epoch, long keepFrom, LogWatermarks watermarks, CancellationToken cancellation) =>
        inner.Trim(epoch, keepFrom, watermarks, cancellation);

    public ValueTask DisposeAsync() => inner.DisposeAsync();

    private async Task<AppendResult> Guarded(Func<Task<AppendResult>> append, CancellationToken cancellation)
    {
        if (Refuses)
        {
            return new AppendResult(AppendStatus.Refused, "planned");
        }

        if (Fails)
        {
            throw new IOException("planned");
        }

        Task? hold;
        lock (_lock)
        {
            hold = _hold?.Task;
        }

        if (hold is not null)
        {
            Interlocked.Increment(ref _held);
            await hold.WaitAsync(cancellation);
        }

        return await append();
    }
}
