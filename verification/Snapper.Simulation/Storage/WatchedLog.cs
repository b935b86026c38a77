using System.Runtime.CompilerServices;
using Snapper.Simulation.Rules;
using Snapper.Storage.Log;

namespace Snapper.Simulation.Storage;

/// <summary>
/// The real file log, with the rules of the log looked at in what it says. A group is part of the log once its append was answered so, or once a later
/// opening has read it: from then on every reader must find it, byte for byte.
/// </summary>
internal sealed class WatchedLog(IIdentifiedLog log, FilesView view, LogRules rules, StorageRules onStorage) : IIdentifiedLog
{
    private long _epoch;

    public string Kind => log.Kind;

    public string Id => log.Id;

    public long AcknowledgedNext => log.AcknowledgedNext;

    public Task<LogStanding?> Look(CancellationToken cancellation) => log.Look(cancellation);

    public async Task<LogOpening> Open(CancellationToken cancellation)
    {
        var known = rules.Next;
        var opening = await log.Open(cancellation);
        rules.Opened(opening, known);
        onStorage.Opened(opening.Epoch);
        BeginsAt(opening.FirstSequence); // a trim whose answer was lost may have been carried out
        _epoch = opening.Epoch;
        return opening;
    }

    public async Task<AppendResult> Append(long epoch, long firstSequence, int count, ReadOnlyMemory<byte> group, CancellationToken cancellation)
    {
        var sent = onStorage.Sent();
        var result = await log.Append(epoch, firstSequence, count, group, cancellation);
        if (result.Status is AppendStatus.Appended or AppendStatus.AlreadyThere)
        {
            rules.There(epoch, firstSequence, count, group);
            onStorage.Confirmed(epoch, sent);
        }

        return result;
    }

    public async Task<AppendResult> CheckEpoch(long epoch, CancellationToken cancellation)
    {
        var sent = onStorage.Sent();
        var result = await log.CheckEpoch(epoch, cancellation);
        if (result.Status == AppendStatus.Appended)
        {
            onStorage.Confirmed(epoch, sent);
        }

        return result;
    }

    public async IAsyncEnumerable<LogGroup> Read(long fromSequence, [EnumeratorCancellation] CancellationToken cancellation)
    {
        await foreach (var group in log.Read(fromSequence, cancellation))
        {
            rules.There(_epoch, group.FirstSequence, group.Count, group.Records);
            yield return group;
        }
    }

    public async Task<AppendResult> Trim(long epoch, long keepFrom, LogWatermarks watermarks, CancellationToken cancellation)
    {
        var result = await log.Trim(epoch, keepFrom, watermarks, cancellation);
        if (result.Status == AppendStatus.Appended)
        {
            BeginsAt(keepFrom);
        }

        return result;
    }

    private void BeginsAt(long first)
    {
        if (!view.IsLost)
        {
            view.BeginsAt(first);
            onStorage.Trimmed();
        }
    }

    public ValueTask DisposeAsync() => log.DisposeAsync();
}
