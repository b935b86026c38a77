using Snapper.Protocol.Directory;
using Snapper.Runtime.Execution;
using Snapper.Storage;
using Snapper.Storage.Log;
using Snapper.Storage.Membership;

namespace Snapper.Cluster.Node;

/// <summary>Reads the directory's changes and applies them to this worker's table and to what it owns.</summary>
/// <param name="worker">This worker.</param>
/// <param name="node">Its place among the others.</param>
/// <param name="store">What they share.</param>
/// <param name="page">Most entries that are read at once.</param>
internal sealed class DirectoryFollower(Worker worker, INode node, IClusterStore store, int page)
{
    private Dictionary<DirectoryKey, DirectoryEntry>? _whole; // while a whole directory is read
    private DirectoryCursor _cursor = DirectoryCursor.Start;

    /// <summary>Up to where it is read.</summary>
    public DirectoryCursor Cursor => _cursor;

    private readonly SemaphoreSlim _one = new(1);

    /// <summary>Reads what is new; one reading at a time.</summary>
    public async Task Read(CancellationToken cancellation)
    {
        await Background.Enter(_one, worker.Time, cancellation).ConfigureAwait(false);
        try
        {
            await ReadAll(cancellation).ConfigureAwait(false);
        }
        finally
        {
            _one.Release();
        }
    }

    private async Task ReadAll(CancellationToken cancellation)
    {
        var isForGone = node.Gone.Any && await node.Ask(node.Gone.BeginReading).ConfigureAwait(false);
        while (true)
        {
            var read = await store.Directory.Read(_cursor, page, cancellation).ConfigureAwait(false);
            if (!read.IsDone)
            {
                throw new LogLostFailure(AppendStatus.Gap, $"The directory cannot be followed ({read.Status}): {read.Detail}");
            }

            var next = read.Value!;
            await node.Ask(() => Apply(next)).ConfigureAwait(false);
            _cursor = next.Next;
            if (next.IsLast)
            {
                if (isForGone)
                {
                    await node.Ask(node.Gone.EndReading).ConfigureAwait(false);
                }

                return;
            }
        }
    }

    /// <summary>Takes what earlier lives of this worker owned (R4); everything in its log is checkpointed.</summary>
    public async Task Reclaim(CancellationToken cancellation)
    {
        var own = await node.Ask(() =>
        {
            var entries = new List<DirectoryEntry>();
            node.Directory.AddOwnedBy(node.Self.Worker, entries);
            entries.RemoveAll(entry => entry.Owner == node.Self);
            return entries;
        }).ConfigureAwait(false);
        for (var at = 0; at < own.Count; at += ClusterOptions.KeysPerCall)
        {
            var keys = own.Slice(at, Math.Min(ClusterOptions.KeysPerCall, own.Count - at)).ConvertAll(static entry => entry.Key);
            var reclaimed = await store.Directory.Reclaim(keys, cancellation).ConfigureAwait(false);
            if (!reclaimed.IsDone)
            {
                throw new LogLostFailure(AppendStatus.Fenced, $"{node.Self} cannot take its own entries again ({reclaimed.Status}): {reclaimed.Detail}");
            }
        }

        if (own.Count > 0)
        {
            await Read(cancellation).ConfigureAwait(false);
        }
    }

    /// <summary>
    /// A whole directory is applied when its last page is there, each entry as it was read last: one that changed between two pages is in both, and what it was before must open
    /// nothing. Nor does it close what has come here since, and a notice was quicker (M7).
    /// </summary>
    private bool Apply(DirectoryPage read)
    {
        if (read.IsWhole)
        {
            _whole = [];
        }

        if (_whole is null)
        {
            node.Apply(read.Entries);
            node.Directory.Advance([], read.Next.Through);
            return true;
        }

        foreach (var entry in read.Entries)
        {
            _whole[entry.Key] = entry;
        }

        if (read.IsLast)
        {
            var entries = new List<DirectoryEntry>(_whole.Count);
            foreach (var entry in _whole.Values)
            {
                var heard = entry.Key.Actor is { } actor
                    ? node.Directory.Find(actor)
                    : node.Directory.Find(entry.Key.Partition);
                entries.Add(heard?.Key.Equals(entry.Key) == true && heard.Version > entry.Version ? heard : entry);
            }

            node.Directory.Replace(entries, read.Next.Through);
            entries.ForEach(entry => node.Own(entry, mayBeOld: true));
            _whole = null;
        }

        return true;
    }
}
