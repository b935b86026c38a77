using System.Runtime.CompilerServices;
using Snapper.Storage.Log;

namespace Snapper.Storage.Memory;

/// <summary>A log in memory, <b>not durable</b>. Every call completes before it returns, so that one thread can run a whole worker.</summary>
/// <param name="storage">Where the log is; share it with later instances to restart.</param>
public sealed class MemoryTransactionLog(MemoryStorage storage) : IIdentifiedLog
{
    private readonly MemoryGuard? _guard;

    /// <summary>A worker's log for a rescuer, which was fenced for it.</summary>
    internal MemoryTransactionLog(MemoryStorage storage, MemoryGuard guard)
        : this(storage) => _guard = guard;

    /// <inheritdoc/>
    public string Kind => "memory";

    /// <inheritdoc/>
    public string Id => storage.Id;

    /// <inheritdoc/>
    public long AcknowledgedNext
    {
        get
        {
            lock (storage.Gate)
            {
                return storage.NextSequence;
            }
        }
    }

    /// <inheritdoc/>
    public Task<LogStanding?> Look(CancellationToken cancellation)
    {
        lock (storage.Gate)
        {
            return Task.FromResult(storage.Epoch == 0 ? null : new LogStanding(storage.Id, storage.Epoch, storage.NextSequence));
        }
    }

    /// <inheritdoc/>
    public Task<LogOpening> Open(CancellationToken cancellation)
    {
        if (_guard is not null)
        {
            throw new InvalidOperationException("The log was fenced on behalf of another worker; it is opened again by fencing it again.");
        }

        lock (storage.Gate)
        {
            return Task.FromResult(storage.Raise());
        }
    }

    /// <inheritdoc/>
    public Task<AppendResult> Append(long epoch, long firstSequence, int count, ReadOnlyMemory<byte> group, CancellationToken cancellation)
    {
        lock (storage.Gate)
        {
            if (storage.Fence(epoch, _guard) is { } fenced)
            {
                return Task.FromResult(fenced);
            }

            var position = AppendPosition.Of(storage.NextSequence, firstSequence, count);
            if (position.Status == AppendStatus.Appended)
            {
                storage.Groups.Add(new LogGroup(firstSequence, count, group.ToArray()));
                storage.NextSequence += count;
            }
            else if (position.Status == AppendStatus.Gap)
            {
                storage.NoteLoss();
            }

            return Task.FromResult(position);
        }
    }

    /// <inheritdoc/>
    public Task<AppendResult> CheckEpoch(long epoch, CancellationToken cancellation)
    {
        lock (storage.Gate)
        {
            return Task.FromResult(storage.Fence(epoch, _guard) ?? new AppendResult(AppendStatus.Appended));
        }
    }

    /// <inheritdoc/>
    public async IAsyncEnumerable<LogGroup> Read(long fromSequence, [EnumeratorCancellation] CancellationToken cancellation)
    {
        var groups = storage.GroupsFrom(fromSequence);
        await Task.CompletedTask;
        foreach (var group in groups)
        {
            cancellation.ThrowIfCancellationRequested();
            yield return group;
        }
    }

    /// <inheritdoc/>
    public Task<AppendResult> Trim(long epoch, long keepFrom, LogWatermarks watermarks, CancellationToken cancellation)
    {
        lock (storage.Gate)
        {
            if (storage.Fence(epoch, _guard) is { } fenced)
            {
                return Task.FromResult(fenced);
            }

            storage.Groups.RemoveAll(g => g.FirstSequence + g.Count <= keepFrom);
            storage.Watermarks = storage.Watermarks.Max(watermarks);
            storage.Changes++;
            return Task.FromResult(new AppendResult(AppendStatus.Appended));
        }
    }

    /// <inheritdoc/>
    public ValueTask DisposeAsync() => ValueTask.CompletedTask;
}
