using System.Collections.Concurrent;
using System.Runtime.CompilerServices;
using Snapper.Protocol.Identity;

namespace Snapper.Protocol.Directory;

/// <summary>
/// A worker's copy of the directory: where each actor lives, as far as this worker knows. It may be behind, which does no harm: ownership is checked where numbers
/// are given (M1), and a wrong guess is answered with the entry that moved it.
/// </summary>
/// <remarks>
/// Any thread reads, without a lock and without allocating: it sees each entry as it was before or after a change, never a mixture. One thread at a time changes the
/// table, which the caller sees to; changes come from pages of the directory's changes, read in the order of their versions, and from notices in any order (M7).
/// Entries are objects that never change, and assigning a reference publishes what it refers to.
/// </remarks>
public sealed class DirectoryTable
{
    private readonly Func<ActorKey, Partition> _partitionOf;
    private volatile Content _content = new();

    /// <summary>A table that knows nothing yet.</summary>
    /// <param name="partitionOf">The partition of an actor, for types that name a partition key; null: <see cref="Partition.Of"/>. Pure, the same in all workers, and fast: it is called for each look.</param>
    public DirectoryTable(Func<ActorKey, Partition>? partitionOf = null) => _partitionOf = partitionOf ?? Partition.Of;

    /// <summary>Every change up to this version is in; single later ones may be, too.</summary>
    public long Version => _content.Through;

    /// <summary>Number of actors that have an entry of their own.</summary>
    public int Overrides => _content.OverrideCount;

    /// <summary>The partition that an actor belongs to.</summary>
    public Partition PartitionOf(ActorKey actor) => _partitionOf(actor);

    /// <summary>The directory's key for an actor alone.</summary>
    public DirectoryKey KeyOf(ActorKey actor) => DirectoryKey.Of(actor, _partitionOf(actor));

    /// <summary>The owner of an actor; nobody when it is not known.</summary>
    public Incarnation Resolve(ActorKey actor) => Find(actor)?.Owner ?? default;

    /// <summary>The entry that places an actor: its own, or its partition's; null when it is not known.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public DirectoryEntry? Find(ActorKey actor)
    {
        var content = _content;
        return content.OverrideCount != 0 && content.Actors.TryGetValue(actor, out var own)
            ? own
            : content.Partitions[_partitionOf(actor).Number];
    }

    /// <summary>The entry of a partition; null when it is not known.</summary>
    public DirectoryEntry? Find(Partition partition) => _content.Partitions[partition.Number];

    /// <summary>Applies a notice of one change; the same one any number of times, and any of them in any order (M7).</summary>
    /// <returns>False: it was known, or is older than what is known.</returns>
    /// <exception cref="ProtocolViolationException">The same version of the entry is known with another owner.</exception>
    public bool Apply(DirectoryEntry entry)
    {
        ArgumentNullException.ThrowIfNull(entry);
        return _content.Apply(entry);
    }

    /// <summary>Applies a page of changes that follows what was read before: after it, everything up to <paramref name="through"/> is in.</summary>
    /// <param name="entries">All entries whose last change lies in (<see cref="Version"/>, <paramref name="through"/>].</param>
    /// <param name="through">Version up to which they are complete.</param>
    /// <returns>How many of them were news.</returns>
    /// <exception cref="ProtocolViolationException">The page does not follow, or contradicts what is known.</exception>
    public int Advance(IReadOnlyList<DirectoryEntry> entries, long through)
    {
        ArgumentNullException.ThrowIfNull(entries);
        if (through < _content.Through)
        {
            throw new ProtocolViolationException($"A page of the directory ends at version {through}, and version {_content.Through} was complete before.");
        }

        var news = 0;
        for (var i = 0; i < entries.Count; i++)
        {
            news += _content.Apply(entries[i]) ? 1 : 0;
        }

        _content.Complete(through);
        return news;
    }

    /// <summary>Forgets everything for a whole directory that was read anew, which may lie behind what was known (the store lost some of it).</summary>
    public void Replace(IReadOnlyList<DirectoryEntry> entries, long through)
    {
        ArgumentNullException.ThrowIfNull(entries);
        var content = new Content();
        for (var i = 0; i < entries.Count; i++)
        {
            content.Apply(entries[i]);
        }

        content.Complete(through);
        _content = content;
    }

    /// <summary>Adds the entries that name a worker, in whatever epoch, in the order of their keys: what a take-over of it has to move (R4).</summary>
    public void AddOwnedBy(int worker, List<DirectoryEntry> into)
    {
        ArgumentNullException.ThrowIfNull(into);
        var from = into.Count;
        foreach (var partition in _content.Partitions)
        {
            if (partition?.Owner.Worker == worker)
            {
                into.Add(partition);
            }
        }

        foreach (var (_, own) in _content.Actors)
        {
            if (own.Owner.Worker == worker)
            {
                into.Add(own);
            }
        }

        // The order of a hash table must not be seen.
        into.Sort(from, into.Count - from, Comparer<DirectoryEntry>.Create(static (one, other) => one.Key.CompareTo(other.Key)));
    }

    /// <summary>Adds the entries of actors that have one of their own, in no order.</summary>
    public void AddSingleActors(List<DirectoryEntry> into)
    {
        ArgumentNullException.ThrowIfNull(into);
        foreach (var (_, own) in _content.Actors)
        {
            into.Add(own);
        }
    }

    private sealed class Content
    {
        public readonly DirectoryEntry?[] Partitions = new DirectoryEntry?[Partition.Count];
        public readonly ConcurrentDictionary<ActorKey, DirectoryEntry> Actors = new(concurrencyLevel: 1, capacity: 31);
        public volatile int OverrideCount;
        public long Through;

        public bool Apply(DirectoryEntry entry)
        {
            var known = entry.Key.Actor is { } actor ? Actors.GetValueOrDefault(actor) : Partitions[entry.Key.Partition.Number];

            // All changes up to Through are in.
            if (entry.Version <= (known?.Version ?? Through))
            {
                return known is null || entry.Version != known.Version || entry == known
                    ? false
                    : throw new ProtocolViolationException($"The directory says of one version both '{known}' and '{entry}'.");
            }

            if (entry.Key.Actor is null)
            {
                Partitions[entry.Key.Partition.Number] = entry;
                return true;
            }

            Actors[entry.Key.Actor] = entry;
            if (known is null)
            {
                OverrideCount++;
            }

            return true;
        }

        public void Complete(long through) => Through = through;
    }
}
