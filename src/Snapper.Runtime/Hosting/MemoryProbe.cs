using Snapper.Runtime.Execution;
using Snapper.Storage.States;

namespace Snapper.Runtime.Hosting;

/// <summary>
/// Asks the store once a second how much of its memory it uses, and up to ten times a second when it fills quickly. Of
/// a store that does not answer the last answer stands: that it is away, the log tells.
/// </summary>
public sealed class MemoryProbe : IAsyncDisposable
{
    private static readonly TimeSpan s_longest = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan s_shortest = TimeSpan.FromMilliseconds(100);

    private readonly Worker _worker;
    private readonly Func<CancellationToken, Task<StoreMemory>> _read;
    private readonly Repeated _asking;
    private long _usedBefore;
    private long _readAt;

    /// <summary>Begins to ask.</summary>
    public MemoryProbe(Worker worker, Func<CancellationToken, Task<StoreMemory>> read)
    {
        _worker = worker;
        _read = read;
        _asking = new Repeated(worker.Time, Ask);
    }

    /// <inheritdoc/>
    public ValueTask DisposeAsync() => _asking.DisposeAsync();

    private async Task<TimeSpan?> Ask(CancellationToken stop)
    {
        try
        {
            var memory = await _read(stop).ConfigureAwait(false);
            _worker.NoteStoreMemory(memory);
            return Pause(memory);
        }
        catch (OperationCanceledException) when (stop.IsCancellationRequested)
        {
            return null;
        }
        catch (Exception exception)
        {
            RuntimeLog.StoreMemoryUnknown(_worker.Logger, exception.Message);
            return s_longest;
        }
    }

    /// <summary>Half of the time after which it is full if it goes on as since the last look.</summary>
    private TimeSpan Pause(StoreMemory memory)
    {
        var now = _worker.Time.GetTimestamp();
        var grown = memory.UsedBytes - _usedBefore;
        var seconds = _worker.Time.GetElapsedTime(_readAt, now).TotalSeconds;
        (_usedBefore, _readAt) = (memory.UsedBytes, now);
        var room = (_worker.Options.StoreFullAt * memory.MaxBytes) - memory.UsedBytes;
        if (memory.MaxBytes == 0 || grown <= 0 || room >= 2 * s_longest.TotalSeconds * grown / seconds)
        {
            return s_longest;
        }

        var pause = TimeSpan.FromSeconds(Math.Max(0, room) / grown * seconds / 2);
        return pause < s_shortest ? s_shortest : pause;
    }
}
