using System.Runtime.CompilerServices;
using Snapper.Simulation.Rules;
using Snapper.TransactionLog;
using Snapper.TransactionLog.InMemory;

namespace Snapper.Simulation.Storage;

/// <summary>A process' view of the log behind a <see cref="StorageLink"/>. The bytes are the real records of the real encoder.</summary>
internal sealed class SimulatedLog(StorageLink link, MemoryStorage storage, LogRules rules, StorageRules onStorage) : ITransactionLog
{
    private readonly MemoryTransactionLog _log = new(storage);

    public string Kind => "simulated";

    public Task<LogOpening> Open(CancellationToken cancellation) =>
        link.Read(() => _log.Open(CancellationToken.None).Result, cancellation);

    public Task<AppendResult> Append(long epoch, long firstSequence, int count, ReadOnlyMemory<byte> group, CancellationToken cancellation)
    {
        // The sender may reuse its buffer while a late copy of the call is still under way.
        var bytes = group.ToArray();
        var sent = onStorage.Sent();
        return link.Fenced(
            () =>
            {
                var result = _log.Append(epoch, firstSequence, count, bytes, CancellationToken.None).Result;
                if (result.Status == AppendStatus.Appended)
                {
                    rules.Appended(epoch, firstSequence, count, bytes);
                }

                return Confirmed(result, epoch, sent);
            },
            cancellation);
    }

    public Task<AppendResult> CheckEpoch(long epoch, CancellationToken cancellation)
    {
        var sent = onStorage.Sent();
        return link.Fenced(() => Confirmed(_log.CheckEpoch(epoch, CancellationToken.None).Result, epoch, sent), cancellation);
    }

    public async IAsyncEnumerable<LogGroup> Read(long fromSequence, [EnumeratorCancellation] CancellationToken cancellation)
    {
        var groups = await link.Read(() => storage.GroupsFrom(fromSequence), cancellation);
        foreach (var group in groups)
        {
            yield return group;
        }
    }

    public Task<AppendResult> Trim(long epoch, long keepFrom, LogWatermarks watermarks, CancellationToken cancellation) =>
        link.Fenced(
            () =>
            {
                var result = _log.Trim(epoch, keepFrom, watermarks, CancellationToken.None).Result;
                onStorage.Trimmed();
                return result;
            },
            cancellation);

    public ValueTask DisposeAsync() => ValueTask.CompletedTask;

    private AppendResult Confirmed(AppendResult result, long epoch, long sent)
    {
        if (result.Status is AppendStatus.Appended or AppendStatus.AlreadyThere)
        {
            onStorage.Confirmed(epoch, sent);
        }

        return result;
    }
}
