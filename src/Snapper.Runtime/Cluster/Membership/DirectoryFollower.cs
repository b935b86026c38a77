using Snapper.Protocol.Directory;
using Snapper.Runtime.Hosting;
using Snapper.TransactionLog;
using Snapper.TransactionLog.Cluster;

namespace Snapper.Runtime.Cluster.Membership;

/// <summary>Reads the directory's changes and applies them to this worker's table and to what it owns.</summary>
internal sealed class DirectoryFollower(ClusterNode node, IClusterStore store)
{
    private readonly List<DirectoryEntry> _whole = [];
    private DirectoryCursor _cursor = DirectoryCursor.Start;

    /// <summary>Up to where it is read.</summary>
    public DirectoryCursor Cursor => _cursor;

    private readonly SemaphoreSlim _one = new(1);

    /// <summary>Reads what is new; one reading at a time.</summary>
    public async Task Read(CancellationToken cancellation)
    {
        await _one.WaitAsync(cancellation).ConfigureAwait(false);
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
            var read = await store.Directory.Read(_cursor, IClusterDirectory.LongestPage, cancellation).ConfigureAwait(false);
            if (!read.IsDone)
            {
                throw new LogLostFailure(AppendStatus.Fenced, $"The directory cannot be followed ({read.Status}): {read.Detail}");
            }

            var page = read.Value!;
            await node.Ask(() => Apply(page)).ConfigureAwait(false);
            _cursor = page.Next;
            if (page.IsLast)
            {
                if (isForGone)
                {
                    await node.Ask(node.Gone.EndReading).ConfigureAwait(false);
                }

                return;
            }
        }
    }

    /// <summary>Takes what earlier lives of this worker owned (R4); everything in its log is folded.</summary>
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

    private bool Apply(DirectoryPage page)
    {
        if (page.IsWhole)
        {
            _whole.AddRange(page.Entries);
            if (page.IsLast)
            {
                node.Directory.Replace(_whole, page.Next.Through);
                _whole.ForEach(Own);
                _whole.Clear();
            }

            return true;
        }

        node.Apply(page.Entries);
        node.Directory.Advance([], page.Next.Through);
        return true;
    }

    private void Own(DirectoryEntry entry)
    {
        if (node.Ownership.Apply(entry))
        {
            node.NoteGained(entry);
            node.Ownership.OpenNow(entry.Key); // R4: an entry is given only when all that its last owner logged is folded
        }
    }
}
