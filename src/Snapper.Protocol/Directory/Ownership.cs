using System.Collections.Concurrent;
using Snapper.Protocol.Identity;

namespace Snapper.Protocol.Directory;

/// <summary>What a worker may do with an actor.</summary>
public enum OwnershipState : byte
{
    /// <summary>Another worker's, or nobody's: requests go back, to be resolved again (M1).</summary>
    NotOwned,

    /// <summary>The directory names this incarnation, and it has not opened it yet: batches, calls and visits wait (R4).</summary>
    Opening,

    /// <summary>Owned and open.</summary>
    Open,

    /// <summary>Owned, and about to move: numbers are not given, first visits of ACTs are refused (M3).</summary>
    Frozen,
}

/// <summary>What a worker may do with an actor or a partition, and for which plan it is frozen.</summary>
/// <param name="State">What.</param>
/// <param name="Plan">Id of the plan; null unless frozen.</param>
public readonly record struct Holding(OwnershipState State, string? Plan);

/// <summary>
/// What one incarnation of a worker owns: the table against which the giver of numbers resolves every actor (M1). An actor that has an entry of its own here is as
/// that says, whatever its partition is; an actor of an open partition can be frozen by itself.
/// </summary>
/// <remarks>
/// Any thread looks, without a lock and without allocating. One thread at a time changes the table, which the caller sees to. A new incarnation begins with a new table
/// that owns nothing.
/// </remarks>
public sealed class Ownership
{
    private static readonly Cell NotOwned = new(OwnershipState.NotOwned, null);
    private static readonly Cell Opening = new(OwnershipState.Opening, null);
    private static readonly Cell Open = new(OwnershipState.Open, null);

    private readonly Func<ActorKey, Partition> _partitionOf;
    private readonly Cell[] _partitions = new Cell[Partition.Count];
    private readonly ConcurrentDictionary<ActorKey, Cell> _actors = new(concurrencyLevel: 1, capacity: 31);
    private volatile int _actorCount;

    /// <summary>A table that owns nothing.</summary>
    /// <param name="self">The incarnation whose it is.</param>
    /// <param name="partitionOf">As for the <see cref="DirectoryTable"/>.</param>
    public Ownership(Incarnation self, Func<ActorKey, Partition>? partitionOf = null)
    {
        Self = self;
        _partitionOf = partitionOf ?? Partition.Of;
        Array.Fill(_partitions, NotOwned);
    }

    /// <summary>The incarnation whose table it is.</summary>
    public Incarnation Self { get; }

    /// <summary>What may be done with an actor now.</summary>
    public Holding Look(ActorKey actor)
    {
        var partition = _partitions[_partitionOf(actor).Number];
        if (_actorCount == 0 || !_actors.TryGetValue(actor, out var own))
        {
            return partition.Holding;
        }

        return own.FrozenInPartition ? FrozenAlone(own, partition) : own.Holding;
    }

    /// <summary>What may be done with a partition, but for actors that have entries of their own.</summary>
    public Holding Look(Partition partition) => _partitions[partition.Number].Holding;

    /// <summary>A key that has an entry here is open; an actor without one of its own is not, whatever its partition is.</summary>
    public bool IsOpen(DirectoryKey key) => Of(key)?.State == OwnershipState.Open;

    /// <summary>
    /// Applies the directory's entry of a key. Named there, this incarnation begins to own it, closed; what it owned already stays as it is. Named no more, it owns
    /// it no more. Entries are to be applied in the order of their versions (those that <see cref="DirectoryTable.Apply"/> took).
    /// </summary>
    /// <returns>True: it has to be opened now.</returns>
    public bool Apply(DirectoryEntry entry)
    {
        ArgumentNullException.ThrowIfNull(entry);
        if (entry.Owner != Self)
        {
            Set(entry.Key, NotOwned);
            return false;
        }

        if (Of(entry.Key) is { State: not OwnershipState.NotOwned, FrozenInPartition: false })
        {
            return false;
        }

        Set(entry.Key, Opening);
        return true;
    }

    /// <summary>Opens what was named in the directory, once its state can be read: after the take-over's checkpoints (R4), when the plan's record is done (M6).</summary>
    /// <exception cref="ProtocolViolationException">It is not this incarnation's.</exception>
    public void OpenNow(DirectoryKey key)
    {
        switch (Of(key)?.State)
        {
            case OwnershipState.Opening:
                Set(key, Open);
                return;
            case OwnershipState.Open or OwnershipState.Frozen:
                return;
            default:
                throw new ProtocolViolationException($"{Self} opens {key}, which it does not own.");
        }
    }

    /// <summary>Freezes what is open (M3). Repeating it for the same plan changes nothing.</summary>
    /// <returns>False: it is not owned, not open yet, or frozen for another plan.</returns>
    public bool Freeze(DirectoryKey key, string plan)
    {
        ArgumentException.ThrowIfNullOrEmpty(plan);
        var cell = Of(key);
        var inPartition = cell is null or { FrozenInPartition: true };
        var around = inPartition ? _partitions[key.Partition.Number] : cell!;
        if (cell?.Plan is { } other)
        {
            return other == plan;
        }

        if (around.State != OwnershipState.Open)
        {
            return false;
        }

        Set(key, new Cell(OwnershipState.Frozen, plan) { FrozenInPartition = inPartition });
        return true;
    }

    /// <summary>Lets go on what was frozen for this plan; an answer to another plan changes nothing (M3).</summary>
    /// <returns>False: it is not frozen for this plan.</returns>
    public bool Unfreeze(DirectoryKey key, string plan)
    {
        ArgumentException.ThrowIfNullOrEmpty(plan);
        var cell = Of(key);
        if (cell?.Plan != plan)
        {
            return false;
        }

        if (cell.FrozenInPartition)
        {
            Forget(key);
        }
        else
        {
            Set(key, Open);
        }

        return true;
    }

    /// <summary>A frozen actor without an entry of its own: gone with its partition, and waiting while that opens.</summary>
    private static Holding FrozenAlone(Cell own, Cell partition) =>
        partition.State is OwnershipState.NotOwned or OwnershipState.Opening ? partition.Holding : own.Holding;

    /// <summary>The key's own cell; null: an actor that is as its partition.</summary>
    private Cell? Of(DirectoryKey key) => key.Actor is { } actor ? _actors.GetValueOrDefault(actor) : _partitions[key.Partition.Number];

    private void Set(DirectoryKey key, Cell cell)
    {
        if (key.Actor is not { } actor)
        {
            _partitions[key.Partition.Number] = cell;
            return;
        }

        if (!_actors.ContainsKey(actor))
        {
            _actorCount++;
        }

        _actors[actor] = cell;
    }

    private void Forget(DirectoryKey key)
    {
        if (key.Actor is { } actor && _actors.TryRemove(actor, out _))
        {
            _actorCount--;
        }
    }

    private sealed class Cell(OwnershipState state, string? plan)
    {
        public OwnershipState State => state;

        public string? Plan => plan;

        public Holding Holding => new(state, plan);

        /// <summary>An actor that has no entry of its own and is frozen alone.</summary>
        public bool FrozenInPartition { get; init; }
    }
}
