using Snapper.Storage.Log;

namespace Snapper.Storage.Tests.Support;

/// <summary>What happens to one append.</summary>
internal enum AppendFault
{
    None,

    /// <summary>It throws and did nothing.</summary>
    BeforeWrite,

    /// <summary>It throws although it was done.</summary>
    AfterWrite,

    /// <summary>It is certainly not done.</summary>
    Refuse,

    /// <summary>It is kept until <see cref="FaultyLog.Release"/>.</summary>
    Hold,
}

/// <summary>A log whose next appends go wrong as planned.</summary>
internal sealed class FaultyLog(ITransactionLog inner) : ITransactionLog
{
    private TaskCompletionSource? _held;

    public Queue<AppendFault> Faults { get; } = new();

    /// <summary>First number, count and bytes of every append that was tried.</summary>
    public List<(long First, int Count, byte[] Bytes)> Appends { get; } = [];

    public int EpochChecks { get; private set; }

    public string Kind => inner.Kind;

    public Task<LogOpening> Open(CancellationToken cancellation) => inner.Open(cancellation);

    public Task<AppendResult> Append(long epoch, long firstSequence, int count, ReadOnlyMemory<byte> group, CancellationToken cancellation)
    {
        Appends.Add((firstSequence, count, group.ToArray()));
        return Faulty(() => inner.Append(epoch, firstSequence, count, group, cancellation));
    }

    public Task<AppendResult> CheckEpoch(long epoch, CancellationToken cancellation)
    {
        EpochChecks++;
        return Faulty(() => inner.CheckEpoch(epoch, cancellation));
    }

    public IAsyncEnumerable<LogGroup> Read(long fromSequence, CancellationToken cancellation) => inner.Read(fromSequence, cancellation);

    public Task<AppendResult> Trim(long epoch, long keepFrom, LogWatermarks watermarks, CancellationToken cancellation) =>
        inner.Trim(epoch, keepFrom, watermarks, cancellation);

    public ValueTask DisposeAsync() => inner.DisposeAsync();

    /// <summary>Lets the append that is held go on, inline.</summary>
    public void Release()
    {
        var held = _held!;
        _held = null;
        held.SetResult();
    }

    private async Task<AppendResult> Faulty(Func<Task<AppendResult>> append)
    {
        switch (Faults.TryDequeue(out var fault) ? fault : AppendFault.None)
        {
            case AppendFault.BeforeWrite:
                throw new IOException("planned, before the write");
            case AppendFault.AfterWrite:
                await append();
                throw new IOException("planned, after the write");
            case AppendFault.Refuse:
                return new AppendResult(AppendStatus.Refused, "planned");
            case AppendFault.Hold:
                _held = new TaskCompletionSource();
                await _held.Task;
                return await append();
            default:
                return await append();
        }
    }
}
